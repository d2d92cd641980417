"""Verified runs from the arguments of the command line, and the conditions that the runs of a board share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path

from pgmnemo.errors import PgmnemoError, UsageError
from runner.commands.compare.compared_run import ComparedRun, read_side
from runner.commands.leaderboard.board import ExcludedRun
from runner.protocol.editions import OlderEdition
from runner.report.citation import CITABLE
from runner.report.formats import CITED, shorten
from runner.runs import comparability
from runner.runs.results import is_run
from runner.runs.run import BLOCKED
from runner.verification import Verification

Verify = Callable[..., Verification]
QUESTIONS, DEFINITIONS, CODE = "n", "metric definitions", "major version of the metric code"

NAMES = [*comparability.CONDITIONS, QUESTIONS, DEFINITIONS, CODE]


@dataclass(frozen=True, slots=True)
class VerifiedRun:
    """A verified run, and the person who attests it."""

    folder: Path
    side: ComparedRun
    attested: str


def results_folders(names: Iterable[Path | str]) -> tuple[Path, ...]:
    """Return each results folder that `names` match, once, in the order of `names`.

    A name is a run, a folder of runs, or a pattern. Raises UsageError for a name that leads to no run.
    """
    found: dict[Path, Path] = {}
    for name in names:
        for folder in _runs(str(name)):
            found.setdefault(folder.resolve(), folder)
    if not found:
        raise UsageError("a leaderboard needs results folders: name at least one")
    return tuple(found.values())


def _runs(name: str) -> list[Path]:
    pattern = has_magic(name) and not Path(name).exists()  # a folder can be named [a]
    places = [Path(place) for place in sorted(glob(name))] if pattern else [Path(name)]
    runs = [run for place in places for run in _inside(place)]
    if not runs:
        raise UsageError(f"{name} holds no run; name results folders, or a folder that holds some")
    return runs


def _inside(place: Path) -> list[Path]:
    if is_run(place) or not place.is_dir():
        found = [place]
    else:
        found = [child for child in sorted(place.iterdir()) if child.name[0] != "."]
    return [one for one in found if is_run(one)]


def read_entry(place: Path, check: Verify) -> VerifiedRun | ExcludedRun:
    """Verify and read the run in a folder; return an ExcludedRun if no leaderboard may list it."""
    try:
        return _read(place, check)
    except PgmnemoError as error:
        return _aside(place, "unreadable", str(error))


def _read(folder: Path, check: Verify) -> VerifiedRun | ExcludedRun:
    if (folder / BLOCKED).exists():
        return _aside(folder, "blocked", f"a gate failed before there was a figure: read its {BLOCKED}")
    try:
        verification = check(folder)
    except OlderEdition as older:
        return _aside(folder, "unreadable", str(older))
    if verification.faults:
        first, *more = verification.faults
        others = f", and {len(more)} more" if more else ""
        return _aside(folder, "not intact", f"verify: {first.check}: {first.sentence}{others}")
    if verification.verdict not in CITABLE:
        why = "what it measured is not what the protocol registers (protocol §5)"
        return _aside(folder, "unverified", why)
    return VerifiedRun(folder, read_side(folder), verification.attested)


def _aside(folder: Path, kind: str, reason: str) -> ExcludedRun:
    return ExcludedRun(folder.resolve().name, folder.as_posix(), kind, reason)


def _definitions(side: ComparedRun) -> dict[str, str]:
    """Return the definition of each metric of the board."""
    known = side.metrics["definitions"]
    return {name: known[name] for name in (CITED, *side.run.headline) if name in known}


def _asked(side: ComparedRun) -> str:
    return f"{comparability.headline_questions(side.metrics, side.run):,}"


def _major(side: ComparedRun) -> str:
    return str(side.metrics["metric_code"]).partition(".")[0]


def condition_words(side: ComparedRun) -> dict[str, str]:
    """Return each condition of a run as text."""
    listed = {
        name: shorten(comparability.describe_condition(side.run, name)) for name in comparability.CONDITIONS
    }
    return {**listed, QUESTIONS: _asked(side), DEFINITIONS: ", ".join(_definitions(side)), CODE: _major(side)}


def condition_differences(first: ComparedRun, other: ComparedRun) -> Iterator[str]:
    """Yield one sentence for each condition in which `other` differs from `first`.

    If the suites differ, only that sentence is yielded.
    """
    for name, how in comparability.differences(other.run, first.run):
        yield f"{name}: {shorten(how)}"
        if name == "suite":
            return
    for name, of in ((QUESTIONS, _asked), (DEFINITIONS, _definitions), (CODE, _major)):
        if of(first) != of(other):
            yield f"{name}: {of(other)} against {of(first)}"
