"""Databases with the extension in two PostgreSQLs, and roles that attack it.

An ordinary role owns the extension. alice holds tenant A, bob tenant B, dual both, mallory none; each logs in
by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache

import pytest

from pgmnemo.paths import SQL_FOLDER
from pgmnemo.postgres.servers import temporary_server
from tests.security.attacked import OURS, ROLES, Server, Site
from tests.sql.conftest import POSTGRES

OTHER = 18 if POSTGRES == 16 else 16


@pytest.fixture(scope="session")
def start() -> Iterator[Callable[[int], Server]]:
    """Call it with a version of PostgreSQL for the server that runs."""
    with ExitStack() as stack:

        @cache
        def started(postgres: int) -> Server:
            conninfo = stack.enter_context(temporary_server(SQL_FOLDER, OURS, postgres=postgres))
            server = Server(dict(conninfo), postgres)
            with server.connect("postgres") as root:
                for role in ROLES:
                    root.execute(f"CREATE ROLE {role} LOGIN")
            return server

        yield started


@pytest.fixture(scope="session")
def server(start: Callable[[int], Server]) -> Server:
    return start(POSTGRES)


@pytest.fixture
def make_site(start: Callable[[int], Server]) -> Iterator[Callable[..., Site]]:
    """A database of its own for a version, after what a superuser does before the extension comes."""
    with ExitStack() as stack:

        def make(version: str, *before: str, on: int = POSTGRES) -> Site:
            name = start(on).install("attacked", version, *before)
            return Site(start(on), version, name, stack)

        yield make


@pytest.fixture(params=[POSTGRES, OTHER])
def site(request: pytest.FixtureRequest, make_site: Callable[..., Site]) -> Site:
    return make_site(OURS, on=request.param)
