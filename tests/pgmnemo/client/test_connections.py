"""Connections that break, are the caller's, or are used where they must not be."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

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
