"""Repositories that a test makes, and a merge in one that no honest hand makes."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

CONFIG = (
    "-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false",
    "-c", "init.defaultBranch=main",
)  # fmt: skip


def git(folder: Path, *arguments: str) -> str:
    """What git says there, run as Ada whatever this machine is set to; CalledProcessError where it fails."""
    done = subprocess.run(
        ["git", *CONFIG, *arguments], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def merge_an_orphan(base: Path, change: Callable[[], object]) -> None:
    """Commit the change on a branch without parents, and take all of that side by a merge into main."""
    git(base, "checkout", "--orphan", "side")
    change()
    git(base, "add", ".")
    git(base, "commit", "-m", "Added another run")
    git(base, "checkout", "main")
    git(base, "merge", "--no-commit", "--allow-unrelated-histories", "-X", "theirs", "side")
    git(base, "checkout", "side", "--", ".")
    git(base, "commit", "-m", "Merged")
