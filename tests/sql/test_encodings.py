"""Databases in other encodings and locales take every text that they can hold, and find it by its words."""
# ruff: noqa: RUF001

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg import errors

Connection = psycopg.Connection[Any]
TENANT, PROJECT = UUID(int=5 << 64), UUID(int=6)
GRANT = "SELECT pgmnemo.grant_tenant(%s, 'postgres')"
ASK = "SELECT external_id, bm25 > 0 FROM pgmnemo.recall(%s, query_text => %s, mode => 'keyword', k => 1)"


@pytest.fixture
def make_other(owner: Connection, database: Any) -> Iterator[Callable[..., Connection]]:
    """Make a database in an encoding and a locale; a superuser's connection. It is dropped after the test."""
    made: list[Connection] = []

    def make(encoding: str, ctype: str = "C") -> Connection:
        owner.execute(
            f"CREATE DATABASE other TEMPLATE template0 ENCODING '{encoding}' LC_COLLATE 'C' "
            f"LC_CTYPE '{ctype}'"
        )
        place = {**database.conninfo, "dbname": "other", "client_encoding": "UTF8"}
        made.append(psycopg.connect(**place, autocommit=True))
        for statement in ("CREATE EXTENSION vector SCHEMA public", "CREATE EXTENSION pgmnemo",
                          "SET pgmnemo.gate_strict = off", "SET pgmnemo.bypass_notice = off"):  # fmt: skip
            made[0].execute(statement)
        made[0].execute(GRANT, (TENANT,))
        return made[0]

    yield make
    for connection in made:
        connection.close()
    owner.execute("DROP DATABASE IF EXISTS other WITH (FORCE)")


def store(connection: Connection, *texts: str) -> None:
    for text in texts:
        connection.execute("SELECT pgmnemo.store(%s, %s, %s, %s)", (TENANT, PROJECT, text, text))


OWNERS = """
SELECT DISTINCT proowner::regrole::text FROM pg_proc WHERE pronamespace = 'pgmnemo'::regnamespace
"""
GERMAN = "Die Häuser in der Straße wurden im Frühling gestrichen und das Dach nicht"


@pytest.mark.parametrize(
    ("encoding", "text", "question"),
    [
        ("LATIN1", GERMAN, "gestrichenes Haus"),
        ("LATIN1", "CAFÉ MÜLLER", "café"),
        ("WIN1252", "O’Brien et les élèves préparent le dîner à la cuisine", "l'élève prépare"),
        ("SQL_ASCII", "Ada added the entries", "adding an entry"),
        ("EUC_JP", "東京タワーの近く is closed", "closed"),
        ("UTF8", "CAFÉ MÜLLER", "café"),
        ("UTF8", "МОСКВА", "москва"),
        ("UTF8", "İSTANBUL ΑΘΉΝΑ ŁÓDŹ", "łódź"),
    ],
)
def test_a_text_is_stored_and_found_in_every_encoding_with_locale_c(
    make_other: Callable[..., Connection], encoding: str, text: str, question: str
) -> None:
    other = make_other(encoding)
    store(other, "Nothing of note happened", text, "Nothing else")
    assert other.execute(ASK, (TENANT, question)).fetchall() == [(text, True)]
    assert other.execute("SELECT * FROM pgmnemo.check(%s)", (TENANT,)).fetchall() == []


@pytest.mark.parametrize("question", ["Москва", "ПАРКИ", "Échelles", "KÄSE"])
def test_capitals_are_found_under_locale_c_among_texts_of_several_languages(
    make_other: Callable[..., Connection], question: str
) -> None:
    other = make_other("UTF8")
    texts = {
        "Москва": "Москва является столицей и крупнейшим городом России.",
        "ПАРКИ": "В центре города есть большие парки и много музеев.",
        "Échelles": "Les échelles sont dans la cour avec les outils du jardin.",
        "KÄSE": "Der Käse liegt in der Küche und ist von gestern.",
        "": "The weather is fine and we had a walk in the park.",
    }
    store(other, *texts.values())
    assert other.execute(ASK, (TENANT, question)).fetchall()[0] == (texts[question], True)


@pytest.mark.parametrize("prefix", ["東", "ÿ", "a"])
def test_topics_of_any_letter_are_found_by_their_beginning(
    make_other: Callable[..., Connection], prefix: str
) -> None:
    other = make_other("EUC_JP" if prefix == "東" else "LATIN1")
    call = "SELECT pgmnemo.store(%s, %s, 'a', 'river', topic => %s)"
    other.execute(call, (TENANT, PROJECT, f"{prefix}/x"))
    query = "SELECT external_id FROM pgmnemo.list(%s, filter => jsonb_build_object('topic_prefix', %s::text))"
    assert other.execute(query, (TENANT, prefix)).fetchall() == [("a",)]


def test_pgvector_stays_in_its_schema(make_other: Callable[..., Connection]) -> None:
    other = make_other("UTF8", "C.UTF-8")
    other.execute("CREATE SCHEMA elsewhere")
    with pytest.raises(errors.FeatureNotSupported, match="other extensions prevent it"):
        other.execute("ALTER EXTENSION vector SET SCHEMA elsewhere")
    store(other, "the river")
    assert other.execute(ASK, (TENANT, "river")).fetchall() == [("the river", True)]


def test_an_update_after_pg_upgrade_leaves_all_to_the_owner_of_the_schema(
    make_other: Callable[..., Connection],
) -> None:
    """pg_upgrade gives the extension itself to a superuser."""
    other = make_other("UTF8", "C.UTF-8")
    for statement in (
        "DROP EXTENSION pgmnemo", "DROP SCHEMA pgmnemo", "CREATE ROLE upgraded", "SET ROLE postgres",
        "GRANT CREATE ON DATABASE other TO upgraded", "SET ROLE upgraded",
        "CREATE EXTENSION pgmnemo VERSION '0.6.1'", "RESET ROLE", "SET allow_system_table_mods = on",
        "UPDATE pg_extension SET extowner = 'postgres'::regrole WHERE extname = 'pgmnemo'",
    ):  # fmt: skip
        other.execute(statement)
    try:
        other.execute("ALTER EXTENSION pgmnemo UPDATE")
        assert other.execute(OWNERS).fetchall() == [("upgraded",)]
        other.execute(GRANT, (TENANT,))
        other.execute(
            "SELECT pgmnemo.store(%s, %s, 'a', 'river', embedding => '{1,0}'::real[])", (TENANT, PROJECT)
        )
        other.execute("SET pgmnemo.hnsw_min_vectors = 0")
        other.execute("SELECT pgmnemo.index(%s)", (TENANT,))
        graphs = "SELECT pgmnemo._hnsw_table_exists(name) FROM pgmnemo.hnsw_index"
        assert other.execute(graphs).fetchall() == [(True,)]
    finally:
        for statement in ("RESET ROLE", "DROP EXTENSION pgmnemo CASCADE", "DROP SCHEMA pgmnemo CASCADE",
                          "DROP OWNED BY upgraded", "DROP ROLE upgraded"):  # fmt: skip
            other.execute(statement)
