"""Connections that break, are the caller's, or are used where they must not be."""

from __future__ import annotations

import io
import os
from typing import Any

import psycopg
import pytest
from psycopg import AsyncClientCursor, AsyncRawCursor, ClientCursor, RawCursor
from psycopg.adapt import Dumper, Loader
from psycopg.rows import dict_row

from pgmnemo import Item
from pgmnemo.client.retries import RetryTimer
from pgmnemo.errors import DatabaseError
from tests.pgmnemo.client.driving import Place, Shell


def connected(shell: Shell, place: Place, **given: Any) -> Any:
    """A connection of the caller's, closed with the test."""
    kind = psycopg.Connection if shell.kind == "sync" else psycopg.AsyncConnection
    connection = shell.call(kind.connect, place.dsn(), **given)
    shell.stack.callback(lambda: shell.call(connection.close))
    return connection


def test_what_a_fork_closes_is_open_for_its_parent(shell: Shell, place: Place) -> None:
    memory = shell.open(place.dsn(), connections=1)
    scope = memory.tenant(place.tenant()).project("kitchen")
    scope.add("before", key="k")
    if not (child := os.fork()):
        try:
            shell.call(memory._executor.source.close)
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert scope.add("after", role="user").outcome == "inserted"


def test_an_idle_connection_that_the_server_ended_is_not_used(shell: Shell, place: Place) -> None:
    memory = shell.open(place.dsn(application_name="ended"), connections=1)
    scope = memory.tenant(place.tenant()).project("kitchen")
    scope.add("before", key="k")
    with place.connect() as root:
        ended = (
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = 'ended'"
        )
        assert root.execute(ended).fetchall() == [(True,)]
    memory._executor.retry_timeout = 0.0  # so that nothing is sent again
    assert scope.add("after", role="user").outcome == "inserted"


@pytest.mark.parametrize("repeatable", [False, True])
def test_a_publication_that_is_dropped_meanwhile_is_no_end_of_a_call(repeatable: bool) -> None:
    """A tenant's move ends beside it; any other internal error is told."""
    error = psycopg.errors.lookup("XX000")("cache lookup failed for publication 17724")
    assert RetryTimer(1.0, chance=lambda: 0.0).pause(error, repeatable) == 0.0
    with pytest.raises(DatabaseError):
        RetryTimer(1.0).pause(
            psycopg.errors.lookup("XX000")("cache lookup failed for relation 1"), repeatable
        )


class Odd(Loader):
    """Reads everything as bytes."""

    format = psycopg.pq.Format.BINARY

    def load(self, data: Any) -> bytes:
        return bytes(data)


class Wrong(Dumper):
    """Writes every text as another."""

    def dump(self, obj: str) -> bytes:
        return b"another"


def with_types(connection: Any) -> None:
    for name in ("text", "uuid", "jsonb", "timestamptz", "float8", "int8", "bool"):
        connection.adapters.register_loader(name, Odd)
    connection.adapters.register_dumper(str, Wrong)


ODD = {
    "rows": lambda connection: setattr(connection, "row_factory", dict_row),
    "client": lambda connection: setattr(connection, "cursor_factory", ClientCursor),
    "raw": lambda connection: setattr(connection, "cursor_factory", RawCursor),
    "types": with_types,
}


@pytest.mark.parametrize("autocommit", [False, True])
@pytest.mark.parametrize("odd", ODD)
def test_a_callers_cursors_and_types_are_not_ours(
    odd: str, autocommit: bool, shell: Shell, place: Place, scope: Any
) -> None:
    connection = connected(shell, place, autocommit=autocommit)
    if shell.kind == "async" and odd in ("client", "raw"):
        connection.cursor_factory = {"client": AsyncClientCursor, "raw": AsyncRawCursor}[odd]
    else:
        ODD[odd](connection)
    mine = shell.open(connection).tenant(scope.tenant_id).project(scope.project_id)
    mine.add("one", key="1", metadata={"a": 1})
    mine.add_many([Item("two", "2")])
    mine.export(io.BytesIO())
    assert list(mine.list(include_inactive=True)) == list(scope.list(include_inactive=True))
    assert mine.get("1").text == "one"
