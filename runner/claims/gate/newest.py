"""Which run a folder stands for: itself, or the newest of the runs that it holds."""

from __future__ import annotations

import json
from pathlib import Path

from runner.claims.compare.conditions import entry
from runner.errors import UsageError
from runner.records import Json

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
    read = {path: _read(path) for path in runs}
    if candidate is not None:
        kind = _kind(_read(candidate))
        runs = [path for path in runs if _kind(read[path]) == kind] or runs
    return max(runs, key=lambda path: (str(read[path].get("started", "")), path.name))


def _kind(run: Json) -> list[object]:
    return [entry(run, path) for path in ALIKE]


def _read(folder: Path) -> Json:
    """run.json; an empty one where it is damaged, which sorts first and is found by `verify`."""
    try:
        run = json.loads((folder / RUN).read_bytes())
    except (OSError, ValueError):
        return {}
    return run if isinstance(run, dict) else {}
