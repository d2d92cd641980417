"""The release gate: verify a candidate and a baseline, then compare them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from math import inf
from pathlib import Path
from typing import Annotated

import msgspec

from pgmnemo.errors import PgmnemoError, UsageError
from runner.commands.compare.compare_runs import NO_LIMITS, compare
from runner.commands.compare.comparison import Comparison
from runner.errors import UnusableRunError
from runner.protocol.editions import OlderEdition
from runner.protocol.statistics.bootstrap import RESAMPLES
from runner.report.component_comparison import ComponentComparison, compare_with_components
from runner.runs.comparability import RETRIEVERS, differences
from runner.runs.results import Results, is_run
from runner.runs.run import RUN, Run
from runner.verification import Verification, verify

Verify = Callable[[Path], Verification]


@dataclass(frozen=True, slots=True)
class CheckedRun:
    """The verification of the baseline or the candidate."""

    role: str  # "baseline" or "candidate"
    verification: Verification


@dataclass(frozen=True, slots=True)
class GateOutcome:
    """The result of the gate.

    `comparison` is None when a run does not verify, because then no comparison is made. `legs` compares the
    candidate's hybrid with its retrievers; None if not requested.
    """

    checked: tuple[CheckedRun, ...]
    comparison: Comparison | None
    strict: bool = False
    legs: ComponentComparison | None = None

    @property
    def exit_code(self) -> int:
        """Return 0 if both runs verify, comparison passes and no retriever is ahead of hybrid; else 1."""
        if self.comparison is None or (self.legs and self.legs.falls):
            return 1
        return self.comparison.exit_code(strict=self.strict)

    @property
    def word(self) -> str:
        """The outcome as a word: `passed` or `failed`."""
        return "failed" if self.exit_code else "passed"


def gate(
    baseline: Path | str,
    candidate: Path | str,
    *,
    despite: Collection[str] = (),
    max_drop: Mapping[str, float] = NO_LIMITS,
    strict: bool = False,
    legs: bool = False,
    resamples: int = RESAMPLES,
    check: Verify = verify,
) -> GateOutcome:
    """Verify both runs and compare them. A folder that holds runs stands for its newest run.

    For the baseline this is the newest run under the candidate's conditions, if there is such a run. With
    `legs` the candidate's hybrid must also be no worse than each of its retrievers, in the headline's
    metrics, scope and view. Raises what `compare` raises, UnusableRunError for a blocked run and for a
    folder with a run that cannot be read, and UsageError if `legs` is set for a run that has no retrievers.
    """
    tried = newest_run(Path(candidate))
    folders = {"baseline": newest_run(Path(baseline), tried), "candidate": tried}
    for role, folder in folders.items():
        if Results(folder).blocked:
            raise UnusableRunError(f"the {role} {folder} is blocked and has no figure: read its BLOCKED.md")
    if folders["baseline"].samefile(tried):
        raise UsageError(f"the baseline {folders['baseline']} is the candidate: name another run as baseline")
    checked = tuple(CheckedRun(role, check(folder)) for role, folder in folders.items())
    if not all(each.verification.intact for each in checked):
        return GateOutcome(checked, None, strict)
    before, after = folders.values()
    against = _legs(after) if legs else None
    comparison = compare(before, after, despite=despite, max_drop=max_drop, resamples=resamples)
    return GateOutcome(checked, comparison, strict, against)


def _legs(folder: Path) -> ComponentComparison:
    """Compare a run's hybrid arm with its retrievers; raise UsageError if the run lacks one of them."""
    results = Results(folder)
    against = compare_with_components(results.metrics, results.run)
    if against.lacking:
        raise UsageError(
            f"--legs holds mode hybrid against its legs, and of {results.run.name} nothing can be said: "
            f"{against.lacking}; leave --legs out, or name a run that has the arms {' and '.join(RETRIEVERS)}"
        )
    return against


def newest_run(folder: Path, candidate: Path | None = None) -> Path:
    """Return `folder` if it is a results folder; else the run in it that started last, blocked or not.

    With a `candidate`, return a different run that is not blocked, with the fewest differences of conditions
    from the candidate. Raises UsageError when there is none, and UnusableRunError when a run in the folder
    cannot be read: it might be the newest.
    """
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}; name a results folder, or one that holds some")
    if is_run(folder):
        return folder
    found = [path for path in folder.iterdir() if path.name[0] != "." and is_run(path)]
    others = [path for path in found if candidate is None or not path.samefile(candidate)]
    runs = [(path, *_read(path)) for path in others if candidate is None or not Results(path).blocked]
    if not runs:
        other = "other " if found else ""
        raise UsageError(
            f"{folder} holds no {other}finished run; make one with `python -m runner`, or name another"
        )
    like = _read(candidate)[1] if candidate is not None else None

    def rank(one: tuple[Path, datetime, Run | None]) -> tuple[float, datetime, int, str]:
        path, started, run = one
        apart = 0.0 if like is None else inf if run is None else len(list(differences(run, like)))
        return -apart, started, len(path.name), path.name  # `_10` is after `_9`

    return max(runs, key=rank)[0]


class _Started(msgspec.Struct):
    started: Annotated[datetime, msgspec.Meta(tz=True)]


def _read(folder: Path) -> tuple[datetime, Run | None]:
    """Return when a run started, and its record: None for a blocked run and one of an older edition."""
    results = Results(folder)
    try:
        started = msgspec.json.decode(results.content(RUN), type=_Started).started
        return started, None if results.blocked else results.run
    except OlderEdition:
        return started, None
    except (msgspec.MsgspecError, ValueError, PgmnemoError) as error:
        raise UnusableRunError(
            f"{folder}, which may be the newest run there, has an unreadable {RUN}: {error}; take it from "
            "its commit, move it away, or name a results folder"
        ) from None
