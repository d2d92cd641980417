"""One PostgreSQL with the extension for the tests of every door, and a tenant of its own for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from pgmnemo import Memory, Scope
from tests.pgmnemo.client.driving import Place
from tests.pgmnemo.server.memories import memories
from tests.security.attacked import OURS
from tests.sql.conftest import POSTGRES


@pytest.fixture(scope="session")
def place() -> Iterator[Place]:
    """A database of alice and bob."""
    with memories(POSTGRES) as server:
        yield Place(server, server.install("doors", OURS))


@pytest.fixture(scope="session")
def open_memory(place: Place) -> Iterator[Callable[..., Memory]]:
    """A memory of that database as alice (or `role`), of words alone unless an embedder is given; once."""
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
    """A project of a new tenant, of words alone."""
    return open_memory().tenant(place.tenant()).project("kitchen")


@pytest.fixture
def page() -> Callable[[str], list[str]]:
    """The blocks of Python of a page of docs/, in its order."""

    def blocks(name: str) -> list[str]:
        text = (Path(__file__).parents[1] / "docs" / name).read_text(encoding="utf-8")
        return [part.split("```")[0] for part in text.split("```python\n")[1:]]

    return blocks
