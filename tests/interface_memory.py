"""A PostgreSQL with the extension for the tests of every interface, with a new tenant for each test."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from pgmnemo import Memory, Scope
from tests.pgmnemo.client.driving import Place
from tests.pgmnemo.postgres.memories import memories
from tests.security.attacked import OURS
from tests.sql.conftest import POSTGRES


@pytest.fixture(scope="session")
def place() -> Iterator[Place]:
    """Yield a database that alice and bob can use."""
    with memories(POSTGRES) as server:
        yield Place(server, server.install("interfaces", OURS))


@pytest.fixture(scope="session")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as made:
        yield made


@pytest.fixture(scope="session")
def open_memory(place: Place) -> Iterator[Callable[..., Memory]]:
    """Yield a function that returns alice's (or `role`'s) memory of the database, opened once per role and
    embedder; without an embedder it searches only by words.
    """
    with ExitStack() as stack:
        opened: dict[tuple[str, Any], Memory] = {}

        def open_it(role: str = "alice", embedder: Any = None) -> Memory:
            if (role, embedder) not in opened:
                made = Memory.open(place.dsn(role), embedder=embedder)
                opened[role, embedder] = stack.enter_context(made)
            return opened[role, embedder]

        yield open_it


@pytest.fixture
def scope(open_memory: Callable[..., Memory], place: Place) -> Scope:
    """Return a project of a new tenant, without an embedder."""
    return open_memory().tenant(place.tenant()).project("kitchen")


@pytest.fixture
def page() -> Callable[[str], list[str]]:
    """Return a function that reads the Python blocks of a page of docs/, in order."""

    def blocks(name: str) -> list[str]:
        text = (Path(__file__).parents[1] / "docs" / name).read_text(encoding="utf-8")
        return [part.split("```")[0] for part in text.split("```python\n")[1:]]

    return blocks
