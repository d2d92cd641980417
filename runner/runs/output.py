"""Checks of a command's output path: never overwrite another kind of file, never write into a run."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from pgmnemo.errors import UsageError, os_errors
from runner.runs.manifest import MANIFEST
from runner.runs.results import is_run
from runner.runs.storage import replace_file

HEAD = 4096  # characters of a file that must contain its mark


def check_output(option: str, path: Path, suffixes: Sequence[str], mark: str) -> None:
    """Raise UsageError unless `path` is outside any run, and is new or has `mark` near its start.

    `option` is the option that gave the path, for messages; `suffixes` are the allowed endings.
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


def check_folder(option: str, folder: Path, marks: Mapping[str, str]) -> None:
    """Raise UsageError if `folder` is a run, or if writing would replace a file that lacks its mark.

    `marks` maps the name of each file to the text that it contains if this program wrote it.
    """
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{option}: {folder} is no folder; name another")
    if is_run(folder):
        raise UsageError(f"{option}: {folder} is a results folder; name another")
    for path, mark in ((folder / name, mark) for name, mark in marks.items()):
        if os.path.lexists(path) and not (path.is_file() and mark in path.read_text("utf-8", "replace")):
            raise UsageError(f"{option}: {path} is there and holds something else; name another folder")


def check_new(option: str, path: Path, noun: str) -> None:
    """Raise UsageError if `path` exists or is in a run; `noun` is `file` or `folder`."""
    if path.exists() or path.is_symlink():
        raise UsageError(f"{option}: {path} is there, and nothing is overwritten; name a new {noun}")
    if (run := next((parent for parent in path.resolve().parents if is_run(parent)), None)) is not None:
        raise UsageError(f"{option}: {path} lies in the results folder {run}; name a {noun} elsewhere")


def write_output(what: str, path: Path, text: str) -> None:
    """Write `text` atomically, named `what` in errors; raise OutputError if it cannot be written.

    If `path` is a link, its target is replaced.
    """
    with os_errors(f"{what} cannot be written to {path} ({{why}}); name another file"):
        replace_file(Path(os.path.realpath(path)), text.encode())


def _head(path: Path) -> str:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(HEAD)
    except OSError:  # the later write reports the error
        return ""
