"""The battery of tests/security, through the router: nobody reaches, changes or holds up another tenant.

What a call does on a shard stays when the caller's transaction on the router is rolled back. So what a role
writes to its own tenants is there afterwards, and after each role what the shards hold of all others is
compared. A and B lie on one shard, C on another.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import psycopg
import pytest

from pgmnemo_shards.local import Local
from tests.security import test_battery
from tests.security.attacked import OURS, PROJECT, A, B, Connection, Server, Site, vector
from tests.security.test_battery import OPEN, REACHES, Battery, C, fill, spring_traps, tenants_of_others
from tests.security.test_findings import MARKS
from tests.shards.conftest import cluster_of

ROLES = ("keeper", "mallory", "alice", "bob", "dual", "crew", "heir", "bare", "newcomer", "revenant")
PLACES = {A: "shard1", B: "shard1", C: "shard2"}
GRANTS = ((A, "alice"), (B, "bob"), (A, "dual"), (B, "dual"), (C, "crew"), (A, "newcomer"), (A, "revenant"))
OF_THE_ROUTER = {
    "lesson": "tenant", "passage": "shard", "posting": "move", "lesson_edge": "moved", "tenant": "replica",
    "tenant_grant": "beat", "caller_key": "number",
}  # fmt: skip
TABLE = re.compile(r"\bpgmnemo\.([a-z_]+)\b(?!\()")
HELPERS = (
    "_place('{t}')", "_place('{t}', '1 hour')", "_beat('host=/ dbname=x')", "_room('host=/ dbname=x')",
    "_grant_tenant('{t}', '{r}')", "grant_tenant('{t}', '{r}')", "revoke_tenant('{t}', 'bob')",
    "place_tenant('{t}', 'shard2')", "list_shards()", "list_grants()", "create_login('x')", "maintain()",
    "open_staging('{t}')", "_state('host=/ dbname=x')", "_holds('host=/ dbname=x', '{t}')",
    "_grants('host=/ dbname=x')", "_make_login('host=/ dbname=x', '{r}')", "_revoke_tenant('{t}', 'bob')",
    "_shard('{t}')", "_to_check('{t}', NULL)", "_to_forget_all('{t}', NULL, NULL)",
)  # fmt: skip
FORGED = (
    '{{"acting_tenant": "{t}"}}', '{{"tenant_id": "{t}"}}', '{{"caller": "(bob,x)"}}',
    '{{"gate_strict": "off"}}',
    '{{"text_config": "pg_temp.c"}}', '{{"role": "bob"}}', '{{"search_path": "mallory"}}', "[]", "7", "null",
)  # fmt: skip


@dataclass
class Routed(Site):
    """The same callers, on the router; what lies on the shards is read there."""

    cluster: Local | None = None

    def connect(self, role: str | None = None, tenant: UUID | None = None, **settings: object) -> Connection:
        assert self.cluster is not None
        given = {"pgmnemo.gate_strict": "off", "lock_timeout": "200ms", **settings}
        if tenant is not None:
            given["pgmnemo.tenant_id"] = tenant
        options = " ".join(f"-c {name}={value}" for name, value in given.items())
        conninfo = {**self.cluster.conninfo(), "user": role or "postgres", "options": options}
        return self.open.enter_context(psycopg.connect(**conninfo, autocommit=True))

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """Of every shard."""
        assert self.cluster is not None
        found: list[tuple[Any, ...]] = []
        for name in ("shard1", "shard2"):
            with psycopg.connect(**self.cluster.conninfo(name), autocommit=True) as shard:
                found += [(name, *row) for row in shard.execute(query.encode(), values or None)]
        return found

    def everywhere(self, *statements: str) -> None:
        assert self.cluster is not None
        for name in ("router", "shard1", "shard2"):
            with psycopg.connect(**self.cluster.conninfo(name), autocommit=True) as server:
                for statement in statements:
                    server.execute(statement.encode())


@pytest.fixture(scope="module")
def routed(plproxy: None) -> Iterator[Routed]:
    with cluster_of(2) as cluster, ExitStack() as stack:
        site = Routed(Server({}, 15), OURS, "pgmnemo", stack, cluster=cluster)
        site.everywhere(*(f"CREATE ROLE {role} LOGIN" for role in ROLES))
        # PostgreSQL 15 has no membership without SET ROLE, so bare is a member on the shards alone.
        site.everywhere("GRANT crew TO heir")
        with psycopg.connect(**cluster.conninfo("shard2"), autocommit=True) as shard:
            shard.execute("GRANT crew TO bare WITH INHERIT FALSE, SET FALSE")
        root = site.connect()
        for mark in (*MARKS, *OPEN):
            root.execute(mark.encode())
        for tenant, shard_name in PLACES.items():
            root.execute("SELECT pgmnemo.place_tenant(%s, %s)", (tenant, shard_name))
        for tenant, role in GRANTS:
            root.execute("SELECT pgmnemo.grant_tenant(%s, %s)", (tenant, role))
        site.everywhere(
            "ALTER ROLE newcomer RENAME TO veteran", "DROP ROLE revenant", "CREATE ROLE newcomer LOGIN",
            "CREATE ROLE revenant LOGIN",
        )  # fmt: skip
        for role, tenant in (("alice", A), ("bob", B), ("crew", C)):
            client = site.connect(role, **{"pgmnemo.hnsw_min_vectors": 0})
            fill(site, client, tenant)
            # what a victim stores while somebody attacks, so that storing it again changes nothing
            site.store(client, tenant, "during", "stored during an attack", embedding=vector(1, 2))
        yield site


def attempts(role: str) -> Iterator[tuple[str, list[str], bool]]:
    """The battery's own, the same on the directory's tables, and on what the router has besides."""
    for kind, statements, held in test_battery.attempts(role):
        # without forget_all, which would leave nothing to attack
        yield kind, [text for text in statements if "forget_all" not in text or "own" not in kind], held
        found = TABLE.search(statements[-1])
        if found and found[1] in OF_THE_ROUTER:
            other = f"directory.{OF_THE_ROUTER[found[1]]}"
            yield f"{kind}, directory", [TABLE.sub(other, text) for text in statements], held
    for tenant in tenants_of_others(role):
        for helper in HELPERS:
            yield "the router's own", [f"SELECT * FROM pgmnemo.{helper.format(t=tenant, r=role)}"], True
        for settings in FORGED:
            given = f"'{tenant}', query_text => 'river', settings => '{settings.format(t=tenant)}'"
            for arguments in (given, f"{given}, staleness => '1 hour'"):
                yield "forged settings", [f"SELECT * FROM pgmnemo.recall({arguments})"], False


def others(battery: Battery, role: str) -> set[tuple[Any, ...]]:
    """What the shards hold of tenants that the role does not reach, and grants, keys and objects."""
    return {row for row in battery.state() if row[2] not in REACHES[role]}


@contextmanager
def unchanged(battery: Battery, role: str) -> Iterator[None]:
    """What is others' is the same afterwards, or a leak."""
    before = others(battery, role)
    yield
    if before != (after := others(battery, role)):
        battery.leaks.append(("state", role, "all of it", str(sorted(before ^ after, key=str))))


def test_the_battery_finds_nothing_through_the_router(
    routed: Routed, capsys: pytest.CaptureFixture[str]
) -> None:
    battery = Battery(routed, hnsw_tables=())
    for role in REACHES:
        with unchanged(battery, role):
            for kind, statements, held in attempts(role):
                battery.attack(kind, role, statements, held=held, all_of_it=kind.startswith("setting"))
    with unchanged(battery, "bob"):  # who stores there
        spring_traps(battery)
    battery.tell(capsys)
    assert battery.leaks == []
    assert battery.tried.total() > 3000
    assert battery.passed["setting, own tenant"] > 100
    assert set(battery.refused["verb by argument"]) <= {"42501"}
    assert set(battery.refused["forged settings"]) <= {"42501", "22023"}
    assert "42501" in battery.refused["the router's own"]


def test_the_battery_would_see_a_leak_and_a_change_through_the_router(routed: Routed) -> None:
    """With grants that nobody should give."""
    root, battery = routed.connect(), Battery(routed, hnsw_tables=())
    for tenant in (A, B):
        root.execute("SELECT pgmnemo.grant_tenant(%s, 'mallory')", (tenant,))
        recall = f"SELECT * FROM pgmnemo.recall('{tenant}', query_text => 'river')"
        battery.attack("verb by argument", "mallory", [recall])
    told = ("bratislava", "alpharetta", "key-of-a", "key-of-b")
    assert {leak[3] for leak in battery.leaks} == {f"told {secret}" for secret in told}
    for call, changed in {
        f"store('{B}', '{PROJECT}', 'key', 'planted')": {"lesson", "posting"},
        f"repair('{B}')": {"posting"},  # the same words, in other blocks
    }.items():
        battery.leaks.clear()
        before = others(battery, "mallory")
        with unchanged(battery, "mallory"):
            battery.attack("verb by argument", "mallory", [f"SELECT * FROM pgmnemo.{call}"])
        assert [leak[:2] for leak in battery.leaks] == [("state", "mallory")]
        assert {row[1:3] for row in before ^ others(battery, "mallory")} == {(kind, B) for kind in changed}
