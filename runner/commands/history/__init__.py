"""`python -m runner history add | deviation`: append runs and deviations to HISTORY.md.

Entries are appended in one form; existing entries are never rewritten.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from os import PathLike
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from pgmnemo.errors import UsageError
from pgmnemo.terminal import say
from runner.errors import UnusableRunError
from runner.options import Run
from runner.records import Verdict
from runner.runs.folder import is_local, move_to_kept
from runner.runs.history import HISTORY, append_entry, entry_text, history_of, logged_manifests
from runner.runs.manifest import MANIFEST
from runner.runs.results import Unreadable, read_results
from runner.runs.run import Run as Record
from runner.verification.checks.files import complete, manifest
from runner.verification.context import CheckFailed, RunContext

HistoryFile = Annotated[
    Path | None, Parameter(help="the file (default: the HISTORY.md of the nearest folder above)")
]

history = App(name="history", help="Runs that are kept: their entries in HISTORY.md.")


@history.command
def add(folder: Run, /, *, history: HistoryFile = None) -> int:
    """Append the entry of a run, unless it exists; first move a run in local/ to results/."""
    place = keep_run(folder, history=history)
    if place != folder:
        say(f"{folder}: moved to {place}")
    path, appended = log_run(place, history=history)
    say(f"{path}: {'appended' if appended else 'has it already'}")
    return 0


@history.command
def deviation(folder: Run, text: str, /, *, history: HistoryFile = None) -> int:
    """Append a deviation that became known after the run.

    Args:
        text: the deviation from the protocol, in one line
    """
    say(f"{log_deviation(folder, text, history=history)}: appended")
    return 0


@dataclass(frozen=True, slots=True)
class LoggedRun:
    """A run in HISTORY.md: `results` is its folder relative to the file.

    `manifest` is the SHA-256 of its manifest.
    """

    run: Record
    history: Path
    results: str
    manifest: str


def keep_run(folder: str | PathLike[str], *, history: str | PathLike[str] | None = None) -> Path:
    """Move a run from local/ to results/; return its new folder. A folder elsewhere is not moved.

    Raises what `log_run` would raise for it, and OutputError if it cannot be moved.
    """
    _read(Path(folder), history)  # raises before a move if this is no run
    return move_to_kept(Path(folder)) if is_local(Path(folder)) else Path(folder)


def log_run(folder: str | PathLike[str], *, history: str | PathLike[str] | None = None) -> tuple[Path, bool]:
    """Append the entry of the run in `folder`.

    Returns the HISTORY.md file, and whether an entry was appended. Raises UnusableRunError when the folder is
    logged with another manifest, because it was changed since.
    """
    logged = _read(Path(folder), history)
    if _is_logged(logged):
        return logged.history, False
    _append(logged, logged.run.started.date(), list(logged.run.deviations))
    return logged.history, True


def log_deviation(
    folder: str | PathLike[str],
    deviation: str,
    *,
    history: str | PathLike[str] | None = None,
    day: date | None = None,
) -> Path:
    """Append a deviation of the run in `folder` that became known after the run; return the HISTORY.md file.

    `day` is the date of the entry; None means today. The entry gives a verified run the verdict
    deviation. Raises UsageError when the run is not logged yet, and UnusableRunError when it was changed
    since it was logged.
    """
    logged = _read(Path(folder), history)
    if not deviation.strip():
        raise UsageError("a deviation needs words: say what departs from the protocol")
    if not _is_logged(logged):
        raise UsageError(
            f"{logged.history} has no entry for {logged.results}: add the run first, with history add"
        )
    _append(logged, day or datetime.now(UTC).date(), [deviation])
    return logged.history


def _append(logged: LoggedRun, day: date, deviations: list[str]) -> None:
    verdict, suite = logged.run.verdict, logged.run.choice.suite
    if deviations and verdict is Verdict.VERIFIED:
        verdict = Verdict.DEVIATION
    append_entry(logged.history, entry_text(day, suite, logged.results, verdict, logged.manifest, deviations))


def _is_logged(logged: LoggedRun) -> bool:
    known = logged_manifests(logged.history, logged.results)
    if known and logged.manifest not in known:
        raise UnusableRunError(
            f"{logged.results} stands in {logged.history} with another manifest: the folder was changed "
            "since; take it from the commit of the run"
        )
    return bool(known)


def _read(folder: Path, history: str | PathLike[str] | None) -> LoggedRun:
    results = read_results(folder, RunContext)
    _demand_whole(results)
    place = folder.resolve()
    file = Path(history).absolute() if history is not None else _nearest(place)
    inside = place.is_relative_to(file.parent.resolve())
    name = place.relative_to(file.parent.resolve()).as_posix() if inside else place.name
    return LoggedRun(results.run, file, name, results.digest(MANIFEST))


def _demand_whole(results: RunContext) -> None:
    """Raise UnusableRunError unless the folder holds exactly the files of its manifest, unchanged."""
    for look in (complete, manifest):
        try:
            look(results)
        except (CheckFailed, Unreadable) as fault:
            raise UnusableRunError(
                f"{results.folder}: {fault}; the folder was changed since the run: make the run again"
            ) from None


def _nearest(place: Path) -> Path:
    found = history_of(place)
    if found is None:
        raise UsageError(f"no folder above {place} holds a {HISTORY}: name the file with --history")
    return found
