"""Connections that break, are the caller's, or are used where they must not be."""

from __future__ import annotations

import os
from typing import Any

import psycopg
import pytest

from pgmnemo.client.retrying import Attempts
from pgmnemo.errors import LostError, UsageError
from tests.pgmnemo.client.driving import Place, Shell

IDLE = psycopg.pq.TransactionStatus.IDLE


def connected(shell: Shell, place: Place, **given: Any) -> Any:
    """A connection of the caller's, closed with the test."""
    kind = psycopg.Connection if shell.kind == "sync" else psycopg.AsyncConnection
    connection = shell.call(kind.connect, place.dsn(), **given)
    shell.stack.callback(lambda: shell.call(connection.close))
    return connection


@pytest.mark.parametrize("autocommit", [False, True])
def test_outside_a_transaction_of_the_callers_a_write_is_committed(
    autocommit: bool, shell: Shell, place: Place, scope: Any
) -> None:
    connection = connected(shell, place, autocommit=autocommit)
    mine = shell.open(connection).tenant(scope.tenant_id).project(scope.project_id)
    assert connection.info.transaction_status == IDLE
    mine.add("kept", key="k")
    assert connection.info.transaction_status == IDLE
    shell.call(connection.close)
    assert scope.get("k").text == "kept"


def test_a_memory_that_is_closed_says_so_and_keeps_no_connection(shell: Shell, place: Place) -> None:
    memory = shell.open(place.dsn())
    scope = memory.tenant(place.tenant()).project("kitchen")
    scope.add("before", key="k")
    memory.close()
    with pytest.raises(UsageError, match="this memory was closed; open it again"):
        scope.get("k")


def test_what_a_fork_closes_is_open_for_its_parent(shell: Shell, place: Place) -> None:
    memory = shell.open(place.dsn(), connections=1)
    scope = memory.tenant(place.tenant()).project("kitchen")
    scope.add("before", key="k")
    if not (child := os.fork()):
        try:
            shell.call(memory._channel.source.close)
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
    memory._channel.patience = 0.0  # so that nothing is sent again
    assert scope.add("after", role="user").outcome == "inserted"


@pytest.mark.parametrize("state", ["57P01", "57P05"])
@pytest.mark.parametrize("repeatable", [False, True])
def test_an_end_that_the_server_announces_is_waited_for(state: str, repeatable: bool) -> None:
    error = psycopg.errors.lookup(state)("terminating connection")
    assert Attempts(1.0, chance=lambda: 0.0).pause(error, repeatable) == 0.0
    with pytest.raises(LostError):
        Attempts(-1.0).pause(error, repeatable)
