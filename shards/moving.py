"""Moves a tenant to another shard while it is read and written.

The rows are copied while the source serves. Then writers of this tenant wait on a lock, the rest is copied,
both ends are compared, the source refuses the tenant, and one transaction of the directory switches. The
directory records each move, so that one that was cut short is undone or finished by `recover`: before the
switch the source has everything that was acknowledged, after it the target has.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from uuid import UUID

from psycopg import errors
from psycopg.conninfo import conninfo_to_dict

from runner.database.sentences import database_errors
from runner.database.server_checks import Session, value
from runner.errors import DatabaseError, UsageError
from shards import copying
from shards.directory import Move, Shard, moves, shard_named, shard_of
from shards.installing import open_operator

PATIENCE = "10s"  # that a move waits for the tenant's writers to pause, and they for it
MINE = "SELECT pg_try_advisory_lock(hashtextextended('move ' || %s, 0))"
OURS_NO_MORE = "SELECT pg_advisory_unlock(hashtextextended('move ' || %s, 0))"
ALONE = "SELECT pg_advisory_lock(pgmnemo_shard._key(%s))"
VERSION = "SELECT pgmnemo.version()"
BYTES = "SELECT pg_database_size(current_database())"
SHARE = """
SELECT coalesce((SELECT count(*) FROM pgmnemo.lesson WHERE tenant_id = %s)::float8
                / nullif((SELECT count(*) FROM pgmnemo.lesson), 0), 0)
"""
MISSING = "SELECT name FROM unnest(%s::text[]) AS name WHERE to_regrole(quote_ident(name)) IS NULL ORDER BY 1"
GRANTEES = """
SELECT r.rolname FROM pgmnemo.tenant_grant g JOIN pg_roles r ON r.oid = g.grantee WHERE g.tenant_id = %s
"""
HOLDS = """
SELECT EXISTS (SELECT FROM pgmnemo.lesson WHERE tenant_id = %s)
    OR EXISTS (SELECT FROM pgmnemo.tenant_grant WHERE tenant_id = %s)
"""
SWITCH = (
    "UPDATE directory.tenant SET shard = %(target)s, moved_at = clock_timestamp() "
    "WHERE tenant_id = %(tenant)s",
    "UPDATE directory.move SET state = 'switched' WHERE tenant_id = %(tenant)s",
)
OVER = """
WITH done AS (DELETE FROM directory.move WHERE tenant_id = %s RETURNING *)
INSERT INTO directory.moved SELECT tenant_id, source, target, %s, began_at FROM done
"""
Step = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Ends:
    """The three servers of a move, each by a connection of the operator."""

    router: Session
    source: Session
    target: Session


def move(router: Session, tenant: UUID, target: str, step: Step = lambda name: None) -> Move:
    """Move `tenant` to the shard `target`; `step` hears of each step before it is taken.

    Raises UsageError or DatabaseError with everything as it was.
    """
    planned = Move(tenant, shard_of(router, tenant), shard_named(router, target))
    if planned.source.name == target:
        raise UsageError(f"tenant {tenant} lies on shard {target} already; name another shard")
    with _mine(router, tenant), _ends(router, planned) as ends:
        _check(ends, planned)
        _record(router, planned)
        try:
            with database_errors("one of the two shards"):
                _copy(ends, planned, step)
                step("switch")
                with router.transaction():
                    for statement in SWITCH:
                        router.execute(statement.encode(), {"tenant": tenant, "target": target})
        except Exception:
            undo(ends, planned)
            raise
        step("open the target")
        finish(ends, planned)
        step("done")
    return planned


def recover(router: Session, tenant: UUID | None = None) -> list[tuple[Move, str]]:
    """Undo or finish what movers that are gone left; of each what became of it: moved, undone, at work."""
    outcomes = []
    for left in moves(router):
        if tenant in (None, left.tenant):
            outcomes.append((left, _recover(router, left)))
    return outcomes


def _recover(router: Session, left: Move) -> str:
    try:
        with _mine(router, left.tenant, patience=3.0), _ends(router, left) as ends:
            if left.tenant not in {found.tenant for found in moves(router)}:
                return "moved"
            # A mover's sessions hold these locks until the servers have noticed that it is gone.
            for session in (ends.source, ends.target):
                _alone(session, left.tenant)
            state = value(router, "SELECT state FROM directory.move WHERE tenant_id = %s", left.tenant)
            if state == "switched":
                finish(ends, left)
                return "moved"
            undo(ends, left)
            return "undone"
    except _AtWorkError:
        return "at work"


def undo(ends: Ends, planned: Move) -> None:
    """Before the switch: the source serves again, and the target holds nothing of the tenant."""
    ends.source.execute("DELETE FROM pgmnemo_shard.away WHERE tenant_id = %s", (planned.tenant,))
    copying.clear(ends.target, planned.tenant)
    ends.router.execute(OVER, (planned.tenant, "undone"))


def finish(ends: Ends, planned: Move) -> None:
    """After the switch: the target serves, and the source holds nothing of the tenant."""
    ends.target.execute("DELETE FROM pgmnemo_shard.away WHERE tenant_id = %s", (planned.tenant,))
    for session in (ends.source, ends.target):
        session.execute("SELECT pg_advisory_unlock_all()")
    copying.clear(ends.source, planned.tenant)
    ends.router.execute(OVER, (planned.tenant, "moved"))
    ends.target.execute("SET pgmnemo.bypass_notice = off")
    if value(
        ends.target, "SELECT EXISTS (SELECT FROM pgmnemo.tenant_grant WHERE tenant_id = %s)", planned.tenant
    ):
        ends.target.execute("SELECT pgmnemo.index(%s)", (planned.tenant,))


def _copy(ends: Ends, planned: Move, step: Step) -> None:
    tenant = planned.tenant
    step("copy")
    _alone(ends.target, tenant)
    since = copying.everything(ends.source, ends.target, tenant)
    step("hold the writers")
    _alone(ends.source, tenant)
    step("copy the rest")
    copying.rest(ends.source, ends.target, tenant, since)
    step("compare")
    here, there = copying.content(ends.source, tenant), copying.content(ends.target, tenant)
    for what, counted in here.items():
        if there[what] != counted:
            raise DatabaseError(
                f"{there[what][0]} of {counted[0]} {what}s of tenant {tenant} arrived alike on shard "
                f"{planned.target.name}; nothing was moved"
            )
    step("close the source")
    ends.source.execute(
        "INSERT INTO pgmnemo_shard.away (tenant_id) VALUES (%s) "
        "ON CONFLICT (tenant_id) DO UPDATE SET since = now()",
        (tenant,),
    )


def _alone(session: Session, tenant: UUID) -> None:
    """Hold the tenant's lock on a shard, alone, until this session ends or lets it go."""
    session.execute(f"SET lock_timeout = '{PATIENCE}'".encode())
    try:
        session.execute(ALONE, (tenant,))
    except errors.LockNotAvailable:
        raise DatabaseError(
            f"a call for tenant {tenant} did not end within {PATIENCE}; nothing was moved: "
            "try again when it has ended"
        ) from None
    session.execute("SET lock_timeout = 0")


class _AtWorkError(DatabaseError):
    """Another mover holds the tenant."""


@contextmanager
def _mine(router: Session, tenant: UUID, patience: float = 0.0) -> Iterator[None]:
    """The tenant's moves are ours alone, as long as this session lives."""
    deadline = time.monotonic() + patience
    while not value(router, MINE, str(tenant)):
        if time.monotonic() >= deadline:
            raise _AtWorkError(f"tenant {tenant} is being moved by another command; wait for it to end")
        time.sleep(0.05)
    try:
        yield
    finally:
        if not router.closed:
            router.execute(OURS_NO_MORE, (str(tenant),))


@contextmanager
def _ends(router: Session, planned: Move) -> Iterator[Ends]:
    with ExitStack() as stack:
        source, target = (stack.enter_context(_session(shard)) for shard in (planned.source, planned.target))
        yield Ends(router, source, target)


@contextmanager
def _session(shard: Shard) -> Iterator[Session]:
    try:
        session = open_operator(conninfo_to_dict(shard.operator))
    except DatabaseError as error:
        raise DatabaseError(f"shard {shard.name} is down: {error}") from None
    with session:
        yield session


def _record(router: Session, planned: Move) -> None:
    try:
        router.execute(
            "INSERT INTO directory.move (tenant_id, source, target) VALUES (%s, %s, %s)",
            (planned.tenant, planned.source.name, planned.target.name),
        )
    except errors.UniqueViolation:
        raise DatabaseError(
            f"an earlier move of tenant {planned.tenant} was cut short; run python -m shards recover first"
        ) from None


def _check(ends: Ends, planned: Move) -> None:
    tenant, source, target = planned.tenant, planned.source, planned.target
    versions = [value(session, VERSION) for session in (ends.source, ends.target)]
    if versions[0] != versions[1]:
        raise DatabaseError(
            f"shard {target.name} has pgmnemo {versions[1]}, and shard {source.name} {versions[0]}; "
            "run ALTER EXTENSION pgmnemo UPDATE on the older one"
        )
    needed = int(value(ends.source, BYTES) * value(ends.source, SHARE, tenant))
    held = value(ends.target, BYTES)
    if target.capacity is not None and held + needed > target.capacity:
        raise DatabaseError(
            f"shard {target.name} is full: it holds {held:,} of {target.capacity:,} bytes, and the tenant "
            f"needs about {needed:,}; name another shard or raise its capacity in directory.shard"
        )
    unfinished = value(ends.router, "SELECT EXISTS (SELECT FROM directory.move WHERE tenant_id = %s)", tenant)
    if not unfinished and value(ends.target, HOLDS, tenant, tenant):
        raise DatabaseError(
            f"shard {target.name} holds rows of tenant {tenant}, which the directory places on "
            f"{source.name}; look whose they are, and take them away there"
        )
    grantees = [row[0] for row in ends.source.execute(GRANTEES, (tenant,)).fetchall()]
    missing = [row[0] for row in ends.target.execute(MISSING, (grantees,)).fetchall()]
    if missing:
        raise DatabaseError(
            f"shard {target.name} has no role {', '.join(missing)}, to which tenant {tenant} is granted; "
            "make it with pgmnemo.create_login on the router"
        )
