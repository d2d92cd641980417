"""The commands on tenants and logins."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated
from uuid import UUID

from cyclopts import Parameter

from pgmnemo.errors import DatabaseError, UsageError
from pgmnemo.postgres.server_checks import Session, value
from pgmnemo.terminal import console, grid
from pgmnemo_shards import balancing, moving
from pgmnemo_shards.balancing import MEGABYTE, Budget, Planned
from pgmnemo_shards.options import Folder, Router, app, router_session

DryRun = Annotated[bool, Parameter(help="only show the moves that would be made")]
MaxMoves = Annotated[int | None, Parameter(help="end after so many moves")]
Megabytes = Annotated[float | None, Parameter(name="--mb", help="end before more than so many MB have gone")]
Seconds = Annotated[float | None, Parameter(help="begin no move after so many seconds")]


@app.command
def login(name: str, *, folder: Folder = None, router: Router = None) -> None:
    """Create a login on the router and on every shard."""
    missing: list[str] = []
    with router_session(folder, router) as session:
        session.add_notice_handler(lambda told: missing.append(str(told.message_primary)))
        session.execute("SET client_min_messages = warning")
        session.execute("SELECT pgmnemo.create_login(%s)", (name,))
    if missing:
        raise DatabaseError(f"{'; '.join(missing)}; run this again when it is back (a grant does it, too)")


@app.command
def grant(
    tenant: UUID, login: str, *, shard: str | None = None, folder: Folder = None, router: Router = None
) -> None:
    """Grant a login access to a tenant; a new tenant is first placed on a shard.

    Parameters
    ----------
    shard
        shard for a new tenant; else the shard that has its rows, else the open shard with fewest tenants
    """
    with router_session(folder, router) as session:
        where = value(session, "SELECT pgmnemo.place_tenant(%s, %s)", tenant, shard)
        session.execute("SELECT pgmnemo.grant_tenant(%s, %s)", (tenant, login))
        print(f"tenant {tenant} lies on {where}")


@app.command
def revoke(tenant: UUID, login: str, *, folder: Folder = None, router: Router = None) -> None:
    """Revoke a login's access to a tenant; the tenant's lessons stay."""
    with router_session(folder, router) as session:
        if not value(session, "SELECT pgmnemo.revoke_tenant(%s, %s)", tenant, login):
            raise UsageError(f"login {login} has no grant for tenant {tenant}, so there is none to take back")
        print(f"login {login} reaches tenant {tenant} no more")


@app.command
def move(tenant: UUID, shard: str, *, folder: Folder = None, router: Router = None) -> None:
    """Move a tenant to another shard while it is read and written."""
    with router_session(folder, router) as session:
        done = moving.move(session, tenant, shard, lambda step: print(step, file=sys.stderr))
        print(f"tenant {tenant} moved from {done.source.name} to {done.target.name}")


@app.command
def recover(*, tenant: UUID | None = None, folder: Folder = None, router: Router = None) -> None:
    """Undo or finish interrupted moves."""
    with router_session(folder, router) as session:
        outcomes = recover_and_print(session, tenant)
        if not outcomes:
            print("no move was left")
        if not moving.OUTCOMES.issuperset(outcomes):
            raise DatabaseError(
                "not every move could be ended; mend what is named above and run recover again"
            )


def recover_and_print(session: Session, tenant: UUID | None = None) -> list[str]:
    """Recover unfinished moves, print their outcomes, and return the outcomes."""
    outcomes = moving.recover(session, tenant)
    for left, outcome in outcomes:
        print(f"move of {left.tenant} from {left.source.name} to {left.target.name}: {outcome}")
    return [outcome for _, outcome in outcomes]


@app.command
def drain(
    shard: str, *, dry_run: DryRun = False, max_moves: MaxMoves = None, mb: Megabytes = None,
    seconds: Seconds = None, folder: Folder = None, router: Router = None,
) -> None:  # fmt: skip
    """Close a shard to new tenants, and move every tenant away from it."""
    with router_session(folder, router) as session:
        if not dry_run:
            balancing.close_to_new_tenants(session, shard)
        _run_plan(session, balancing.plan_drain(session, shard), dry_run, _budget(max_moves, mb, seconds))


@app.command
def rebalance(
    *, dry_run: DryRun = False, max_moves: MaxMoves = None, mb: Megabytes = None, seconds: Seconds = None,
    folder: Folder = None, router: Router = None,
) -> None:  # fmt: skip
    """Move tenants until the open shards hold about the same number of bytes."""
    with router_session(folder, router) as session:
        _run_plan(session, balancing.plan_rebalance(session), dry_run, _budget(max_moves, mb, seconds))


def _budget(max_moves: int | None, mb: float | None, seconds: float | None) -> Budget:
    for name, given in (("max-moves", max_moves), ("mb", mb), ("seconds", seconds)):
        if given is not None and given <= 0:
            raise UsageError(f"--{name} is {given}, but must be above 0; leave it out for no limit")
    return Budget(max_moves, None if mb is None else int(mb * MEGABYTE), seconds)


def _run_plan(session: Session, plan: Sequence[Planned], dry_run: bool, budget: Budget) -> None:
    if not plan:
        print("nothing is to be moved")
        return
    if dry_run:
        table = grid("moves")
        for column in ("tenant", "MB", "from", "to"):
            table.add_column(column, justify="right" if column == "MB" else "left")
        for planned in budget.within(plan):
            table.add_row(
                str(planned.tenant), f"{planned.bytes / MEGABYTE:,.1f}", planned.source, planned.target
            )
        console(100).print(table)
        return
    done, failed = balancing.run_plan(session, plan, budget, lambda line: print(line, flush=True))
    print(f"{done} of {len(plan)} planned moves were made")
    if failed:
        raise DatabaseError(f"{'; '.join(failed)}; mend what is named and run this again")
