"""A database in another encoding answers every question, and says which letter of a text it lacks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from pgmnemo.client.encodings import written_in
from pgmnemo.client.naming import tenant_id
from pgmnemo.errors import RefusedError
from tests.pgmnemo.client.driving import Place, Shell


@pytest.mark.parametrize(
    ("encoding", "text", "form"),
    [
        ("LATIN1", "O\u2019Brien \u2014 caf\u00e9 \u201cat\u201d 1\u20ac", 'O\'Brien - caf\u00e9 "at" 1 '),
        ("LATIN1", "\u0130zmir, \ufb01nal", "Izmir, final"),
        ("WIN1252", "O\u2019Brien 1\u20ac", "O\u2019Brien 1\u20ac"),
        ("EUC_JP", "\u6771\u4eac \u0e01", "\u6771\u4eac  "),
        ("KOI8R", "\u0434\u0430 \u6771", "\u0434\u0430  "),
        ("SQL_ASCII", "\u6771\u4eac", "\u6771\u4eac"),
        ("LATIN1", "half \ud83d", "half \ud83d"),
        ("MULE_INTERNAL", "\u6771", "\u6771"),
    ],
)
def test_a_question_is_written_in_the_letters_of_an_encoding(encoding: str, text: str, form: str) -> None:
    assert written_in(encoding, text) == form


@pytest.fixture
def latin1(place: Place, shell: Shell) -> Iterator[Any]:
    """A memory in a database in LATIN1, as alice."""
    name = "latin1"
    with place.connect() as root:
        root.execute(f"CREATE DATABASE {name} OWNER keeper TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'")
    try:
        with place.server.connect(name) as root:
            root.execute("CREATE EXTENSION vector SCHEMA public")
        with place.server.connect(name, "keeper") as keeper:
            keeper.execute("CREATE EXTENSION pgmnemo")
            keeper.execute("SELECT pgmnemo.grant_tenant(%s, 'alice')", (tenant_id("ada"),))
        yield shell.open(Place(place.server, name).dsn()).tenant("ada").project("p")
    finally:
        with place.connect() as root:
            root.execute(f"DROP DATABASE {name} WITH (FORCE)")


def test_a_question_with_letters_that_the_database_lacks_matches_what_it_can(latin1: Any) -> None:
    latin1.add("O'Brien signed the contract", key="signed")
    latin1.add("Die Stra\u00dfe ist gesperrt und der Zug nicht", key="closed")
    for question, key in (
        ("O\u2019Brien\u2026", "signed"),
        ("\u201cStra\u00dfe\u201d \u6771\u4eac", "closed"),
    ):
        assert [hit.key for hit in latin1.recall(question, k=1)] == [key]
        assert latin1.context(question).text
    assert latin1.explain("signed", "O\u2019Brien")
    assert latin1.recall("\u6771\u4eac", k=1)[0].fit == 0


def test_a_text_with_a_letter_that_the_database_lacks_is_one_sentence(latin1: Any) -> None:
    with pytest.raises(RefusedError, match=r"a letter that the encoding of .* lacks .*; write it otherwise"):
        latin1.add("O\u2019Brien signed the contract")
