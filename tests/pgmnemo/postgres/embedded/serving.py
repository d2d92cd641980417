"""What a memory is asked in tests, and who asks it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import UUID

import psutil
import psycopg
from psycopg.conninfo import make_conninfo

from pgmnemo import calls
from pgmnemo.postgres.embedded import EmbeddedServer
from pgmnemo.postgres.embedded.memory_folder import MemoryFolder
from pgmnemo.postgres.embedded.server_processes import folder_processes

ROOT = Path(__file__).resolve().parents[4]
TENANT = UUID(int=27)
AS_ROOT = os.getuid() == 0
OTHER = 65534  # nobody


@contextmanager
def new_base() -> Iterator[Path]:
    """A folder that anybody may enter."""
    with tempfile.TemporaryDirectory(prefix="mnemo-test-", ignore_cleanup_errors=True) as name:
        path = Path(name).resolve()
        path.chmod(0o755)
        yield path


def kill(found: Iterable[psutil.Process]) -> None:
    """Kill processes, of which some may have ended since they were found or with one killed before."""
    for process in found:
        with suppress(psutil.NoSuchProcess):
            process.kill()


def connected(server: EmbeddedServer, **other: str) -> psycopg.Connection[tuple[object, ...]]:
    return psycopg.connect(make_conninfo("", **{**server.conninfo, **other}), autocommit=True)


def value(server: EmbeddedServer, query: str, **other: str) -> object:
    with connected(server, **other) as connection:
        row = connection.execute(query.encode()).fetchone()
    return row[0] if row else None


def store(server: EmbeddedServer, *keys: str) -> None:
    with connected(server) as connection:
        calls.execute(connection, calls.grant_tenant(TENANT, "pgmnemo"))
        for key in keys:
            calls.execute(connection, calls.store(TENANT, TENANT, key, f"{key} is known"))


def known(server: EmbeddedServer, *keys: str) -> list[str]:
    """Those of the keys whose lessons are as they were stored."""
    with connected(server) as connection:
        texts = [calls.execute(connection, calls.get(TENANT, TENANT, key, ("content",))) for key in keys]
    return [key for key, rows in zip(keys, texts, strict=True) if rows == [(f"{key} is known",)]]


def first_process(folder: Path) -> psutil.Process:
    return next(process for process in folder_processes(MemoryFolder(folder)) if "-D" in process.cmdline())
