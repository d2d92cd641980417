"""A database in another encoding answers every question, and says which letter of a text it lacks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from pgmnemo.client.encodings import transliterate
from pgmnemo.errors import DatabaseError, RefusedError, UsageError
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
    assert transliterate(encoding, text) == form


@pytest.fixture
def make_place(place: Place) -> Iterator[Callable[[str], Place]]:
    """Make a database in an encoding that is dropped after the test."""
    name = "encoded"

    def make(encoding: str) -> Place:
        with place.connect() as root:
            root.execute(
                f"CREATE DATABASE {name} OWNER keeper TEMPLATE template0 ENCODING '{encoding}' LOCALE 'C'"
            )
        with place.server.connect(name) as root:
            root.execute("CREATE EXTENSION vector SCHEMA public")
        with place.server.connect(name, "keeper") as keeper:
            keeper.execute("CREATE EXTENSION pgmnemo")
        return Place(place.server, name)

    yield make
    with place.connect() as root:
        root.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


@pytest.fixture
def latin1(make_place: Callable[[str], Place], shell: Shell) -> Any:
    """A project in a database in LATIN1, as alice."""
    made = make_place("LATIN1")
    return shell.open(made.dsn()).tenant(made.tenant()).project("p")


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


def test_an_embedder_is_noted_and_known_again_in_an_encoding_that_lacks_a_middle_dot(
    make_place: Callable[[str], Place], shell: Shell
) -> None:
    made = make_place("EUC_JP")
    tenant = made.tenant()
    for key in ("first", "second"):
        scope = shell.open(made.dsn(), embedder="hash").tenant(tenant).project("p")
        scope.add(f"\u6771\u4eac {key}", key=key)
        assert scope.recall(f"\u6771\u4eac {key}", k=1)[0].key == key
    with pytest.raises(UsageError, match="hash"):
        shell.open(made.dsn(), embedder=another).tenant(tenant).project("p").add("third")


def another(texts: Sequence[str]) -> list[list[float]]:
    return [[1.0, 0.0] for _ in texts]


def test_a_pgvector_that_left_its_schema_is_a_sentence_that_names_doctor(
    make_place: Callable[[str], Place], shell: Shell
) -> None:
    made = make_place("UTF8")
    scope = shell.open(made.dsn()).tenant(made.tenant()).project("p")
    with made.connect() as root:
        root.execute("ALTER SCHEMA public RENAME TO vectors")
    with pytest.raises(DatabaseError, match=r"schema \"public\" does not exist; mnemo doctor"):
        scope.add("the river")
