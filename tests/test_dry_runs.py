"""Every command with --dry-run, where nothing exists, makes nothing and says what it would do."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from cyclopts import App

from pgmnemo.cli.commands import app as mnemo
from pgmnemo_shards.cli import app as shards
from runner.cli import app as runner
from tests.helping import readable

ROOT = Path(__file__).parents[1]
OPTION = "--dry-run"
MODULES = {"mnemo": "pgmnemo", "pgmnemo-shards": "pgmnemo_shards"}  # of the other programs: their names
SESSION = """{"id": "s1", "turns": [{"speaker": "Ana", "text": "My router is a Fritz."}]}
{"text": "Which router?", "evidence": ["s1"]}
"""
PROJECT = "00000000-0000-0000-0000-0000000000cc"
EXPORT = f"""{{"pgmnemo": "memory", "format": 1, "extension": "1.0.0"}}
{{"kind": "lesson", "project": "{PROJECT}", "key": "old", "text": "I live in Porto."}}
{{"kind": "lesson", "project": "{PROJECT}", "key": "new", "text": "I live in Lisbon."}}
{{"kind": "supersession", "project": "{PROJECT}", "old": "old", "new": "new", "at": "2026-01-01T00:00:00Z"}}
"""
FILES = {"export.jsonl": EXPORT, "notes.jsonl": '{"text": "I moved to Lisbon."}\n', "mine.jsonl": SESSION}
MEMORY, CLUSTER = "there is no memory in ", "there is no cluster in "
SAID = {  # what else a command needs, its exit code, and what it says
    "mnemo forget": ("k", 2, MEMORY),
    "mnemo tidy": ("", 2, MEMORY),
    "mnemo import": ("notes.jsonl", 0, "jsonl, dry run: 1 inserted"),
    "runner file": ("--data mine.jsonl --embedder none", 0, "dry run: the verdict would be unverified"),
    "runner sample": ("--embedder none", 0, "dry run: the verdict would be deviation"),
    "pgmnemo-shards drain": ("s1 --folder cluster", 3, CLUSTER),
    "pgmnemo-shards rebalance": ("--folder cluster", 3, CLUSTER),
}
NO_CORPUS = ("--embedder none", 3, " was found: name it with --data")  # of the other suites


def commands(app: App, *above: str) -> Iterator[str]:
    """Yield the commands of a program, or of a group of its commands, that have the option."""
    for name in app:
        if not name.startswith("-"):
            yield from commands(app[name], *above, name)
    if app.default_command and any(OPTION in one.names for one in app.assemble_argument_collection()):
        yield " ".join(above)


FOUND = [
    *commands(mnemo(), "mnemo"), *commands(runner(), "runner"), *commands(shards, "pgmnemo-shards"),
]  # fmt: skip


def test_every_program_is_searched() -> None:
    assert {*SAID} <= {*FOUND}


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder with files of a user who has nothing yet."""
    with readable() as made:
        for name in ("home", "tmp"):
            (made / name).mkdir()
            (made / name).chmod(0o777)
        for name, text in FILES.items():
            (made / name).write_text(text)
        yield made


@pytest.mark.parametrize("command", FOUND)
def test_nothing_is_made(command: str, folder: Path) -> None:
    program, *words = command.split()
    options, code, said = SAID.get(command, NO_CORPUS)
    before = tree(folder)
    done = run(folder, program, *words, *options.split())
    assert (done.returncode, said in done.stdout + done.stderr) == (code, True), done.stdout + done.stderr
    assert tree(folder) == before


@pytest.mark.parametrize("place", ["export.jsonl", "-"])
def test_an_export_is_counted_and_the_memory_that_would_be_made_is_named(place: str, folder: Path) -> None:
    done = run(folder, "mnemo", "import", place, "--memory", "new", given=EXPORT)
    assert (done.returncode, "dry run: 2 inserted" in done.stdout) == (0, True), done.stdout + done.stderr
    assert "no memory in new yet" in done.stderr
    assert "left out" not in done.stdout + done.stderr


def tree(folder: Path) -> dict[str, tuple[int, int]]:
    """Size and time of every file and folder below a folder."""
    return {
        str(path): (path.stat().st_size, path.stat().st_mtime_ns if path.is_file() else 0)
        for path in folder.rglob("*")
    }


def run(folder: Path, program: str, *words: str, given: str = "") -> subprocess.CompletedProcess[str]:
    """Run a program in a folder, as a user who has nothing yet."""
    named = ("PGMNEMO", "XDG", "PG")
    kept = {
        name: value for name, value in os.environ.items()
        if not name.startswith(named) and not name.endswith("_DATA_DIR")
    }  # fmt: skip
    own = {"HOME": str(folder / "home"), "TMPDIR": str(folder / "tmp"), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-B", "-m", MODULES.get(program, program), *words, OPTION]
    return subprocess.run(
        command, cwd=folder, input=given, capture_output=True, text=True,
        env={**kept, **own, "PGMNEMO_PORT": "1"},
    )  # fmt: skip
