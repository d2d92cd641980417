"""The release gate: verify a candidate and a baseline, then compare them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from pgmnemo.errors import PgmnemoError, UsageError
from runner.commands.compare.compare_runs import NO_LIMITS, compare
from runner.commands.compare.comparison import Comparison
from runner.errors import UnusableRunError
from runner.protocol.statistics.bootstrap import RESAMPLES
from runner.report.component_comparison import ComponentComparison, compare_with_components
from runner.runs.comparability import RETRIEVERS, differences
from runner.runs.manifest import MANIFEST
from runner.runs.results import Results
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
    metrics, scope and view. Raises what `compare` raises, UnusableRunError for a blocked run, and
    UsageError if `legs` is set for a run that has no retrievers.
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
    """Return `folder` if it is a results folder; else the newest finished run in it.

    With a `candidate`, return a different run, with the fewest differences of conditions from the
    candidate. Raises UsageError when there is none.
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
    """Return a sort key that puts the best baseline last: readable, most like the candidate, newest."""
    if run is None:
        return False, 0, ""
    apart = len(list(differences(run, candidate))) if candidate is not None else 0
    return True, -apart, run.started.isoformat()


def _read(folder: Path) -> Run | None:
    """Return the record of a run; None if it is damaged: such a run sorts first, and `verify` reports it."""
    try:
        return Results(folder).run
    except PgmnemoError:
        return None
