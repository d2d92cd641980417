"""Ten thousand tenants on three shards: directory, routes and upkeep.

    python benchmarks/scale/tenants.py benchmarks/scale/tenants.json

Each tenant is placed and granted by the router's own verb, as an application would, and stores a lesson; the
first and the last of them one by one, and timed. Nothing waits for the disk (fsync off): the processor's work
is measured.
"""

from __future__ import annotations

import json
import os
import random
import sys
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from benchmarks.scale.measure import ms, timed
from pgmnemo.calls import execute, grant_tenant, recall, store
from pgmnemo.postgres.connections import connect
from pgmnemo.postgres.releases import default_version
from pgmnemo.postgres.server_checks import Session, value
from pgmnemo_shards import balancing, local
from pgmnemo_shards.installing import open_operator
from pgmnemo_shards.local import Local
from pgmnemo_shards.status import shard_rows
from pgmnemo_shards.temporary_folder import temporary_folder

TENANTS, FIRST, ASKED, LOGIN = 10_000, 100, 400, "app"
BULK = (
    "SELECT count(pgmnemo.grant_tenant(t, 'app')) FROM unnest(%s::uuid[]) AS t",
    "SELECT count(pgmnemo.store(t, t, 'k', 'Tenant ' || t || ' keeps a heron.', commit_sha => 'c0ffee')) "
    "FROM unnest(%s::uuid[]) AS t",
)
SIZE = """
SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c WHERE c.relnamespace = 'directory'::regnamespace
"""
CHANCE = random.Random(42)


def every(operator: Session, verb: str) -> float:
    return timed(lambda: operator.execute(f"SELECT * FROM pgmnemo.{verb}()".encode()).fetchall())


def filled(operator: Session, client: Session, tenants: list[UUID]) -> dict[str, Any]:
    """Return what it takes to place, grant and store."""
    grants, stores = [], []
    for tenant in tenants:
        note = store(tenant, tenant, "k", f"Tenant {tenant.hex[:6]} keeps a heron.", commit_sha="c0ffee")
        grants.append(timed(lambda t=tenant: execute(operator, grant_tenant(t, LOGIN))))
        stores.append(timed(lambda call=note: execute(client, call)))
    return {"grant_ms": ms(grants), "store_ms": ms(stores)}


def bulk(operator: Session, client: Session, tenants: list[UUID]) -> None:
    """The same, many with a statement."""
    for start in range(0, len(tenants), 200):
        for session, statement in zip((operator, client), BULK, strict=True):
            session.execute(statement.encode(), (tenants[start : start + 200],))


def asked(operator: Session, client: Session, tenants: list[UUID]) -> dict[str, Any]:
    """Return what a look-up, a recall and what the operator asks take with so many tenants."""
    some = [CHANCE.choice(tenants) for _ in range(ASKED)]
    question = {"query_text": "heron", "k": 5, "columns": ("external_id",)}
    for tenant in some[:20]:
        execute(client, recall(tenant, **question))
    look = "SELECT pgmnemo._place(%s)"
    return {
        "tenants": len(tenants),
        "directory_bytes": int(value(operator, SIZE)),
        "look_ms": ms([timed(lambda t=t: operator.execute(look, (t,)).fetchall()) for t in some]),
        "recall_ms": ms([timed(lambda t=t: execute(client, recall(t, **question))) for t in some]),
        "status_ms": round(timed(lambda: shard_rows(operator)), 1),
        "list_shards_ms": round(every(operator, "list_shards"), 1),
        "list_grants_ms": round(every(operator, "list_grants"), 1),
        "rebalance_plan_ms": round(timed(lambda: balancing.plan_rebalance(operator)), 1),
        "upkeep_ms": round(every(operator, "maintain"), 1),
    }  # fmt: skip


def measured(site: Local, most: int) -> dict[str, Any]:
    tenants = [uuid4() for _ in range(most)]
    with open_operator(site.conninfo()) as operator:
        operator.execute("SELECT pgmnemo.create_login(%s)", (LOGIN,))
        with connect({**site.conninfo(), "user": LOGIN}) as client:
            first = {**filled(operator, client, tenants[:FIRST]), **asked(operator, client, tenants[:FIRST])}
            bulk(operator, client, tenants[FIRST:-FIRST])
            operator.execute("ANALYZE")
            last = {**filled(operator, client, tenants[-FIRST:]), **asked(operator, client, tenants)}
        placed = operator.execute("SELECT shard, placed, held FROM pgmnemo.list_shards()").fetchall()
    return {"first": first, "last": last, "placed_and_held": {name: counts for name, *counts in placed}}


def main(output: Path, most: int = TENANTS) -> None:
    found: dict[str, Any] = {
        "pgmnemo": default_version(), "cores": os.cpu_count(), "load_before": os.getloadavg()[0]
    }  # fmt: skip
    with temporary_folder() as folder:
        try:
            found |= measured(local.up(folder, 3, volatile=True), most)
        finally:
            local.down(folder)
    found["load_after"] = os.getloadavg()[0]
    output.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:3]))
