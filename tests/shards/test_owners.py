"""A shard whose extension a superuser owns, where no policy binds: a move touches its own tenant alone."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg import sql

from pgmnemo.postgres.releases import default_version
from pgmnemo_shards import cli, moving
from tests.shards.conftest import Connection, Site, fill, store

TABLES = ("lesson", "passage", "lesson_edge", "posting", "tenant", "tenant_grant")


def holding(database: Connection, lessons: int) -> UUID:
    """A tenant with lessons that no directory knows of."""
    tenant = uuid4()
    database.execute("SELECT pgmnemo.grant_tenant(%s, 'alice')", (tenant,))
    fill(database, tenant, lessons)
    return tenant


def held(database: Connection, tenants: list[UUID]) -> dict[str, list[tuple[object, ...]]]:
    """Every row of theirs."""
    query = "SELECT r::text FROM pgmnemo.{} r WHERE tenant_id = ANY (%s) ORDER BY 1"
    return {
        table: database.execute(sql.SQL(query).format(sql.Identifier(table)), (tenants,)).fetchall()
        for table in TABLES
    }


@pytest.fixture
def lenient(site: Site) -> Iterator[str]:
    """A database on the server of shard2 in which the superuser installed the extension."""
    site.tenant(login="alice")
    site.run("shard2", "CREATE DATABASE lenient TEMPLATE template0")
    try:
        yield psycopg.conninfo.make_conninfo("", **site.cluster.conninfo("shard2", "lenient"))
    finally:
        site.run("router", "DELETE FROM directory.tenant WHERE shard = 'lenient'")
        site.run("router", "DELETE FROM directory.shard WHERE name = 'lenient'")
        site.run("shard2", "DROP DATABASE lenient WITH (FORCE)")


def test_a_move_to_and_from_a_shard_of_a_superuser_touches_nobody_else(
    site: Site, lenient: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with psycopg.connect(lenient, autocommit=True, options="-c pgmnemo.gate_strict=off") as database:
        database.execute("CREATE EXTENSION vector")
        database.execute(f"CREATE EXTENSION pgmnemo VERSION '{default_version()}'".encode())
        others = [holding(database, lessons) for lessons in (150, 250)]
        before = held(database, others)
        assert len(before["lesson"]) == 400

        router = site.cluster.operator("router")
        address = lenient.replace("user=postgres ", "")
        given = ["--address", address, "--operator", lenient, "--router", router]
        assert cli.main(["import", "lenient", *given]) == 0, capsys.readouterr().err
        told = capsys.readouterr().out
        assert "owned by postgres, whom row-level security does not bind" in told
        assert "the directory knows 2 tenants of shard lenient now" in told

        tenant = site.tenant("shard1")
        fill(site.connect("alice"), tenant, 30)
        mine = held(site.connect("postgres", "shard1"), [tenant])
        moving.move(site.router, tenant, "lenient")
        assert held(database, others) == before
        assert held(database, [tenant])["lesson"] == mine["lesson"]
        assert store(site.connect("alice"), tenant, "k30", "The heron has gone.") == "updated"
        moving.move(site.router, tenant, "shard1")
        assert held(database, others) == before
        assert not any(held(database, [tenant]).values())
        assert len(held(site.connect("postgres", "shard1"), [tenant])["lesson"]) == 30
