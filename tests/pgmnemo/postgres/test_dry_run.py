"""`check_only` looks at a given server without leaving a trace on it."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pgmnemo.errors import DatabaseError
from pgmnemo.postgres import Database, open_database


def check(dsn: str, stub: Path) -> AbstractContextManager[Database]:
    return open_database("0.2.1", dsn=dsn, environ={}, sql=stub, check_only=True)


def test_nothing_is_made_and_the_facts_are_those_of_the_run(server: Any, stub: Path) -> None:
    before = server.names()
    with check(server.dsn("boss"), stub) as database:
        promised = database.facts
        assert not database.exists
        with pytest.raises(DatabaseError, match="does not exist yet, and a dry run makes none"):
            database.connect()
    assert server.names() == before
    with open_database("0.2.1", dsn=server.dsn("boss"), environ={}, sql=stub) as database:
        assert database.facts == promised


def test_a_database_that_is_there_is_looked_at_but_cannot_be_written(server: Any, stub: Path) -> None:
    with open_database("0.2.1", dsn=server.dsn("boss"), environ={}, sql=stub) as database:
        facts = database.facts
    before = server.names()
    with check(server.dsn("boss"), stub) as database:
        assert database.exists
        assert database.facts == facts
        with database.connect() as connection:
            assert connection.execute("SELECT pgmnemo.version()").fetchone() == ("0.2.1",)
        with database.admin() as connection, pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            connection.execute("INSERT INTO pgmnemo.lesson VALUES (1)")
    assert server.names() == before


def test_the_extension_in_the_login_database_serves_as_the_sample(server: Any, stub: Path) -> None:
    server.run("CREATE DATABASE app")
    server.run("CREATE EXTENSION pgmnemo CASCADE", database="app")
    with check(server.dsn("boss", "app"), stub) as database:
        assert len(database.facts.fingerprint) == 64


def test_a_right_that_cannot_be_told_is_said(server: Any, make_role: Any, stub: Path) -> None:
    dsn = make_role("creator", "CREATEDB CREATEROLE")
    with pytest.raises(DatabaseError, match="cannot be told without making it"), check(dsn, stub):
        pass


def test_the_embedded_server_is_started_for_real(nowhere: dict[str, str], stub: Path) -> None:
    with open_database("0.2.1", environ=nowhere, sql=stub, check_only=True) as database:
        assert database.exists
        database.connect().close()
