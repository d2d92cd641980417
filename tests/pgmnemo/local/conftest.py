"""Folders that a server of another user can enter, and a memory made once and copied for each test."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from uuid import UUID

import psutil
import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from pgmnemo import calls
from pgmnemo.local import LocalServer
from pgmnemo.local.cluster import processes
from pgmnemo.local.folder import Folder

ROOT = Path(__file__).resolve().parents[3]
TENANT = UUID(int=27)
AS_ROOT = os.getuid() == 0
OTHER = 65534  # nobody

# A process that opens a folder, says so, and waits until its standard input is closed.
OPENER = """
import sys
sys.path.insert(0, sys.argv[1])
from contextlib import closing
from pathlib import Path
from pgmnemo.local import LocalServer
with closing(LocalServer.open(Path(sys.argv[2]))):
    print("open", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def base() -> Iterator[Path]:
    """A folder that anybody may enter; a server that a test leaves in it is killed."""
    with tempfile.TemporaryDirectory(prefix="mnemo-test-", ignore_cleanup_errors=True) as name:
        path = Path(name).resolve()
        path.chmod(0o755)
        yield path
        for folder in path.iterdir():
            for process in processes(Folder(folder)):
                process.kill()


@pytest.fixture(scope="session")
def original(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="mnemo-test-", ignore_cleanup_errors=True) as name:
        folder = Path(name).resolve() / "memory"
        folder.parent.chmod(0o755)
        with closing(LocalServer.open(folder)) as server:
            store(server, "first")
        yield folder


@pytest.fixture
def memory(base: Path, original: Path) -> Path:
    """A memory that holds the lesson `first`, closed."""
    subprocess.run(["cp", "-a", str(original), str(base / "memory")], check=True)
    return base / "memory"


@pytest.fixture
def start(base: Path) -> Iterator[Callable[[Path], subprocess.Popen[str]]]:
    """Start a process that opens a folder and holds it."""
    started = []

    def begin(folder: Path) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", OPENER, str(ROOT), str(folder)]
        started.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
        return started[-1]

    yield begin
    for process in started:
        process.kill()
        process.communicate()


def connected(server: LocalServer, **other: str) -> psycopg.Connection[tuple[object, ...]]:
    return psycopg.connect(make_conninfo("", **{**server.conninfo, **other}), autocommit=True)


def value(server: LocalServer, query: str, **other: str) -> object:
    with connected(server, **other) as connection:
        row = connection.execute(query.encode()).fetchone()
    return row[0] if row else None


def store(server: LocalServer, *keys: str) -> None:
    with connected(server) as connection:
        calls.execute(connection, calls.grant_tenant(TENANT, "pgmnemo"))
        for key in keys:
            calls.execute(connection, calls.store(TENANT, TENANT, key, f"{key} is known"))


def known(server: LocalServer, *keys: str) -> list[str]:
    """Those of the keys whose lessons are as they were stored."""
    with connected(server) as connection:
        texts = [calls.execute(connection, calls.get(TENANT, TENANT, key, ("content",))) for key in keys]
    return [key for key, rows in zip(keys, texts, strict=True) if rows == [(f"{key} is known",)]]


def first_process(folder: Path) -> psutil.Process:
    return next(process for process in processes(Folder(folder)) if "-D" in process.cmdline())
