"""What tests of importers share: a reader's lessons as a list, files of JSON, and a memory."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from psycopg.conninfo import make_conninfo

from pgmnemo import Memory
from pgmnemo.client.sync.scope import Scope
from pgmnemo.importers import IMPORTERS, ImportedLesson, ImportOptions
from pgmnemo.postgres.embedded import EmbeddedServer

Read = Callable[..., list[ImportedLesson]]
Write = Callable[..., Path]


@pytest.fixture
def read() -> Read:
    """`read(format, place, **options)`: the lessons."""

    def read(
        name: str, place: Path | str, options: ImportOptions | None = None, **given: Any
    ) -> list[ImportedLesson]:
        return list(IMPORTERS[name](place, options=options or ImportOptions(**given)))

    return read


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """`write(name, value)`: a file of JSON, of lines where the value is no list or object."""

    def write(name: str, value: Any) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        whole = isinstance(value, list | dict)
        text = json.dumps(value) if whole else "".join(f"{json.dumps(one)}\n" for one in value)
        path.write_text(text, encoding="utf-8")
        return path

    return write


def lines(*values: Any) -> Iterable[Any]:
    """Values for a file of lines."""
    return iter(values)


@pytest.fixture(scope="session")
def kept() -> Iterator[tuple[Memory, str]]:
    """A memory in a folder, without an embedder, and the DSN of its PostgreSQL."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)  # as root the server runs as another user
        with Memory.open(Path(folder, "memory"), embedder=None) as memory:
            server = EmbeddedServer.open(Path(folder, "memory"))
            try:
                yield memory, make_conninfo(**server.conninfo)
            finally:
                server.close()


@pytest.fixture
def scope(kept: tuple[Memory, str]) -> Scope:
    """A project of a tenant of its own."""
    return kept[0].tenant(uuid4()).project("boats")
