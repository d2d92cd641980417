"""One PostgreSQL with a database for each version: the one that was reviewed, which has the holes, and ours.

An ordinary role owns the extension. alice holds tenant A, bob tenant B, dual both, mallory none; each logs in
by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from pgmnemo.places import SQL_FOLDER
from pgmnemo.server.embedded import embedded_server
from tests.security.attacked import GRANTS, OURS, REVIEWED, ROLES, Server, Site


@pytest.fixture(scope="session", params=[18, 16], ids=["pg18", "pg16"])
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    with embedded_server(SQL_FOLDER, OURS, postgres=request.param) as conninfo:
        started = Server(dict(conninfo), request.param)
        with started.connect("postgres") as root:
            for role in ROLES:
                root.execute(f"CREATE ROLE {role} LOGIN")
        yield started


@pytest.fixture
def make_site(server: Server) -> Iterator[Callable[..., Site]]:
    """A database of its own for a version, after what a superuser does before the extension comes."""
    with ExitStack() as stack:

        def make(version: str, *before: str, name: str = "attacked", keeper: str = "keeper") -> Site:
            server.create(name, *before)
            with server.connect(name, keeper) as owner:
                owner.execute(f"CREATE EXTENSION pgmnemo VERSION '{version}'")
                for role, tenant in GRANTS:
                    owner.execute("SELECT pgmnemo.grant_tenant(%s, %s)", (tenant, role))
            return Site(server, version, name, stack)

        yield make


@pytest.fixture(params=[REVIEWED, OURS])
def site(request: pytest.FixtureRequest, make_site: Callable[..., Site]) -> Site:
    return make_site(request.param)


@pytest.fixture
def holds() -> Callable[[Site, object], None]:
    """An attack got something from the version with the holes, which proves it, and nothing from ours."""

    def compare(site: Site, leaked: object) -> None:
        if site.old:
            assert leaked, "the attack no longer finds the hole that it is written for"
        else:
            assert not leaked

    return compare


@pytest.fixture(scope="session")
def sentences() -> str:
    """What the README says of tenants, dumps and roles, in one line."""
    return " ".join((SQL_FOLDER / "README.md").read_text("utf-8").split())
