"""Which run a folder stands for: itself, or the newest of the runs that it holds."""

from __future__ import annotations

from pathlib import Path

from runner.errors import RunnerError, UsageError
from runner.runs.alike import differences
from runner.runs.manifest import MANIFEST
from runner.runs.reading import Results
from runner.runs.run import RUN, Run


def newest(folder: Path, candidate: Path | None = None) -> Path:
    """`folder` when it is a results folder; else the last started run among the finished ones in it.

    With a `candidate` to compare with, another run than that, and of those that differ from it in the fewest
    conditions. Raises UsageError when there is none.
    """
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}; name a results folder, or one that holds some")
    if (folder / RUN).is_file() or Results(folder).blocked:
        return folder
    finished = [path for path in folder.iterdir() if path.name[0] != "." and (path / MANIFEST).is_file()]
    runs = [path for path in finished if candidate is None or not path.samefile(candidate)]
    if not runs:
        other = "other " if finished else ""
        raise UsageError(
            f"{folder} holds no {other}finished run; make one with `python -m runner`, or name another"
        )
    like = _read(candidate) if candidate is not None else None
    return max(runs, key=lambda path: (*_nearness(_read(path), like), path.name))


def _nearness(run: Run | None, candidate: Run | None) -> tuple[bool, int, str]:
    """The larger, the better: readable, differences to the candidate (minus), when it started."""
    if run is None:
        return False, 0, ""
    apart = len(list(differences(run, candidate))) if candidate is not None else 0
    return True, -apart, run.started.isoformat()


def _read(folder: Path) -> Run | None:
    """The run; None where it is damaged, which sorts first and is found by `verify`."""
    try:
        return Results(folder).run
    except RunnerError:
        return None
