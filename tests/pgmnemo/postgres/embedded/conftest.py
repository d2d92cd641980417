"""A folder for each test, and a memory made once and copied for each."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pgmnemo.postgres.embedded import EmbeddedServer
from pgmnemo.postgres.embedded.memory_folder import MemoryFolder
from pgmnemo.postgres.embedded.server_processes import folder_processes
from tests.pgmnemo.postgres.embedded.serving import ROOT, kill, new_base, store

# A process that opens a folder, says so, and waits until its standard input is closed.
OPENER = """
import sys
sys.path.insert(0, sys.argv[1])
from contextlib import closing
from pathlib import Path
from pgmnemo.postgres.embedded import EmbeddedServer
with closing(EmbeddedServer.open(Path(sys.argv[2]))):
    print("open", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def base() -> Iterator[Path]:
    """A folder for one test; a server that it leaves there is killed."""
    with new_base() as path:
        yield path
        for folder in path.iterdir():
            kill(folder_processes(MemoryFolder(folder)))


@pytest.fixture(scope="session")
def original() -> Iterator[Path]:
    with new_base() as base:
        folder = base / "memory"
        with closing(EmbeddedServer.open(folder)) as server:
            store(server, "first")
        yield folder


@pytest.fixture
def memory(base: Path, original: Path) -> Path:
    """A memory that holds the lesson `first`, closed."""
    subprocess.run(["cp", "-a", str(original), str(base / "memory")], check=True)
    return base / "memory"


@pytest.fixture
def start(base: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start a process that opens a folder and holds it, by a command before it."""
    started = []

    def begin(folder: Path, *prefix: str) -> subprocess.Popen[str]:
        command = [*prefix, sys.executable, "-c", OPENER, str(ROOT), str(folder)]
        started.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
        return started[-1]

    yield begin
    for process in started:
        process.kill()
        process.communicate()
