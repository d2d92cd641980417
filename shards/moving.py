"""Moves a tenant to another shard while it is read and written.

The rows are copied while the source serves and the target refuses the tenant. Then writers of this tenant
wait on a lock, the rest is copied, both ends are compared, the source refuses the tenant too, and one
transaction of the directory switches. What the router has committed decides: before the switch the source
has everything that was acknowledged, and serves again if anything fails; after it the target has, and
once it is proven to hold the rows, it is opened and the source's are taken away. The directory records
each move, so that one that was cut short is undone or finished by `recover`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from uuid import UUID

from psycopg import errors

from pgmnemo.errors import DatabaseError, UsageError
from pgmnemo.places import release
from pgmnemo.server.connections import database_errors
from pgmnemo.server.server_checks import Session, value
from shards import copying
from shards.directory import Move, moves, shard_named, shard_of
from shards.ends import AtWorkError, Ends, alone, let_in, mine, opened, reached

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
SWITCH = (
    "UPDATE directory.tenant SET shard = %(target)s, moved_at = clock_timestamp() "
    "WHERE tenant_id = %(tenant)s",
    "UPDATE directory.move SET state = 'switched' WHERE tenant_id = %(tenant)s",
)
STATE = "SELECT state FROM directory.move WHERE tenant_id = %s AND began_at = %s"
OUTCOME = "SELECT outcome FROM directory.moved WHERE tenant_id = %s AND began_at = %s"
DECIDED = """
INSERT INTO directory.moved (tenant_id, source, target, outcome, began_at)
SELECT tenant_id, source, target, %s, began_at FROM directory.move WHERE tenant_id = %s
"""
OVER = "DELETE FROM directory.move WHERE tenant_id = %s"
DERIVE = ("SELECT pgmnemo.index(%s)", "SELECT pgmnemo.compact(%s)")  # what is not carried, of a large tenant
SINCE = "0.6.0"  # from when on vectors lie where they are carried from
OUTCOMES = ("moved", "undone", "at work")
Step = Callable[[str], None]
Measure = Callable[[Session, UUID], copying.Content]


def move(router: Session, tenant: UUID, target: str, step: Step = lambda name: None) -> Move:
    """Move `tenant` to the shard `target`; `step` hears of each step before it is taken.

    Raises UsageError or DatabaseError with everything as it was, or one that says what is left to `recover`.
    """
    with ExitStack() as stack:
        stack.enter_context(mine(router, tenant))  # from here on it lies where it lies
        planned = Move(tenant, shard_of(router, tenant), shard_named(router, target))
        if planned.source.name == target:
            raise UsageError(f"tenant {tenant} lies on shard {target} already; name another shard")
        ends = stack.enter_context(opened(router, planned))
        _check(ends, planned)
        planned = _record(router, planned)
        try:
            _copy(ends, planned, step)
            step("switch")
            _switch(router, planned)
        except (Exception, KeyboardInterrupt) as error:
            _settle(ends, planned, step, error)
        else:
            _finish(ends, planned, step)
        step("done")
    return planned


def recover(router: Session, tenant: UUID | None = None) -> list[tuple[Move, str]]:
    """Undo or finish what movers that are gone left; of each what became of it: one of OUTCOMES.

    Or a sentence, where it can be neither yet; the others are ended all the same.
    """
    return [(left, _recover(router, left)) for left in moves(router) if tenant in (None, left.tenant)]


def _recover(router: Session, left: Move) -> str:
    try:
        with (
            database_errors("one of its servers"),
            mine(router, left.tenant, patience=3.0),
            opened(router, left, patient=True) as ends,
        ):
            state = _directory(router, STATE, left)
            if state == "switched":
                finish(ends, left, _alone_content)
            elif state == "copying":
                undo(ends, left)
            return str(_directory(router, OUTCOME, left))
    except AtWorkError:
        return "at work"
    except DatabaseError as error:
        return f"left as it is ({error})"


def _settle(ends: Ends, planned: Move, step: Step, error: BaseException) -> None:
    """After `error`: undo and raise it, or finish, by what the router has committed and by nothing else."""
    tenant, source, target = planned.tenant, planned.source.name, planned.target.name
    with ExitStack() as stack:
        with _or_recover(
            f"it is not known whether tenant {tenant} lies on {source} or {target}, which hold it both"
        ):
            ends = stack.enter_context(reached(ends, tenant))
            state = _directory(ends.router, STATE, planned)
            outcome = _directory(ends.router, OUTCOME, planned)
        if state == "switched":
            _finish(ends, planned, step)
        elif state == "copying":
            with _or_recover(f"tenant {tenant} lies on {source} still, but its move is not undone", error):
                undo(ends, planned)
        if state != "switched" and outcome != "moved":
            raise error


def undo(ends: Ends, planned: Move) -> None:
    """Before the switch: the source serves again, and the target holds nothing of the tenant."""
    ends.source.execute(OPEN, (planned.tenant,))
    copying.clear(ends.target, planned.tenant)
    with ends.router.transaction():
        ends.router.execute(DECIDED, ("undone", planned.tenant))
        ends.router.execute(OVER, (planned.tenant,))


def _finish(ends: Ends, planned: Move, step: Step) -> None:
    """A mover's own: since contents were compared nobody got past its locks, so that counts are a proof."""
    with _or_recover(
        f"tenant {planned.tenant} lies on {planned.target.name} now, but its move is not finished"
    ):
        finish(ends, planned, _counts, step)


def finish(ends: Ends, planned: Move, measure: Measure, step: Step = lambda name: None) -> None:
    """After the switch: the target serves, and the source holds nothing of the tenant.

    Before, both ends are compared by `measure`, while both refuse the tenant; that they are alike is recorded
    before the target is opened, since it may be another the moment after.
    """
    tenant, source = planned.tenant, planned.source.name
    step("open the target")
    if _directory(ends.router, OUTCOME, planned) != "moved":
        _prove(
            ends, planned, measure, f"shard {source} keeps its own, and nobody is served until both are alike"
        )
        ends.router.execute(DECIDED, ("moved", tenant))
    ends.target.execute(OPEN, (tenant,))
    for session in (ends.source, ends.target):
        let_in(session, tenant)
    step("clear the source")
    copying.clear(ends.source, tenant)
    ends.target.execute("SET pgmnemo.bypass_notice = off")
    if value(ends.target, "SELECT EXISTS (SELECT FROM pgmnemo.tenant_grant WHERE tenant_id = %s)", tenant):
        for derive in DERIVE:
            ends.target.execute(derive, (tenant,))
    ends.router.execute(OVER, (tenant,))


def _copy(ends: Ends, planned: Move, step: Step) -> None:
    tenant = planned.tenant
    with database_errors("one of the two shards"):
        step("copy")
        alone(ends.target, tenant)
        ends.target.execute(CLOSE, (tenant,))
        since = copying.everything(ends.source, ends.target, tenant)
        step("hold the writers")
        alone(ends.source, tenant)
        step("copy the rest")
        copying.rest(ends.source, ends.target, tenant, since)
        step("compare")
        _prove(ends, planned, copying.content, "nothing was moved")
        step("close the source")
        ends.source.execute(CLOSE, (tenant,))


def _switch(router: Session, planned: Move) -> None:
    with database_errors("the router"), router.transaction():
        for statement in SWITCH:
            router.execute(statement.encode(), {"tenant": planned.tenant, "target": planned.target.name})


def _prove(ends: Ends, planned: Move, measure: Measure, otherwise: str) -> None:
    """Raise unless the target holds what the source holds."""
    here, there = (measure(session, planned.tenant) for session in (ends.source, ends.target))
    for what, counted in here.items():
        if there[what] != counted:
            raise DatabaseError(
                f"{there[what][0]} of {counted[0]} {what}s of tenant {planned.tenant} arrived on shard "
                f"{planned.target.name}, and not all alike; {otherwise}"
            )


def _counts(session: Session, tenant: UUID) -> copying.Content:
    return copying.content(session, tenant, sums=False)


def _alone_content(session: Session, tenant: UUID) -> copying.Content:
    alone(session, tenant)
    return copying.content(session, tenant)


def _directory(router: Session, query: str, planned: Move) -> str | None:
    """What the directory says of this very move, and of no other of the tenant."""
    found: str | None = value(router, query, planned.tenant, planned.began_at)
    return found


@contextmanager
def _or_recover(true: str, why: BaseException | None = None) -> Iterator[None]:
    """What fails inside ends in a sentence: what is true, why (else what failed), and what ends the move."""
    try:
        with database_errors("one of its servers"):
            yield
    except DatabaseError as error:
        raise DatabaseError(f"{true} ({(why and str(why)) or error}); run python -m shards recover") from None


def _record(router: Session, planned: Move) -> Move:
    try:
        began = value(
            router,
            "INSERT INTO directory.move (tenant_id, source, target) VALUES (%s, %s, %s) RETURNING began_at",
            planned.tenant, planned.source.name, planned.target.name,
        )  # fmt: skip
    except errors.UniqueViolation:
        raise DatabaseError(
            f"an earlier move of tenant {planned.tenant} was cut short; run python -m shards recover first"
        ) from None
    return replace(planned, began_at=began)


def _check(ends: Ends, planned: Move) -> None:
    tenant, source, target = planned.tenant, planned.source, planned.target
    versions = [value(session, VERSION) for session in (ends.source, ends.target)]
    if versions[0] != versions[1]:
        raise DatabaseError(
            f"shard {target.name} has pgmnemo {versions[1]}, and shard {source.name} {versions[0]}; "
            "run ALTER EXTENSION pgmnemo UPDATE on the older one"
        )
    if release(versions[0]) < release(SINCE):
        raise DatabaseError(
            f"the shards have pgmnemo {versions[0]}, and a move needs {SINCE}; "
            "run ALTER EXTENSION pgmnemo UPDATE on each"
        )
    needed = int(value(ends.source, BYTES) * value(ends.source, SHARE, tenant))
    held = value(ends.target, BYTES)
    if target.capacity is not None and held + needed > target.capacity:
        raise DatabaseError(
            f"shard {target.name} is full: it holds {held:,} of {target.capacity:,} bytes, and the tenant "
            f"needs about {needed:,}; name another shard or raise its capacity in directory.shard"
        )
    unfinished = value(ends.router, "SELECT EXISTS (SELECT FROM directory.move WHERE tenant_id = %s)", tenant)
    if not unfinished and value(ends.target, HOLDS, tenant, tenant, tenant):
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
