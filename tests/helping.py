"""What tests of several folders use: a command in a process of its own, a register of cases, rankings,
the current release."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from runner.database.releases import default_version
from runner.systems import Lessons, Query
from runner.systems.asking import Judge, answers

CURRENT = default_version()  # the release in force, which no test names by its number
Case = TypeVar("Case", bound=Callable[..., Any])


def runner(top: Path, *words: str, modules: Path) -> str:
    """What `python -m runner` prints in the folder `top`, with `modules` before others; it must end well."""
    environ = {**os.environ, "PYTHONHASHSEED": "42", "PYTHONPATH": str(modules)}
    done = subprocess.run(
        [sys.executable, "-m", "runner", *words], cwd=top, env=environ, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def registering(cases: dict[str, Case]) -> Callable[[str], Callable[[Case], Case]]:
    """A decorator that puts a case into `cases` under its cause."""

    def named(cause: str) -> Callable[[Case], Case]:
        def register(case: Case) -> Case:
            cases[cause] = case
            return case

        return register

    return named


def ranked(name: str, system: Any, lessons: Lessons, queries: Sequence[Query], k: int) -> list[list[int]]:
    """The numbers that a system answers each question with, best first, judged as a run judges them."""
    found = answers(system, name, queries, k, Judge(name, lessons))
    return [[match.number for match in one.matches] for one in found]
