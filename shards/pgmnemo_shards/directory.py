"""Records of the router's directory."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from pgmnemo.errors import UsageError
from pgmnemo.postgres.server_checks import Session

SHARDS = "SELECT name, operator, capacity, address FROM directory.shard ORDER BY number"


@dataclass(frozen=True, slots=True)
class Shard:
    """A shard of the directory.

    `operator` is the connection string for an operator, `address` the one for other servers, without a user;
    `capacity` is in bytes (None: unlimited).
    """

    name: str
    operator: str
    capacity: int | None
    address: str


@dataclass(frozen=True, slots=True)
class Move:
    """A move of a tenant; the directory identifies it by its tenant and `began_at` (None: not begun)."""

    tenant: UUID
    source: Shard
    target: Shard
    began_at: datetime | None = None


def shards(router: Session) -> dict[str, Shard]:
    """Return all shards by name, in the order in which they were added."""
    return {row[0]: Shard(*row) for row in router.execute(SHARDS).fetchall()}


def shard_named(router: Session, name: str) -> Shard:
    """Return the shard with a name; raise UsageError with the known names if there is no such shard."""
    known = shards(router)
    if name not in known:
        listed = ", ".join(known) or "(none)"
        raise UsageError(f"there is no shard {name!r}; the directory names: {listed}")
    return known[name]


def shard_of(router: Session, tenant: UUID) -> Shard:
    """Return the shard of a tenant; raise UsageError if the directory does not know the tenant."""
    row = router.execute("SELECT shard FROM directory.tenant WHERE tenant_id = %s", (tenant,)).fetchone()
    if row is None:
        raise UsageError(f"the directory knows no tenant {tenant}; grant it to a login first")
    return shards(router)[row[0]]


def moves(router: Session) -> list[Move]:
    """Return the moves that are not completed, the oldest first."""
    known = shards(router)
    rows = router.execute(
        "SELECT tenant_id, source, target, began_at FROM directory.move ORDER BY began_at"
    ).fetchall()
    return [Move(tenant, known[source], known[target], began) for tenant, source, target, began in rows]
