"""The three servers of a move, and the locks that let only one command make it."""

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
from pgmnemo.server.server_checks import Session, value
from shards.directory import Move
from shards.installing import open_operator, open_shard

PATIENCE = 10.0  # seconds that a move waits for the tenant's writers to pause, all tries together
TRY = 0.3  # seconds of one try, since writers who come meanwhile wait behind it
AGAIN = 10.0  # seconds that a move waits for a router that went away, and `recover` for a mover's last words
MINE = "SELECT pg_try_advisory_lock({}._mover(%s))"
OURS_NO_MORE = "SELECT pg_advisory_unlock({}._mover(%s))"
ON_ROUTER, ON_SHARD = "directory", "pgmnemo_shard"
ALONE = "SELECT pg_advisory_lock(pgmnemo_shard._key(%s))"
LET_IN = "SELECT pg_advisory_unlock(pgmnemo_shard._key(%s))"
DURABLE = """
SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'
"""
NOTICED = "SET client_connection_check_interval = '1s'"  # that a command is gone, whatever goes on for it
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Ends:
    """The three servers of a move, each by a connection of the operator."""

    router: Session
    source: Session
    target: Session

    def both(self, ask: Callable[[Session], Answer]) -> tuple[Answer, Answer]:
        """Return the answers of source and target, which are asked at the same time."""
        with ThreadPoolExecutor(2) as pool:
            here, there = pool.map(ask, (self.source, self.target))
        return here, there


class AtWorkError(DatabaseError):
    """Another mover holds the tenant."""


@contextmanager
def mine(session: Session, tenant: UUID, patience: float = 0.0, *, on: str = ON_ROUTER) -> Iterator[None]:
    """Hold the lock on the tenant's moves on one server during the block; it ends with the session. Raise
    AtWorkError if another command still holds it after `patience` seconds.
    """
    deadline = time.monotonic() + patience
    while not value(session, MINE.format(on), tenant):
        if time.monotonic() >= deadline:
            raise AtWorkError(f"tenant {tenant} is being moved by another command; wait for it to end")
        time.sleep(0.05)
    try:
        yield
    finally:
        with suppress(psycopg.Error):  # a lost session has let it go
            session.execute(OURS_NO_MORE.format(on).encode(), (tenant,))


@contextmanager
def opened(router: Session, planned: Move, *, patient: bool = False) -> Iterator[Ends]:
    """Yield the servers of a move, locked on router and shards, so that no mover that lost the router is
    active.

    A move deletes what it has copied, so each step is on disk before the next, even if a server's default
    differs.
    """
    with ExitStack() as stack:
        source, target = (
            stack.enter_context(open_shard(shard.name, shard.operator))
            for shard in (planned.source, planned.target)
        )
        for session in (source, target):
            session.execute(NOTICED)
            stack.enter_context(mine(session, planned.tenant, AGAIN if patient else 0.0, on=ON_SHARD))
        for session in (router, source, target):
            session.execute(DURABLE)
        yield Ends(router, source, target)


@contextmanager
def reached(ends: Ends, tenant: UUID) -> Iterator[Ends]:
    """Yield `ends` with a router that answers; if the connection is lost, connect and lock the move again.

    The lost session held the lock to its end. So the new holder knows that all earlier statements have ended,
    committed or not. Raise DatabaseError if the router does not answer in time.
    """
    with ExitStack() as stack:
        try:
            ends.router.execute("SELECT 1")
        except psycopg.OperationalError:
            router = stack.enter_context(_again(ends.router))
            stack.enter_context(mine(router, tenant, AGAIN))
            router.execute(DURABLE)
            ends = replace(ends, router=router)
        yield ends


def alone(session: Session, tenant: UUID) -> None:
    """Take the tenant's lock on a shard exclusively, until this session ends or `let_in` releases it.

    New calls queue behind the waiting lock, so each try is short and is repeated. Raise DatabaseError after
    PATIENCE seconds.
    """
    deadline = time.monotonic() + PATIENCE
    session.execute(f"SET lock_timeout = {int(1000 * min(TRY, PATIENCE))}".encode())
    try:
        while True:
            try:
                session.execute(ALONE, (tenant,))
                return
            except errors.LockNotAvailable:
                if time.monotonic() >= deadline:
                    raise DatabaseError(
                        f"a call for tenant {tenant} did not end within {PATIENCE:g} s; nothing was moved: "
                        "try again when it has ended"
                    ) from None
            time.sleep(TRY / 3)
    finally:
        with suppress(psycopg.OperationalError):
            session.execute("SET lock_timeout = 0")


def let_in(session: Session, tenant: UUID) -> None:
    """Release the exclusive lock on the tenant's calls."""
    session.execute(LET_IN, (tenant,))


def _again(lost: Session) -> Session:
    """Another session like the one that was lost, as soon as the server lets it in."""
    deadline = time.monotonic() + AGAIN
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
