"""Move a tenant to another shard while it is read and written.

The target refuses calls for the tenant, receives its rows in the snapshot of a replication slot, and follows
the source from there (`replication`). Derived data is built on the target, and both shards are compared at
one common state while the source serves. Then writers wait: their changes since that state are compared, both
shards refuse calls, and one transaction of the directory switches the tenant.

The state of the move in the directory decides. `copying`: the source has all acknowledged writes, and serves
again if anything fails. `switched`: the target has them, and the source's rows are deleted once all of them
are proven to be on the target. A move whose command has died is ended by `recover`, or by the next move of
the tenant.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from uuid import UUID

from pgmnemo.errors import DatabaseError, UsageError
from pgmnemo.postgres.connections import database_errors
from pgmnemo.postgres.server_checks import Session, value
from pgmnemo_shards import copying, replication
from pgmnemo_shards.directory import Move, moves, shard_named, shard_of
from pgmnemo_shards.move_sessions import (
    MoveConnections,
    MoveInProgressError,
    lock_tenant,
    open_move,
    tenant_move_lock,
    unlock_tenant,
    with_router_reconnected,
)

STEPS = (
    "copy", "derive", "follow", "compare", "hold the writers", "copy the rest", "close the source", "switch",
    "open the target", "prove the target", "clear the source", "done",
)  # fmt: skip
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
    OR EXISTS (SELECT FROM pgmnemo.embedding_space WHERE tenant_id = %s)
    OR EXISTS (SELECT FROM pgmnemo.tenant_grant WHERE tenant_id = %s)
"""
CLOSE = """
INSERT INTO pgmnemo_shard.away (tenant_id) VALUES (%s) ON CONFLICT (tenant_id) DO UPDATE SET since = now()
"""
OPEN = "DELETE FROM pgmnemo_shard.away WHERE tenant_id = %s"
CHANGED = "SELECT DISTINCT lesson_id FROM pgmnemo_shard.changed WHERE tenant_id = %s"
DELETE_CHANGED = "DELETE FROM pgmnemo_shard.changed WHERE tenant_id = %s"
SWITCH = (  # the first statement decides; it changes no row if the move was ended before
    "UPDATE directory.move SET state = 'switched' "
    "WHERE tenant_id = %(tenant)s AND began_at = %(began)s AND state = 'copying'",
    "UPDATE directory.tenant SET shard = %(target)s, moved_at = clock_timestamp() "
    "WHERE tenant_id = %(tenant)s AND shard = %(source)s",
)
STATE = "SELECT state FROM directory.move WHERE tenant_id = %s AND began_at = %s"
OUTCOME = "SELECT outcome FROM directory.moved WHERE tenant_id = %s AND began_at = %s"
INSERT_OUTCOME = """
INSERT INTO directory.moved (tenant_id, source, target, outcome, began_at)
SELECT tenant_id, source, target, %s, began_at FROM directory.move WHERE tenant_id = %s
"""
DELETE_MOVE = "DELETE FROM directory.move WHERE tenant_id = %s"
STANDBY = "SELECT pg_is_in_recovery()"  # a standby may not have the latest state yet
GRANTED = "SELECT EXISTS (SELECT FROM pgmnemo.tenant_grant WHERE tenant_id = %s)"
DERIVE = (
    "SELECT pgmnemo.index(%s)",
    "SELECT pgmnemo.merge_postings(%s)",
)  # derived data of a large tenant, which is not copied
OUTCOMES = {"moved", "undone", "at work"}
LESSONS = "SELECT count(*) FROM pgmnemo.lesson WHERE tenant_id = %s"
LESSONS_PER_SECOND = 25_000  # the proof waits a second for so many lessons, which speeds up the first calls
LOCKED_SECONDS = (0.4, 0.4, 0.8, 1.6, 3.2, 6.4)  # seconds that writers wait in each try
ROUNDS, ROUND_SECONDS = 20, 0.3  # most rounds, until one takes fewer seconds
Step = Callable[[str], None]


def move(router: Session, tenant: UUID, target: str, step: Step = lambda name: None) -> Move:
    """Move `tenant` to the shard `target`, and return the move; `step` is called with each of STEPS before
    it.

    Raise UsageError or DatabaseError if nothing was moved, or a DatabaseError that says what is left to
    `recover`.
    """
    with ExitStack() as stack:
        stack.enter_context(tenant_move_lock(router, tenant))  # no other command moves the tenant now
        _end_earlier(router, tenant)
        planned = Move(tenant, shard_of(router, tenant), shard_named(router, target))
        if planned.source.name == target:
            raise UsageError(f"tenant {tenant} lies on shard {target} already; name another shard")
        connections = stack.enter_context(open_move(router, planned))
        _check(connections, planned)
        planned = _insert_move(router, planned)
        try:
            _copy_and_compare(connections, planned, step)
            _lock_and_close(connections, planned, step)
            step("switch")
            _switch(router, planned)
        except (Exception, KeyboardInterrupt) as error:
            _resolve_failure(connections, planned, step, error)
        else:
            _finish(connections, planned, step)
        step("done")
    return planned


def recover(router: Session, tenant: UUID | None = None) -> list[tuple[Move, str]]:
    """Undo or finish the moves of dead movers; return each move with its outcome, one of OUTCOMES.

    A move that cannot be ended yet has a sentence as its outcome, and does not keep others from being ended.
    A move with a living mover is skipped: the mover holds the tenant's locks on all three servers.
    """
    left = [one for one in moves(router) if tenant in (None, one.tenant)]
    if value(router, STANDBY):
        return [(one, "left to the primary, since this router is a standby") for one in left]
    ended = [(one, _recover(router, one)) for one in left]
    if tenant is None:
        replication.drop_leftovers(router)
    return ended


def _recover(router: Session, left: Move) -> str:
    try:
        with (
            database_errors("one of its servers"),
            tenant_move_lock(router, left.tenant, timeout=3.0),
            open_move(router, left, wait=True) as connections,
        ):
            state = _query_move(router, STATE, left)
            if state == "switched":
                finish(connections, left)
            elif state == "copying":
                undo(connections, left)
            return str(_query_move(router, OUTCOME, left))
    except MoveInProgressError:
        return "at work"
    except DatabaseError as error:
        return f"left as it is ({error})"


def _end_earlier(router: Session, tenant: UUID) -> None:
    """End an unfinished earlier move of the tenant, which may change the tenant's shard.

    Raise DatabaseError if it cannot be ended.
    """
    for _, outcome in recover(router, tenant):
        if outcome == "at work":
            raise MoveInProgressError(
                f"tenant {tenant} is being moved by another command; wait for it to end"
            )
        if outcome not in ("moved", "undone"):
            raise DatabaseError(
                f"an earlier move of tenant {tenant} was cut short and is {outcome}; mend that and move again"
            )


def _resolve_failure(connections: MoveConnections, planned: Move, step: Step, error: BaseException) -> None:
    """After `error`, finish the move or undo it and raise `error`, as the router's committed state says."""
    tenant, source, target = planned.tenant, planned.source.name, planned.target.name
    with ExitStack() as stack:
        with _name_recover(
            f"it is not known whether tenant {tenant} lies on {source} or {target}, which hold it both"
        ):
            connections = stack.enter_context(with_router_reconnected(connections, tenant))
            state = _query_move(connections.router, STATE, planned)
            outcome = _query_move(connections.router, OUTCOME, planned)
        if state == "switched":
            _finish(connections, planned, step)
        elif state == "copying":
            with _name_recover(f"tenant {tenant} lies on {source} still, but its move is not undone", error):
                undo(connections, planned)
        if state != "switched" and outcome != "moved":
            raise error


def undo(connections: MoveConnections, planned: Move) -> None:
    """Undo a move before its switch: the source serves again, and the target's rows of the tenant are
    deleted.
    """
    tenant = planned.tenant
    connections.source.execute(OPEN, (tenant,))
    unlock_tenant(connections.source, tenant)
    replication.drop_subscription(connections.target, tenant)
    replication.drop_slot_and_publication(connections.source, tenant)
    copying.delete_tenant(connections.target, tenant)
    _delete_move(connections, planned, "undone")


def _finish(connections: MoveConnections, planned: Move, step: Step) -> None:
    """Finish a move right after the switch: no call has passed the locks since the contents were compared."""
    with _name_recover(
        f"tenant {planned.tenant} lies on {planned.target.name} now, but its move is not finished"
    ):
        finish(connections, planned, step, compared=True)


def finish(
    connections: MoveConnections, planned: Move, step: Step = lambda name: None, *, compared: bool = False
) -> None:
    """Finish a move after its switch: the target serves, and the source's rows of the tenant are deleted.

    If the contents were `compared` under locks that are still held, the target serves at once, else after the
    proof. The proof shows that the target has all rows of the source, except for changes on the target since.
    It uses the processors of both shards, so waiting calls are admitted first.
    """
    tenant = planned.tenant
    step("open the target")
    if not compared:
        replication.drop_subscription(connections.target, tenant)
        _compare_served(connections, planned)
    connections.target.execute(OPEN, (tenant,))
    for session in (connections.source, connections.target):
        unlock_tenant(session, tenant)
    step("prove the target")
    if compared:
        time.sleep(min(1.0, value(connections.target, LESSONS, tenant) / LESSONS_PER_SECOND))
        _compare_served(connections, planned)
    step("clear the source")
    replication.drop_slot_and_publication(connections.source, tenant)
    copying.delete_tenant(connections.source, tenant)
    _delete_move(connections, planned)


def _delete_move(connections: MoveConnections, planned: Move, outcome: str | None = None) -> None:
    for session in (connections.source, connections.target):
        replication.delete_marks(session, planned.tenant)
    with connections.router.transaction():
        if outcome is not None:
            connections.router.execute(INSERT_OUTCOME, (outcome, planned.tenant))
        connections.router.execute(DELETE_MOVE, (planned.tenant,))


def _copy_and_compare(connections: MoveConnections, planned: Move, step: Step) -> None:
    """Copy the tenant to the target while the source serves, and compare both.

    Derived data is built on the target, which then follows the source's changes.
    """
    tenant = planned.tenant
    with database_errors("one of the two shards"):
        step("copy")
        for session in (connections.source, connections.target):
            replication.delete_marks(session, tenant)
        connections.target.execute(CLOSE, (tenant,))
        replication.publish(connections.source, tenant)
        replication.subscribe(connections, planned)
        with replication.slot(connections.source, planned) as snapshot:
            copying.copy_tenant(connections.source, connections.target, tenant, snapshot)
        step("derive")  # first, because building an HNSW index conflicts with the worker's locks
        copying.copy_grants(connections.source, connections.target, tenant)
        copying.advance_sequence(connections.source, connections.target)
        _build_derived(connections.target, tenant)
        step("follow")
        replication.enable_subscription(connections.target, tenant)
        _catch_up_unlocked(connections, planned)
        step("compare")
        with _equal_snapshots(connections, planned):
            _compare(connections, planned, "nothing was moved")


def _lock_and_close(connections: MoveConnections, planned: Move, step: Step) -> None:
    """Block writers, copy and compare their changes since the comparison, and close the source."""
    tenant = planned.tenant
    with database_errors("one of the two shards"):
        step("hold the writers")
        lock_tenant(connections.target, tenant)
        lock_tenant(connections.source, tenant)
        step("copy the rest")
        _wait_until_arrived(connections, planned, connections.target, connections.source)
        copying.copy_grants(connections.source, connections.target, tenant)
        copying.advance_sequence(connections.source, connections.target)
        connections.target.execute(CLOSE, (tenant,))  # synced to disk, with everything copied before
        _compare(connections, planned, "nothing was moved", of=_changed(connections.source, tenant))
        step("close the source")
        connections.source.execute(CLOSE, (tenant,))
        # From here on the target receives no change of the source's rows.
        replication.drop_subscription(connections.target, tenant)


def _build_derived(target: Session, tenant: UUID) -> None:
    target.execute("SET pgmnemo.bypass_notice = off")
    if value(target, GRANTED, tenant):
        for derive in DERIVE:
            target.execute(derive, (tenant,))


@contextmanager
def _equal_snapshots(connections: MoveConnections, planned: Move) -> Iterator[None]:
    """Run the block in snapshots of source and target with the same state of the tenant.

    Writers wait only until the snapshots are taken; lessons that change later are recorded.
    """
    lock_tenant(connections.source, planned.tenant)
    _wait_until_arrived(connections, planned, connections.source)
    connections.source.execute(DELETE_CHANGED, (planned.tenant,))
    with ExitStack() as stack:
        for session in (connections.source, connections.target):
            stack.enter_context(_repeatable_read(session))
        unlock_tenant(connections.source, planned.tenant)
        yield


def _wait_until_arrived(connections: MoveConnections, planned: Move, *held: Session) -> None:
    """Wait until the target has received all changes.

    Between tries, the locks on the sessions `held` are released for writers. Raise DatabaseError after the
    last try.
    """
    for timeout in LOCKED_SECONDS:
        if replication.wait_until_caught_up(connections, planned, timeout):
            return
        for session in held:
            unlock_tenant(session, planned.tenant)
        _catch_up_unlocked(connections, planned)
        for session in held:
            lock_tenant(session, planned.tenant)
    raise DatabaseError(
        f"shard {planned.target.name} was still behind shard {planned.source.name} after its writers had "
        f"waited for {LOCKED_SECONDS[-1]:g} s; nothing was moved: try again when less is written"
    )


def _catch_up_unlocked(connections: MoveConnections, planned: Move) -> None:
    """Let the target catch up while writers continue; each round copies the changes made during the last."""
    for _ in range(ROUNDS):
        began = time.monotonic()
        replication.wait_until_caught_up(connections, planned)
        if time.monotonic() < began + ROUND_SECONDS:
            return


@contextmanager
def _repeatable_read(session: Session) -> Iterator[None]:
    """Run the block in a transaction with one snapshot."""
    with session.transaction():
        session.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        session.execute("SELECT 1")
        yield


def _changed(session: Session, tenant: UUID) -> list[int]:
    """Return the ids of recorded changed lessons.

    They include 0 if the embedder of the tenant's vectors has changed.
    """
    return [number for (number,) in session.execute(CHANGED, (tenant,)).fetchall()]


def _switch(router: Session, planned: Move) -> None:
    given = {
        "tenant": planned.tenant, "source": planned.source.name, "target": planned.target.name,
        "began": planned.began_at,
    }  # fmt: skip
    with database_errors("the router"), router.transaction():
        for statement in SWITCH:
            if router.execute(statement.encode(), given).rowcount != 1:
                raise DatabaseError(f"another command has ended the move of tenant {planned.tenant}")


def _compare_served(connections: MoveConnections, planned: Move) -> None:
    """Prove that the target has the source's rows, except for later changes; record the proof."""
    if _query_move(connections.router, OUTCOME, planned) == "moved":
        return
    with _repeatable_read(connections.target):
        changed = _changed(connections.target, planned.tenant)
        _compare(
            connections,
            planned,
            f"shard {planned.source.name} keeps its own, and they are compared again",
            excluding=changed,
        )
    connections.router.execute(INSERT_OUTCOME, ("moved", planned.tenant))


def _compare(
    connections: MoveConnections,
    planned: Move,
    consequence: str,
    *,
    of: Sequence[int] | None = None,
    excluding: Sequence[int] = (),
) -> None:
    """Raise DatabaseError unless source and target have the same content.

    `of` and `excluding` are as in `copying.content`; `consequence` ends the message.
    """
    here, there = connections.both(
        lambda session: copying.content(session, planned.tenant, of=of, excluding=excluding)
    )
    for what, counted in here.items():
        if there[what] != counted:
            raise DatabaseError(
                f"{there[what][0]} of {counted[0]} {'' if of is None else 'changed '}{what}s of tenant "
                f"{planned.tenant} arrived on shard {planned.target.name}, and not all alike; {consequence}"
            )


def _query_move(router: Session, query: str, planned: Move) -> str | None:
    """Return the result of a query about this move in the directory; ignore other moves of the tenant."""
    found: str | None = value(router, query, planned.tenant, planned.began_at)
    return found


@contextmanager
def _name_recover(state: str, cause: BaseException | None = None) -> Iterator[None]:
    """Add to an error in the block the state of the move and the command that ends it, as one sentence."""
    try:
        with database_errors("one of its servers"):
            yield
    except DatabaseError as error:
        raise DatabaseError(
            f"{state} ({(cause and str(cause)) or error}); run pgmnemo-shards recover"
        ) from None


def _insert_move(router: Session, planned: Move) -> Move:
    began = value(
        router,
        "INSERT INTO directory.move (tenant_id, source, target) VALUES (%s, %s, %s) RETURNING began_at",
        planned.tenant, planned.source.name, planned.target.name,
    )  # fmt: skip
    return replace(planned, began_at=began)


def _check(connections: MoveConnections, planned: Move) -> None:
    tenant, source, target = planned.tenant, planned.source, planned.target
    versions = [value(session, VERSION) for session in (connections.source, connections.target)]
    if versions[0] != versions[1]:
        raise DatabaseError(
            f"shard {target.name} has pgmnemo {versions[1]}, and shard {source.name} {versions[0]}; "
            "run ALTER EXTENSION pgmnemo UPDATE on the older one"
        )
    replication.check(connections, planned)
    needed = int(value(connections.source, BYTES) * value(connections.source, SHARE, tenant))
    held = value(connections.target, BYTES)
    if target.capacity is not None and held + needed > target.capacity:
        raise DatabaseError(
            f"shard {target.name} is full: it holds {held:,} of {target.capacity:,} bytes, and the tenant "
            f"needs about {needed:,}; name another shard or raise its capacity in directory.shard"
        )
    if value(connections.target, HOLDS, tenant, tenant, tenant):
        raise DatabaseError(
            f"shard {target.name} holds rows of tenant {tenant}, which the directory places on "
            f"{source.name}; look whose they are, and take them away there"
        )
    grantees = [row[0] for row in connections.source.execute(GRANTEES, (tenant,)).fetchall()]
    missing = [row[0] for row in connections.target.execute(MISSING, (grantees,)).fetchall()]
    if missing:
        raise DatabaseError(
            f"shard {target.name} has no role {', '.join(missing)}, to which tenant {tenant} is granted; "
            "make it with pgmnemo.create_login on the router"
        )
