"""Where the packaged files lie, and a server to try them in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helping import readable

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def sql(root: Path) -> Path:
    return root / "sql"


@pytest.fixture
def prefix() -> Iterator[Path]:
    """A stand-in for the root of a file system, which a server of another user can read."""
    with readable() as folder:
        yield folder
