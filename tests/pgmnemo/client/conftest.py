"""One PostgreSQL with the extension for all tests of the client (PGMNEMO_POSTGRES names another than 18), and
a tenant of its own for each."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tests.pgmnemo.client.driving import SHELLS, Place, Shell
from tests.pgmnemo.server.memories import memories
from tests.security.attacked import OURS
from tests.sql.conftest import POSTGRES


@pytest.fixture(scope="session")
def place() -> Iterator[Place]:
    with memories(POSTGRES) as server:
        yield Place(server, server.install("client", OURS))


@pytest.fixture(params=SHELLS)
def shell(request: pytest.FixtureRequest) -> Iterator[Shell]:
    """Each of both in turn."""
    with asyncio.Runner() as runner, ExitStack() as stack:
        yield Shell(request.param, stack, runner)


@pytest.fixture
def memory(shell: Shell, place: Place) -> Any:
    """Words alone, as alice."""
    return shell.open(place.dsn())


@pytest.fixture
def scope(memory: Any, place: Place) -> Any:
    """A project of a new tenant."""
    return memory.tenant(place.tenant()).project("kitchen")
