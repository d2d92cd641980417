"""One memory in a folder, without an embedder, whose server runs as long as the tests; and commands."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BytesIO, TextIOWrapper
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from pgmnemo import Memory
from pgmnemo.cli.commands import main


@dataclass(frozen=True)
class Done:
    """What a command ended with and printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


class Typed(TextIOWrapper):
    """Standard input, of a terminal or not."""

    def __init__(self, data: bytes, terminal: bool = False) -> None:
        super().__init__(BytesIO(data), encoding="utf-8")
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


Mnemo = Callable[..., Done]


@pytest.fixture(scope="session")
def room() -> Iterator[Path]:
    """A folder that a server of another user can walk through, unlike pytest's own."""
    with TemporaryDirectory(prefix="mnemo-test-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture(scope="session")
def folder(room: Path) -> Path:
    return room / "memory"


@pytest.fixture(scope="session")
def memory(folder: Path) -> Iterator[Memory]:
    with Memory.open(folder, embedder=None) as opened:
        yield opened


@pytest.fixture
def mnemo(
    memory: Memory, folder: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> Mnemo:
    """Run a command on the memory, for a tenant of the test's own."""
    monkeypatch.setenv("PGMNEMO_MEMORY", str(folder))
    monkeypatch.setenv("PGMNEMO_EMBEDDER", "none")
    monkeypatch.setenv("PGMNEMO_TENANT", request.node.name)
    monkeypatch.setenv("COLUMNS", "80")

    def run(*arguments: str, stdin: bytes = b"", terminal: bool = False) -> Done:
        monkeypatch.setattr(sys, "stdin", Typed(stdin, terminal))
        code = main(arguments)
        out, err = capsys.readouterr()
        return Done(code, out, err)

    return run


@pytest.fixture
def scope(memory: Memory, request: pytest.FixtureRequest) -> Any:
    """What the commands of a test work in, by the library."""
    return memory.tenant(request.node.name).project("default")
