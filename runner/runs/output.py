"""Where a command may write what it was asked for: never over a file of another kind, never into a run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from runner.errors import UsageError, os_errors
from runner.runs.manifest import MANIFEST
from runner.runs.reading import is_run

HEAD = 4096  # characters in which a file says what it is


def check_output(option: str, path: Path, suffixes: Sequence[str], mark: str) -> None:
    """Raise UsageError unless `path` is a new file, or one with `mark` near its start, outside any run.

    `option` is what named it; `suffixes` are those that it may have.
    """
    if path.is_dir():
        raise UsageError(f"{option}: {path} is a folder; name a file that ends in {', '.join(suffixes)}")
    if path.suffix not in suffixes:
        raise UsageError(f"{option} takes a file that ends in {', '.join(suffixes)}, not {path}")
    if any((place / MANIFEST).exists() for place in path.absolute().parents[:2]):
        raise UsageError(f"{option}: {path.parent} is a results folder; name a file elsewhere")
    if path.exists() and not path.is_file():
        raise UsageError(f"{option}: {path} is no regular file; name another")
    if path.exists() and mark not in _head(path):
        raise UsageError(f"{option}: {path} is there and holds something else; name another file")


def check_new(option: str, path: Path, noun: str) -> None:
    """Raise UsageError unless nothing is at `path`, outside any run; `noun` is `file` or `folder`."""
    if path.exists() or path.is_symlink():
        raise UsageError(f"{option}: {path} is there, and nothing is overwritten; name a new {noun}")
    if (run := next((parent for parent in path.resolve().parents if is_run(parent)), None)) is not None:
        raise UsageError(f"{option}: {path} lies in the results folder {run}; name a {noun} elsewhere")


def write_output(what: str, path: Path, text: str) -> None:
    """Write `text`, which is `what` in words; OutputError where the path cannot be written."""
    with os_errors(f"{what} cannot be written to {path} ({{why}}); name another file"):
        path.write_text(text, encoding="utf-8")


def _head(path: Path) -> str:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(HEAD)
    except OSError:  # writing will say why
        return ""
