"""Plan and make the moves of many tenants, which empty one shard or balance the bytes of all."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from pgmnemo.errors import DatabaseError, UsageError
from pgmnemo.postgres.server_checks import Session
from pgmnemo_shards import moving
from pgmnemo_shards.directory import shard_named
from pgmnemo_shards.installing import shard_session

SHARDS = "SELECT name, operator, capacity, open FROM directory.shard ORDER BY number"
PLACED = "SELECT tenant_id FROM directory.tenant WHERE shard = %s ORDER BY tenant_id"
HELD = "SELECT tenant_id, bytes FROM pgmnemo_shard.tenants()"
CLOSED = "UPDATE directory.shard SET open = false WHERE name = %s"
TOLERANCE = 0.1  # share of the mean: a smaller difference between shards is accepted
MEGABYTE = 1_000_000


@dataclass(slots=True)
class Load:
    """A shard with its planned contents: the tenants on it, each with its size in bytes."""

    name: str
    capacity: int | None
    open: bool
    tenants: dict[UUID, int]

    @property
    def bytes(self) -> int:
        return sum(self.tenants.values())

    def has_room(self, size: int) -> bool:
        return self.capacity is None or self.bytes + size <= self.capacity


@dataclass(frozen=True, slots=True)
class Planned:
    """A planned move, with its approximate size in bytes."""

    tenant: UUID
    bytes: int
    source: str
    target: str


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits of a series of moves: their number, bytes and seconds; a move that has begun is
    completed.
    """

    moves: int | None = None
    bytes: int | None = None
    seconds: float | None = None

    def within(self, plan: Sequence[Planned]) -> Iterator[Planned]:
        """Yield the planned moves that are within the budget."""
        began, moved = time.monotonic(), 0
        for number, planned in enumerate(plan):
            if (
                (self.moves is not None and number >= self.moves)
                or (self.bytes is not None and moved + planned.bytes > self.bytes)
                or (self.seconds is not None and time.monotonic() - began >= self.seconds)
            ):
                return
            moved += planned.bytes
            yield planned


def loads(router: Session) -> list[Load]:
    """Return the load of every shard that answers."""
    found = []
    for name, operator, capacity, new in router.execute(SHARDS).fetchall():
        placed = [tenant for (tenant,) in router.execute(PLACED, (name,)).fetchall()]
        try:
            with shard_session(name, operator) as shard:
                held: Mapping[UUID, int] = dict(shard.execute(HELD).fetchall())
        except DatabaseError:
            continue
        found.append(Load(name, capacity, new, {tenant: held.get(tenant, 0) for tenant in placed}))
    return found


def plan_drain(router: Session, name: str) -> list[Planned]:
    """Return the moves that empty a shard: the largest tenant first, to the shard with the fewest bytes."""
    shard_named(router, name)
    known = {load.name: load for load in loads(router)}
    if name not in known:
        raise DatabaseError(f"shard {name} does not answer; its tenants can be moved when it is back")
    source = known.pop(name)
    others = [load for load in known.values() if load.open]
    plan = []
    for tenant, size in sorted(source.tenants.items(), key=lambda one: -one[1]):
        target = min(
            (load for load in others if load.has_room(size)), key=lambda load: load.bytes, default=None
        )
        if target is None:
            raise UsageError(
                f"no other shard takes new tenants and has room for {size / MEGABYTE:,.1f} MB; add one with "
                "pgmnemo-shards add"
            )
        target.tenants[tenant] = size
        plan.append(Planned(tenant, size, name, target.name))
    return plan


def plan_rebalance(router: Session) -> list[Planned]:
    """Return the moves after which the open shards have about the same number of bytes."""
    open_ = [load for load in loads(router) if load.open]
    plan: list[Planned] = []
    while len(open_) > 1:
        full, empty = (pick(open_, key=lambda load: load.bytes) for pick in (max, min))
        gap = full.bytes - empty.bytes
        if gap <= TOLERANCE * sum(load.bytes for load in open_) / len(open_):
            break
        fitting = [
            (abs(gap - 2 * size), tenant)
            for tenant, size in full.tenants.items()
            if 0 < size < gap and empty.has_room(size)
        ]
        if not fitting:
            break
        tenant = min(fitting)[1]
        size = empty.tenants[tenant] = full.tenants.pop(tenant)
        plan.append(Planned(tenant, size, full.name, empty.name))
    return plan


def close_to_new_tenants(router: Session, name: str) -> None:
    """Mark a shard in the directory so that no new tenant is placed on it."""
    router.execute(CLOSED, (name,))


def run_plan(
    router: Session, plan: Sequence[Planned], budget: Budget, say: Callable[[str], None]
) -> tuple[int, list[str]]:
    """Make the planned moves within the budget.

    Return the number of moves made, and a sentence for each move that failed.
    """
    done, failed = 0, []
    for planned in budget.within(plan):
        try:
            moving.move(router, planned.tenant, planned.target)
        except DatabaseError as error:
            failed.append(f"tenant {planned.tenant} stays on {planned.source}: {error}")
            continue
        done += 1
        say(
            f"{planned.tenant} moved from {planned.source} to {planned.target}, "
            f"{planned.bytes / MEGABYTE:,.1f} MB"
        )
    return done, failed
