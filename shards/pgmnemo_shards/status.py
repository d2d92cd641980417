"""The status of each shard, including shards that are down."""

from __future__ import annotations

from pgmnemo.errors import DatabaseError
from pgmnemo.postgres.server_checks import Session
from pgmnemo_shards.installing import shard_session

SHARDS = """
SELECT s.name, s.operator, (SELECT count(*) FROM directory.tenant t WHERE t.shard = s.name),
       s.capacity, s.open
  FROM directory.shard s ORDER BY s.number
"""
Row = tuple[str, str, str, str, str, str, str]


def shard_rows(router: Session) -> list[Row]:
    """Return a row of texts for each shard.

    The columns are name, version, tenants placed and tenants found, MB, capacity in MB, and whether it takes
    new tenants.
    """
    rows = []
    for name, operator, placed, capacity, new in router.execute(SHARDS).fetchall():
        max_mb = "-" if capacity is None else f"{capacity / 1e6:,.0f}"
        rows.append((name, *_query_shard(name, operator, placed), max_mb, "yes" if new else "no"))
    return rows


def _query_shard(name: str, operator: str, placed: int) -> tuple[str, str, str, str]:
    try:
        with shard_session(name, operator) as shard:
            row = shard.execute("SELECT version, tenants, bytes FROM pgmnemo_shard.state()").fetchall()[0]
    except DatabaseError:
        return "down", str(placed), "-", "-"
    return str(row[0]), str(placed), str(row[1]), f"{row[2] / 1e6:,.1f}"
