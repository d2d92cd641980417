"""An entry of HISTORY.md for a run, or for a deviation that was found after it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from hashlib import sha256
from os import PathLike
from pathlib import Path

from runner.artefacts.manifest import MANIFEST
from runner.claims.cite.results import read_listed
from runner.errors import RefusedError, UsageError
from runner.protocol.history import append_entry, entry_text, logged_manifests
from runner.records import Json, Verdict

HISTORY = "HISTORY.md"


@dataclass(frozen=True, slots=True)
class Run:
    """A results folder as HISTORY.md names it: `results` relative to the file, and its manifest's hash."""

    document: Json
    history: Path
    results: str
    manifest: str


def log_run(folder: str | PathLike[str], *, history: str | PathLike[str] | None = None) -> tuple[Path, bool]:
    """Append the entry of the run in `folder`: the file, and whether anything had to be appended.

    Raises RefusedError when the folder is logged under another manifest: it was changed since.
    """
    run = _read(Path(folder), history)
    if _is_logged(run):
        return run.history, False
    deviations = [str(text) for text in run.document["deviations"]]
    _append(run, date.fromisoformat(str(run.document["started"])[:10]), deviations)
    return run.history, True


def log_deviation(
    folder: str | PathLike[str],
    deviation: str,
    *,
    history: str | PathLike[str] | None = None,
    day: date | None = None,
) -> Path:
    """Append a deviation of the run in `folder` that became known after it; the file.

    The entry bears `day` (today, unless given); a verified run is a deviation from then on. Raises UsageError
    when the run itself is not logged yet, RefusedError when it was changed since it was.
    """
    run = _read(Path(folder), history)
    if not deviation.strip():
        raise UsageError("a deviation needs words: say what departs from the protocol")
    if not _is_logged(run):
        raise UsageError(f"{run.history} has no entry for {run.results}: add the run first, with history add")
    _append(run, day or datetime.now(UTC).date(), [deviation])
    return run.history


def _append(run: Run, day: date, deviations: list[str]) -> None:
    verdict = Verdict(run.document["verdict"])
    if deviations and verdict is Verdict.VERIFIED:
        verdict = Verdict.DEVIATION
    suite = str(run.document["corpus"]["suite"])
    append_entry(run.history, entry_text(day, suite, run.results, verdict, run.manifest, deviations))


def _is_logged(run: Run) -> bool:
    known = logged_manifests(run.history, run.results)
    if known and run.manifest not in known:
        raise RefusedError(
            f"{run.results} stands in {run.history} with another manifest: the folder was changed since; "
            "take it from the commit of the run"
        )
    return bool(known)


def _read(folder: Path, history: str | PathLike[str] | None) -> Run:
    document = read_listed(folder, "run.json")
    place = folder.resolve()
    file = Path(history).absolute() if history is not None else _nearest(place)
    inside = place.is_relative_to(file.parent.resolve())
    results = place.relative_to(file.parent.resolve()).as_posix() if inside else place.name
    return Run(document, file, results, sha256((place / MANIFEST).read_bytes()).hexdigest())


def _nearest(place: Path) -> Path:
    found = next((folder / HISTORY for folder in place.parents if (folder / HISTORY).is_file()), None)
    if found is None:
        raise UsageError(f"no folder above {place} holds a {HISTORY}: name the file with --history")
    return found
