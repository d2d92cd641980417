"""How the shards are, one by one: those that are down stand in the table too."""

from __future__ import annotations

from pgmnemo.errors import DatabaseError
from pgmnemo.server.server_checks import Session
from shards.installing import at_shard

PLACES = """
SELECT s.name, s.operator, (SELECT count(*) FROM directory.tenant t WHERE t.shard = s.name),
       s.capacity, s.open
  FROM directory.shard s ORDER BY s.number
"""
Row = tuple[str, str, str, str, str, str, str]


def state(router: Session) -> list[Row]:
    """Return a row a shard: name, version, tenants placed and held, MB, most MB, whether it takes new
    tenants.
    """
    rows = []
    for name, operator, placed, capacity, new in router.execute(PLACES).fetchall():
        most = "-" if capacity is None else f"{capacity / 1e6:,.0f}"
        rows.append((name, *_asked(name, operator, placed), most, "yes" if new else "no"))
    return rows


def _asked(name: str, operator: str, placed: int) -> tuple[str, str, str, str]:
    try:
        with at_shard(name, operator) as shard:
            row = shard.execute("SELECT version, tenants, bytes FROM pgmnemo_shard.state()").fetchall()[0]
    except DatabaseError:
        return "down", str(placed), "-", "-"
    return str(row[0]), str(placed), str(row[1]), f"{row[2] / 1e6:,.1f}"
