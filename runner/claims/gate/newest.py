"""Which run a folder stands for: itself, or the newest of the runs that it holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from runner.errors import UsageError

RUN = "run.json"
ALIKE = (("corpus", "sha256"), ("corpus", "granularity"), ("embedder", "name"), ("options", "mode"))


def newest(folder: Path, candidate: Path | None = None) -> Path:
    """`folder` when it is a results folder; else the last started run among the finished ones in it.

    With a `candidate` to compare with, another run than that, and where some are of its corpus, granularity,
    embedder and mode, one of those. Raises UsageError when there is none.
    """
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}; name a results folder, or one that holds some")
    if (folder / RUN).is_file() or (folder / "BLOCKED.md").is_file():
        return folder
    finished = [
        path for path in folder.iterdir() if path.name[0] != "." and (path / "manifest.json").is_file()
    ]
    runs = [path for path in finished if candidate is None or not path.samefile(candidate)]
    if not runs:
        other = "other " if finished else ""
        raise UsageError(
            f"{folder} holds no {other}finished run; make one with `python -m runner`, or name another"
        )
    if candidate is not None:
        kind = _kind(candidate)
        runs = [path for path in runs if _kind(path) == kind] or runs
    return max(runs, key=lambda path: (_entry(path, "started") or "", path.name))


def _kind(folder: Path) -> list[str | None]:
    return [_entry(folder, *path) for path in ALIKE]


def _entry(folder: Path, *path: str) -> str | None:
    """An entry of run.json; None in a damaged one, which sorts first and is found by `verify`."""
    try:
        value: Any = json.loads((folder / RUN).read_bytes())
        for key in path:
            value = value[key]
        return str(value)
    except (OSError, ValueError, KeyError, TypeError):
        return None
