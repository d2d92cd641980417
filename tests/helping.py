"""Helpers of several test folders: subprocesses, tables of cases, rankings, single checks of a run, waiting,
and the current release.
"""

from __future__ import annotations

import csv
import json
import lzma
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest

from pgmnemo.paths import SQL_FOLDER
from pgmnemo.postgres.releases import default_version
from pgmnemo.progress import QUIET, Progress
from runner.paths import ROOT
from runner.protocol.editions import known
from runner.systems import Lessons, Query
from runner.systems.query_runner import AnswerValidator, ask_all
from runner.verification import CheckResult
from runner.verification.checks import CHECKS
from runner.verification.context import RunContext
from runner.verification.verification import signers_list

CURRENT = default_version()  # the release in force, which no test names by its number
Case = TypeVar("Case", bound=Callable[..., Any])


class Listener(Progress):
    """A Progress that collects the reported lines."""

    def __init__(self) -> None:
        super().__init__(quiet=True)
        self.lines: list[str] = []

    def say(self, text: str) -> None:
        self.lines.append(text)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def short_base() -> str:
    """Return a folder for temporary files whose path leaves room for the path of a socket, 107 bytes."""
    base = tempfile.gettempdir()
    return base if len(base) < 20 else "/tmp"


@contextmanager
def readable() -> Iterator[Path]:
    """Yield a temporary folder that a server of another user can read, unlike pytest's own folders."""
    folder = Path(tempfile.mkdtemp(prefix="pgmnemo-test-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def until(condition: Callable[[], object]) -> None:
    """Wait until the condition is true; fail after 240 s, since the machine may be busy."""
    deadline = time.monotonic() + 240
    while not condition():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.05)


def kept_runs(suite: str = "*") -> list[Path]:
    """Return the folders of the committed runs with a known edition, oldest first."""
    found = sorted(ROOT.glob(f"benchmarks/{suite}/results/*/run.json"), key=lambda path: path.parent.name)
    return [path.parent for path in found if json.loads(path.read_bytes())["protocol"]["version"] in known()]


def kept_run(suite: str, version: str = "") -> Path:
    """Return the newest committed run of a suite and version, but for runs by turns; skip the module if none
    is committed.
    """
    runs = kept_runs()
    if not runs:
        pytest.skip(f"no run is committed under {known()[-1]}", allow_module_level=True)
    found = [path for path in runs if path.match(f"{suite}/results/v{version}*") and "_turn" not in path.name]
    assert found, f"no run of {suite} {version} is committed under {known()[-1]}"
    return found[-1]


def unpacked_copy(run: Path, place: Path) -> Path:
    """Copy a committed run to the new folder `place` with plain files, as the run wrote them."""
    shutil.copytree(run, place)
    for packed in place.glob("*.xz"):
        packed.with_suffix("").write_bytes(lzma.decompress(packed.read_bytes()))
        packed.unlink()
    return place


def runner(top: Path, *words: str, modules: Path) -> str:
    """Run `python -m runner` in the folder `top`, with `modules` on PYTHONPATH, and return its output; fail
    on a non-zero exit code.
    """
    environ = {**os.environ, "PYTHONHASHSEED": "42", "PYTHONPATH": str(modules)}
    done = subprocess.run(
        [sys.executable, "-m", "runner", *words], cwd=top, env=environ, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def endings(command: str) -> dict[str, dict[str, str]]:
    """Return the rows of endings.tsv for a command by cause: the `sentence` on standard error, with `…` for
    variable parts, and the exit `code`.
    """
    with Path(__file__).with_name("endings.tsv").open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return {row["cause"]: row for row in rows if row["command"] == command}


def is_sentence(ending: dict[str, str], said: str) -> bool:
    """Return whether `said` matches the sentence of `ending`, with any text for each `…`."""
    return re.fullmatch(".+".join(map(re.escape, ending["sentence"].split("…"))), said) is not None


def registering(cases: dict[str, Case]) -> Callable[[str], Callable[[Case], Case]]:
    """Return a decorator that registers a case in `cases` under its cause."""

    def named(cause: str) -> Callable[[Case], Case]:
        def register(case: Case) -> Case:
            cases[cause] = case
            return case

        return register

    return named


def answered(
    check: str, folder: Path, history: Path | None = None, signers: Path | None = None
) -> CheckResult:
    """Run a single check of `verify` on a results folder, and return its answer."""
    return CHECKS[check](RunContext(folder, None, history, SQL_FOLDER, None, QUIET, signers_list(signers)))


def ranked(name: str, system: Any, lessons: Lessons, queries: Sequence[Query], k: int) -> list[list[int]]:
    """Return the lesson numbers of a system's answer to each question, best first, checked as in a run."""
    found = ask_all(system, name, queries, k, AnswerValidator(name, lessons))
    return [[match.number for match in one.matches] for one in found]
