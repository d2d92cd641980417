"""The connections of a move to its three servers, and the locks that allow only one mover for a tenant."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from typing import TypeVar
from uuid import UUID

import psycopg
from psycopg import errors

from pgmnemo.errors import DatabaseError
from pgmnemo.postgres.server_checks import Session, value
from pgmnemo_shards.directory import Move
from pgmnemo_shards.installing import open_operator, open_shard

LOCK_TIMEOUT = 10.0  # seconds that all tries to lock out the tenant's writers may take
LOCK_TRY = 0.3  # seconds of one try; new writers queue behind it
RECONNECT_TIMEOUT = 10.0  # seconds that a move waits for a lost router, and `recover` for the mover's end
TRY_MOVE_LOCK = "SELECT pg_try_advisory_lock({}._mover(%s))"
RELEASE_MOVE_LOCK = "SELECT pg_advisory_unlock({}._mover(%s))"
ON_ROUTER, ON_SHARD = "directory", "pgmnemo_shard"
LOCK = "SELECT pg_advisory_lock(pgmnemo_shard._key(%s))"
UNLOCK = "SELECT pg_advisory_unlock(pgmnemo_shard._key(%s))"
SYNCHRONOUS_COMMIT = """
SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'
"""
CHECK_CLIENT = "SET client_connection_check_interval = '1s'"  # the server notices a lost connection
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class MoveConnections:
    """The operator's connections to the three servers of a move."""

    router: Session
    source: Session
    target: Session

    def both(self, query: Callable[[Session], Answer]) -> tuple[Answer, Answer]:
        """Return the results of `query` on source and target, which run at the same time."""
        with ThreadPoolExecutor(2) as pool:
            from_source, from_target = pool.map(query, (self.source, self.target))
        return from_source, from_target


class MoveInProgressError(DatabaseError):
    """Another command is moving the tenant."""


@contextmanager
def tenant_move_lock(
    session: Session, tenant: UUID, timeout: float = 0.0, *, on: str = ON_ROUTER
) -> Iterator[None]:
    """Hold the lock on the tenant's moves on one server during the block.

    The lock also ends with the session. Raise MoveInProgressError if another command still holds it after
    `timeout` seconds.
    """
    deadline = time.monotonic() + timeout
    while not value(session, TRY_MOVE_LOCK.format(on), tenant):
        if time.monotonic() >= deadline:
            raise MoveInProgressError(
                f"tenant {tenant} is being moved by another command; wait for it to end"
            )
        time.sleep(0.05)
    try:
        yield
    finally:
        with suppress(psycopg.Error):  # a lost session has released the lock
            session.execute(RELEASE_MOVE_LOCK.format(on).encode(), (tenant,))


@contextmanager
def open_move(router: Session, planned: Move, *, wait: bool = False) -> Iterator[MoveConnections]:
    """Yield the servers of a move, locked on both shards against a mover that has lost the router.

    A move deletes what it has copied, so each step is synced to disk before the next, even if a server's
    default differs.
    """
    with ExitStack() as stack:
        source, target = (
            stack.enter_context(open_shard(shard.name, shard.operator))
            for shard in (planned.source, planned.target)
        )
        for session in (source, target):
            session.execute(CHECK_CLIENT)
            stack.enter_context(
                tenant_move_lock(session, planned.tenant, RECONNECT_TIMEOUT if wait else 0.0, on=ON_SHARD)
            )
        for session in (router, source, target):
            session.execute(SYNCHRONOUS_COMMIT)
        yield MoveConnections(router, source, target)


@contextmanager
def with_router_reconnected(connections: MoveConnections, tenant: UUID) -> Iterator[MoveConnections]:
    """Yield `connections` with a router that answers.

    If the router was lost, reconnect and lock the move again. The lost session held the lock until it ended,
    so after the new lock all its statements have ended, committed or not. Raise DatabaseError if the router
    does not answer in time.
    """
    with ExitStack() as stack:
        try:
            connections.router.execute("SELECT 1")
        except psycopg.OperationalError:
            router = stack.enter_context(_reconnect(connections.router))
            stack.enter_context(tenant_move_lock(router, tenant, RECONNECT_TIMEOUT))
            router.execute(SYNCHRONOUS_COMMIT)
            connections = replace(connections, router=router)
        yield connections


def lock_tenant(session: Session, tenant: UUID) -> None:
    """Take the tenant's lock on a shard exclusively, until the session ends or `unlock_tenant`.

    New calls queue behind the waiting lock, so each try is short and is repeated. Raise DatabaseError after
    LOCK_TIMEOUT seconds.
    """
    deadline = time.monotonic() + LOCK_TIMEOUT
    session.execute(f"SET lock_timeout = {int(1000 * min(LOCK_TRY, LOCK_TIMEOUT))}".encode())
    try:
        while True:
            try:
                session.execute(LOCK, (tenant,))
                return
            except errors.LockNotAvailable:
                if time.monotonic() >= deadline:
                    raise DatabaseError(
                        f"a call for tenant {tenant} did not end within {LOCK_TIMEOUT:g} s; nothing was "
                        "moved: try again when it has ended"
                    ) from None
            time.sleep(LOCK_TRY / 3)
    finally:
        with suppress(psycopg.OperationalError):
            session.execute("SET lock_timeout = 0")


def unlock_tenant(session: Session, tenant: UUID) -> None:
    """Release the exclusive lock on the tenant's calls."""
    session.execute(UNLOCK, (tenant,))


def _reconnect(lost: Session) -> Session:
    """Return a new session like a lost session, as soon as the server accepts it.

    Raise its error after RECONNECT_TIMEOUT seconds.
    """
    deadline = time.monotonic() + RECONNECT_TIMEOUT
    while True:
        try:
            return open_operator(conninfo(lost))
        except (DatabaseError, psycopg.Error):
            if time.monotonic() >= deadline:
                raise
            time.sleep(0.05)


def conninfo(session: Session) -> dict[str, str]:
    """Return the connection parameters of a session, with its password."""
    return {**session.info.get_parameters(), "password": session.info.password}
