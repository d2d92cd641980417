"""The upstream extension's adapter, against a table and functions that do as its own in a database of ours.

What these do is written here, by what 0.20.0 does; the public extension itself is not run.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from pgmnemo.errors import DatabaseError, UsageError
from pgmnemo.paths import SQL_FOLDER
from pgmnemo.postgres.releases import release_fingerprint
from runner.errors import SystemFault
from runner.systems import SystemContext, missing_parts, open_system, spec_of
from runner.systems.controls import ExactCosine
from runner.systems.upstream_pgmnemo import VARIABLE
from tests.helping import CURRENT, ranked

NAME = "upstream-pgmnemo"
SIGNATURES = """
CREATE EXTENSION vector;
CREATE SCHEMA pgmnemo;
CREATE TABLE pgmnemo.agent_lesson (
    id bigint GENERATED ALWAYS AS IDENTITY (START 7000) PRIMARY KEY, role text NOT NULL,
    project_id integer, topic text NOT NULL, lesson_text text NOT NULL,
    importance smallint NOT NULL DEFAULT 3, embedding vector(1024), verified_at timestamptz, commit_sha text,
    t_valid_to timestamptz NOT NULL DEFAULT 'infinity', CHECK (commit_sha IS NOT NULL));
CREATE FUNCTION pgmnemo.replace_older() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE pgmnemo.agent_lesson l SET t_valid_to = now()
    WHERE (l.role, l.topic, l.commit_sha) = (NEW.role, NEW.topic, NEW.commit_sha) AND l.id <> NEW.id;
    RETURN NEW;
END $$;
CREATE TRIGGER replace_older AFTER INSERT ON pgmnemo.agent_lesson
    FOR EACH ROW EXECUTE FUNCTION pgmnemo.replace_older();
CREATE FUNCTION pgmnemo.recall_lessons(
    query_embedding vector(1024), k int DEFAULT 10, role_filter text DEFAULT NULL,
    project_id_filter int DEFAULT NULL, query_text text DEFAULT NULL)
RETURNS TABLE (lesson_id bigint, score double precision, role text, project_id int, topic text,
    lesson_text text, importance smallint, verified_at timestamptz)
LANGUAGE sql STABLE AS $$
    SELECT l.id, 1 - (l.embedding <=> query_embedding), l.role, l.project_id, l.topic, l.lesson_text,
           l.importance, l.verified_at
    FROM pgmnemo.agent_lesson l
    WHERE l.t_valid_to = 'infinity' AND (role_filter IS NULL OR l.role = role_filter)
      AND (project_id_filter IS NULL OR l.project_id = project_id_filter)
      AND (l.verified_at IS NOT NULL OR current_setting('pgmnemo.include_unverified', true) = 'on')
    ORDER BY 2 DESC LIMIT k
$$;
INSERT INTO pgmnemo.agent_lesson (role, project_id, topic, lesson_text, embedding, verified_at, commit_sha)
SELECT 'somebody', 1, 'theirs', 'somebody else''s', array_fill(0.1, ARRAY[1024])::vector, now(), 'abc'
FROM generate_series(1, 5);
"""
OURS = "CREATE EXTENSION vector; CREATE EXTENSION pgmnemo"
ROWS = "SELECT role, count(*) FROM pgmnemo.agent_lesson GROUP BY role"


@pytest.fixture(scope="module", autouse=True)
def databases(server: str) -> None:
    with psycopg.connect(server, autocommit=True) as admin:
        for name in ("theirs", "ours", "plain"):
            admin.execute(f"CREATE DATABASE {name}".encode())
    for name, script in (("theirs", SIGNATURES), ("ours", OURS)):
        with psycopg.connect(server, dbname=name, autocommit=True) as owner:
            owner.execute(script.encode())


@pytest.fixture
def given(server: str, place: SystemContext) -> Any:
    """The place with the address of a database."""
    return lambda database: replace(
        place, environ={**os.environ, VARIABLE: make_conninfo(server, dbname=database)}
    )


@pytest.fixture
def rows(server: str) -> Any:
    """How many rows each role has."""

    def counted() -> dict[str, int]:
        with psycopg.connect(server, dbname="theirs") as connection:
            return dict(connection.execute(ROWS).fetchall())

    return counted


def test_it_ranks_its_own_rows_by_vectors_padded_to_the_column_and_removes_them_alone(
    given: Any, rows: Any, tiny: Any
) -> None:
    cosine = ExactCosine()
    cosine.load(tiny)
    with open_system(NAME, given("theirs")) as system:
        system.load(tiny)
        assert sorted(rows().values()) == [5, len(tiny)]
        for project in (*tiny.projects, None):
            queries = [query for query, _ in tiny.queries(project)]
            wanted = [[match.number for match in cosine.ask(query, 4)] for query in queries]
            assert ranked(NAME, system, tiny, queries, 4) == wanted
        assert system.sizes()["own rows, without indexes"] > 1000
        facts = system.facts()
        assert facts["embedding"] == "vector(1024)"
        assert facts["pgmnemo.include_unverified"] == "on"
        assert all(isinstance(fact, str) for fact in facts.values())
    assert rows() == {"somebody": 5}


def test_rows_go_where_a_run_breaks_off(given: Any, rows: Any, tiny: Any) -> None:
    def broken() -> None:
        with open_system(NAME, given("theirs")) as system:
            system.load(tiny)
            raise LookupError

    with pytest.raises(LookupError):
        broken()
    assert rows() == {"somebody": 5}


def test_a_vector_that_is_wider_than_the_column_is_one_sentence(given: Any, tiny: Any) -> None:
    with open_system(NAME, given("theirs")) as system:
        system._width = 100  # type: ignore[attr-defined]
        with pytest.raises(SystemFault, match="keeps vectors of 100 dimensions, and these have 384"):
            system.load(tiny)


@pytest.mark.parametrize(
    ("database", "words"),
    [
        pytest.param(
            "ours",
            rf"holds pgmnemo {re.escape(CURRENT)} of this repository, not the upstream extension of that "
            "name; name",
            marks=pytest.mark.skipif(
                release_fingerprint(SQL_FOLDER, CURRENT) is None,
                reason="of a version in development no fingerprint is known",
            ),
        ),
        ("plain", r"has no table pgmnemo\.agent_lesson and no function pgmnemo\.recall_lessons; name a"),
    ],
)
def test_another_database_is_one_sentence(given: Any, database: str, words: str) -> None:
    with pytest.raises(SystemFault, match=words), open_system(NAME, given(database)):
        raise AssertionError("it cannot be opened")


def test_a_patched_copy_of_ours_is_not_taken_for_it_either(server: str, given: Any) -> None:
    with psycopg.connect(server, dbname="ours") as owner:
        owner.execute("CREATE FUNCTION pgmnemo.odd() RETURNS int LANGUAGE sql AS 'SELECT 1'")
        owner.commit()
        try:
            with pytest.raises(SystemFault, match="has no table pgmnemo"), open_system(NAME, given("ours")):
                raise AssertionError("it cannot be opened")
        finally:
            owner.execute("DROP FUNCTION pgmnemo.odd()")


def test_without_an_address_its_row_says_so(place: SystemContext) -> None:
    words = f"given no database: {VARIABLE} names none; set it to one that holds the public extension pgmnemo"
    assert missing_parts(spec_of(NAME), {}) == words
    with (
        pytest.raises(SystemFault, match=f"^{NAME} is {words}$"),
        open_system(NAME, replace(place, environ={})),
    ):
        raise AssertionError("it cannot be opened")


@pytest.mark.parametrize(
    ("dsn", "error", "words"),
    [
        ("host=/nowhere user=x", DatabaseError, f"cannot be reached .*; start it, or correct {VARIABLE}"),
        ("no dsn at all", UsageError, f"the DSN in {VARIABLE} cannot be read"),
    ],
)
def test_an_address_that_leads_nowhere_is_one_sentence(
    place: SystemContext, dsn: str, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words), open_system(NAME, replace(place, environ={VARIABLE: dsn})):
        raise AssertionError("it cannot be opened")
