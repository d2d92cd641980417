"""One router with three shards for the whole session, on files of this session's own.

Where Debian's PL/Proxy is missing these tests skip; with PGMNEMO_REQUIRE_PLPROXY=1, as in CI, they fail.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from pgmnemo.errors import DatabaseError
from pgmnemo_shards import local, moving
from pgmnemo_shards.debian import router_home
from pgmnemo_shards.local import Local
from tests.helping import short_base

REQUIRED = "PGMNEMO_REQUIRE_PLPROXY"
PROJECT = UUID(int=1)
FILL = """
SELECT count(*) FROM pgmnemo.store_set(%s, array(
    SELECT ROW(%s::uuid, 'k' || n, 'The heron number ' || n, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
               NULL, NULL, ARRAY['heron', 'river'], NULL, n, NULL)::pgmnemo.lesson_input
      FROM generate_series(1, %s) n))
"""
Connection = psycopg.Connection[Any]


@dataclass
class Site:
    """A cluster that is up, and connections that end with the test."""

    cluster: Local
    open: ExitStack = field(default_factory=ExitStack)

    @property
    def router(self) -> Connection:
        return self.connect("postgres")

    def connect(self, user: str, server: str = "router") -> Connection:
        """On the router; with the gate of provenance off."""
        conninfo = {**self.cluster.conninfo(server), "user": user, "options": "-c pgmnemo.gate_strict=off"}
        return self.open.enter_context(psycopg.connect(**conninfo, autocommit=True))

    def tenant(self, shard: str | None = None, login: str = "alice") -> UUID:
        """A new one, granted to `login`."""
        tenant = uuid4()
        with self.connect("postgres") as router:
            router.execute("SELECT pgmnemo.create_login(%s)", (login,))
            router.execute("SELECT pgmnemo.place_tenant(%s, %s)", (tenant, shard))
            router.execute("SELECT pgmnemo.grant_tenant(%s, %s)", (tenant, login))
        return tenant

    def rows(self, server: str, query: str, *values: object) -> list[tuple[Any, ...]]:
        """As the operator on one server."""
        with self.connect("postgres", server) as session:
            return session.execute(query.encode(), values or None).fetchall()

    def run(self, server: str, statement: str, *values: object) -> None:
        """As the operator on one server."""
        with self.connect("postgres", server) as session:
            session.execute(statement.encode(), values or None)


def fill(client: Connection, tenant: UUID, lessons: int) -> None:
    """Lessons k1, k2, … with passages, and a link."""
    assert client.execute(FILL, (tenant, PROJECT, lessons)).fetchall() == [(lessons,)]
    client.execute("SELECT pgmnemo.link(%s, %s, 'k1', 'k2', 'follows')", (tenant, PROJECT))


def store(client: Connection, tenant: UUID, key: str, text: str = "") -> str:
    """One lesson by the router, with its key in its text where none is given; what became of it."""
    query = "SELECT pgmnemo.store(%s, %s, %s, %s)"
    return str(
        client.execute(
            query, (tenant, PROJECT, key, text or f"The heron {key} stands in the river.")
        ).fetchall()[0][0]
    )


def recovered(site: Site) -> list[str]:
    """What becomes of moves that were cut short."""
    return [outcome for _, outcome in moving.recover(site.router)]


def where(site: Site, tenant: UUID) -> str:
    """The shard on which the directory places a tenant."""
    return str(site.rows("router", "SELECT shard FROM directory.tenant WHERE tenant_id = %s", tenant)[0][0])


def short_folder() -> Path:
    """A folder that is not there yet, where a socket's path is short enough and anyone can go."""
    return Path(tempfile.mkdtemp(prefix="pgmnemo-t", dir=short_base())) / "c"


@contextmanager
def cluster_of(shards: int) -> Iterator[Local]:
    """A router and shards on files of their own, all gone afterwards."""
    folder = short_folder()
    folder.parent.chmod(0o755)
    try:
        yield local.up(folder, shards, volatile=True)
    finally:
        local.down(folder)
        folder.parent.rmdir()


@pytest.fixture(scope="session")
def plproxy() -> None:
    """PL/Proxy is on this machine; else skip, or fail where CI demands it."""
    try:
        router_home()
    except DatabaseError as error:
        if os.environ.get(REQUIRED) == "1":
            pytest.fail(str(error))
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def shared(plproxy: None) -> Iterator[Local]:
    """A cluster that no test may leave with a server down."""
    with cluster_of(3) as cluster:
        yield cluster


@pytest.fixture
def site(shared: Local) -> Iterator[Site]:
    found = Site(shared)
    with found.open:
        yield found
