"""Which run a folder stands for: itself, or the newest of the runs that it holds."""

from __future__ import annotations

import json
from pathlib import Path

from runner.errors import UsageError

RUN = "run.json"


def newest(folder: Path) -> Path:
    """`folder` when it is a results folder; else the last started run among the finished ones in it.

    Raises UsageError when there is none.
    """
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}; name a results folder, or one that holds some")
    if (folder / RUN).is_file() or (folder / "BLOCKED.md").is_file():
        return folder
    runs = [path for path in folder.iterdir() if path.name[0] != "." and (path / "manifest.json").is_file()]
    if not runs:
        raise UsageError(f"{folder} holds no finished run; make one with `python -m runner`, or name another")
    return max(runs, key=lambda path: (_started(path), path.name))


def _started(folder: Path) -> str:
    """When the run started, as run.json says; a damaged one sorts first and is found by `verify`."""
    try:
        return str(json.loads((folder / RUN).read_bytes())["started"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""
