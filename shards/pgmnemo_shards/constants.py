"""Names that the router, the shards and the commands share."""

from __future__ import annotations

from pathlib import Path

DATABASE = "pgmnemo"  # on the router and on every shard
ROUTER_ROLE = "pgmnemo_router"  # owns the functions that read the directory; a login on the shards
IDS_PER_SHARD = 2**40  # ids of lessons in a shard's block
SQL = Path(__file__).parent / "sql"
