"""Git repositories of tests, and an orphan merge, as a forger would make."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

CONFIG = (
    "-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false",
    "-c", "init.defaultBranch=main",
)  # fmt: skip


def git(folder: Path, *arguments: str) -> str:
    """Run git in the folder as Ada, independent of this machine's settings, and return its output; raise
    CalledProcessError on failure.
    """
    done = subprocess.run(
        ["git", *CONFIG, *arguments], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def merge_an_orphan(base: Path, change: Callable[[], object]) -> None:
    """Commit the change on a branch without parents, and merge it into main with all of its files."""
    git(base, "checkout", "--orphan", "side")
    change()
    git(base, "add", ".")
    git(base, "commit", "-m", "Added another run")
    git(base, "checkout", "main")
    git(base, "merge", "--no-commit", "--allow-unrelated-histories", "-X", "theirs", "side")
    git(base, "checkout", "side", "--", ".")
    git(base, "commit", "-m", "Merged")
