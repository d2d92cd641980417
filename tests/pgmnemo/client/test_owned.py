"""Connections and pools of the caller's: used, never kept, closed or left otherwise than they were."""

from __future__ import annotations

import asyncio
import io
import threading
from collections.abc import Iterator
from typing import Any

import psycopg
import psycopg_pool
import pytest
from psycopg.pq import TransactionStatus
from psycopg.rows import dict_row

from pgmnemo import AsyncMemory, Memory
from pgmnemo.errors import DatabaseError, LostError, RefusedError, UsageError
from tests.pgmnemo.client.driving import Place, Shell


class Caller:
    """A connection of the kind that goes with the shell, used as the synchronous one."""

    def __init__(self, shell: Shell, place: Place, **given: Any) -> None:
        self.shell = shell
        kind: Any = psycopg.Connection if shell.kind == "sync" else psycopg.AsyncConnection
        self.connection = shell.call(kind.connect, place.dsn(), **given)

    def run(self, statement: str) -> Any:
        cursor = self.shell.call(self.connection.execute, statement)
        return self.shell.call(cursor.fetchone) if cursor.description else None

    def do(self, verb: str) -> None:
        self.shell.call(getattr(self.connection, verb))

    @property
    def status(self) -> TransactionStatus:
        status: TransactionStatus = self.connection.info.transaction_status
        return status

    def scope(self, place: Place, **given: Any) -> Any:
        return self.shell.open(self.connection, **given).tenant(place.tenant()).project("p")


@pytest.fixture(params=[True, False], ids=["autocommit", "transactions"])
def caller(request: pytest.FixtureRequest, shell: Shell, place: Place) -> Iterator[Caller]:
    made = Caller(shell, place, autocommit=request.param)
    yield made
    made.do("close")


def test_each_call_is_committed_and_leaves_no_transaction_open(caller: Caller, place: Place) -> None:
    scope = caller.scope(place)
    assert caller.status is TransactionStatus.IDLE
    scope.add("x", key="k")
    scope.add_many(["y"])
    assert caller.status is TransactionStatus.IDLE
    with pytest.raises(RefusedError):
        scope.add("x", key="k", clear=["colour"])
    assert caller.status is TransactionStatus.IDLE
    with place.connect() as root:
        assert root.execute(
            "SELECT count(*) FROM pgmnemo.list_lessons(%s)", (scope.tenant_id,)
        ).fetchone() == (2,)


def test_in_the_callers_transaction_calls_stand_or_fall_with_it(caller: Caller, place: Place) -> None:
    scope = caller.scope(place)
    scope.add("before", key="before")
    for end, texts in (("ROLLBACK", ["before"]), ("COMMIT", ["before", "one", "two"])):
        if caller.connection.autocommit:
            caller.run("BEGIN")
        caller.run("SELECT 1")
        scope.add("one", key="one")
        with pytest.raises(RefusedError):
            scope.add("one", key="one", clear=["colour"])
        scope.add_many(["two"])  # a refused call has not spoilt it
        assert caller.status is TransactionStatus.INTRANS
        assert [one.text for one in scope.list()] == ["before", "one", "two"]
        caller.run(end)
        assert [one.text for one in scope.list()] == texts


def test_an_export_wants_one_moment(caller: Caller, place: Place) -> None:
    scope = caller.scope(place)
    scope.add("x", key="k")
    if caller.connection.autocommit:
        caller.run("BEGIN")
    caller.run("SELECT 1")
    with pytest.raises(RefusedError, match="call it outside of the transaction, or begin that as REPEATABLE"):
        scope.export(io.BytesIO())
    caller.run("ROLLBACK")
    caller.run("BEGIN ISOLATION LEVEL REPEATABLE READ")
    caller.run("SELECT 1")
    assert scope.export(io.BytesIO()) == 1
    caller.run("ROLLBACK")
    assert scope.export(io.BytesIO()) == 1


def test_nothing_of_the_callers_session_is_changed(caller: Caller, place: Place) -> None:
    settings = "SELECT array_agg((name, setting) ORDER BY name) FROM pg_settings WHERE name !~ '[.]'"
    gate = "SELECT coalesce(current_setting('pgmnemo.gate_strict', true), '')"
    before = caller.run(settings)
    caller.do("commit")
    scope = caller.scope(place, settings={"assistant_weight": 0})
    scope.add("x", key="k"), scope.add_many(["y"]), scope.recall("x"), scope.export(io.BytesIO())
    assert (caller.run(settings), caller.run(gate)) == (before, ("",))
    assert caller.run("SELECT count(*) FROM pg_prepared_statements") == (0,)


def test_a_memory_that_is_closed_leaves_the_connection_open(caller: Caller) -> None:
    memory = caller.shell.open(caller.connection)
    memory.close()
    assert not caller.connection.closed
    assert caller.run("SELECT 1") == (1,)


def test_rows_are_read_whatever_the_caller_makes_of_his(shell: Shell, place: Place) -> None:
    caller = Caller(shell, place, autocommit=True, row_factory=dict_row)
    scope = caller.scope(place)
    scope.add_many(["x", "y"])
    assert [hit.text for hit in scope.recall("x", k=1)] == ["x"]
    assert scope.export(io.BytesIO()) == scope.stats().lessons == 2
    assert caller.run("SELECT 1 AS one") == {"one": 1}
    caller.do("close")


def test_a_connection_that_went_is_told_and_nothing_is_tried_again(shell: Shell, place: Place) -> None:
    caller = Caller(shell, place, autocommit=True)
    scope = caller.scope(place)
    with place.connect() as root:
        root.execute("SELECT pg_terminate_backend(%s, 10000)", (caller.connection.info.backend_pid,))
    with pytest.raises(LostError, match="the connection to the given database was lost"):
        scope.count()
    caller.do("close")


def test_a_connection_that_is_closed_is_refused(shell: Shell, place: Place) -> None:
    caller = Caller(shell, place)
    caller.do("close")
    with pytest.raises(DatabaseError, match="lost"):
        shell.open(caller.connection)


async def test_tasks_and_threads_take_turns_on_one_connection(place: Place) -> None:
    tenant = place.tenant()

    async with await psycopg.AsyncConnection.connect(place.dsn(), autocommit=True) as connection:
        memory = await AsyncMemory.open(connection, embedder=None)
        scope = memory.tenant(tenant).project("p")
        await asyncio.gather(*(scope.add_many([f"task {n}", f"note {n}"]) for n in range(10)))

    with psycopg.connect(place.dsn(), autocommit=True) as connection:
        scope = Memory.open(connection, embedder=None).tenant(tenant).project("p")
        threads = [threading.Thread(target=scope.add, args=(f"thread {n}",)) for n in range(10)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert scope.count().lessons == 30


# Pools


@pytest.fixture
def pool(shell: Shell, place: Place) -> Iterator[Any]:
    kind: Any = psycopg_pool.ConnectionPool if shell.kind == "sync" else psycopg_pool.AsyncConnectionPool
    made = kind(place.dsn(), min_size=1, max_size=2, open=False, timeout=30)
    shell.call(made.open)
    yield made
    shell.call(made.close)


def lent(shell: Shell, pool: Any, statement: str) -> Any:
    """The first row of a statement on a connection of the pool, as its next user sees it."""
    connection = shell.call(pool.getconn)
    row = shell.call(shell.call(connection.execute, statement).fetchone)
    status = connection.info.transaction_status
    shell.call(connection.rollback)
    shell.call(pool.putconn, connection)
    assert status is TransactionStatus.INTRANS
    return row


def test_a_pool_lends_its_connections_and_gets_them_back_as_they_were(
    shell: Shell, place: Place, pool: Any
) -> None:
    memory = shell.open(pool, settings={"assistant_weight": 0})
    scope = memory.tenant(place.tenant()).project("p")
    scope.add("x", role="user"), scope.add_many(["y"])
    with pytest.raises(UsageError):
        scope.recall("x", k=0)
    assert [one.text for one in scope.list()] == ["x", "y"]
    for name in ("gate_strict", "assistant_weight", "acting_tenant", "tenant_id"):
        left = f"SELECT coalesce(current_setting('pgmnemo.{name}', true), '')"
        assert lent(shell, pool, left) == ("",)
    memory.close()
    assert lent(shell, pool, "SELECT 1") == (1,)


def test_a_connection_of_a_pool_that_went_is_made_anew(shell: Shell, place: Place, pool: Any) -> None:
    scope = shell.open(pool).tenant(place.tenant()).project("p")
    scope.add("x", role="user")
    pid = lent(shell, pool, "SELECT pg_backend_pid()")[0]
    with place.connect() as root:
        root.execute("SELECT pg_terminate_backend(%s, 10000)", (pid,))
    assert [one.text for one in scope.list()] == ["x"]


def test_a_pool_that_has_no_connection_left_is_told(shell: Shell, place: Place) -> None:
    kind: Any = psycopg_pool.ConnectionPool if shell.kind == "sync" else psycopg_pool.AsyncConnectionPool
    pool = kind(place.dsn(), min_size=1, max_size=1, open=False, timeout=0.1)
    shell.call(pool.open)
    scope = shell.open(pool, retry_timeout=0).tenant(place.tenant()).project("p")
    held = shell.call(pool.getconn)
    with pytest.raises(DatabaseError):
        scope.count()
    shell.call(pool.putconn, held)
    assert scope.count().lessons == 0
    shell.call(pool.close)
