"""Hold a candidate against a baseline: both verified, then compared."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from runner.compare.comparing import NO_LIMITS, compare
from runner.compare.comparison import Comparison
from runner.compare.newest import newest
from runner.errors import RefusedError, UsageError
from runner.report.legs import Against, against_legs
from runner.runs.legs import LEGS
from runner.runs.reading import Results
from runner.statistics.bootstrap import RESAMPLES
from runner.verify import Verification, verify

Verify = Callable[[Path], Verification]


@dataclass(frozen=True, slots=True)
class Checked:
    """One of the two folders and what verifying it found."""

    role: str  # "baseline" or "candidate"
    verification: Verification


@dataclass(frozen=True, slots=True)
class Gated:
    """What the gate found. `comparison` is None when a run could not be verified, for then none is made.

    `legs` is how the candidate's hybrid stands to its legs, where that was asked for.
    """

    checked: tuple[Checked, ...]
    comparison: Comparison | None
    strict: bool = False
    legs: Against | None = None

    @property
    def exit_code(self) -> int:
        """0 when both runs verify, the comparison lets the candidate through and no leg is ahead, else 1."""
        if self.comparison is None or (self.legs and self.legs.falls):
            return 1
        return self.comparison.exit_code(strict=self.strict)

    @property
    def word(self) -> str:
        """`passed` or `failed`."""
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
) -> Gated:
    """Verify both runs and compare them; each folder may also hold runs, of which the newest is taken.

    As the baseline, that is the newest that is like the candidate, where one is. With `legs` the candidate's
    hybrid must also be no worse than each of its legs, in the headline's metrics, scope and view.

    Raises what `compare` raises, RefusedError for a blocked run, and UsageError where `legs` are asked for of
    a run that has none.
    """
    tried = newest(Path(candidate))
    folders = {"baseline": newest(Path(baseline), tried), "candidate": tried}
    for role, folder in folders.items():
        if Results(folder).blocked:
            raise RefusedError(f"the {role} {folder} is blocked and has no figure: read its BLOCKED.md")
    if folders["baseline"].samefile(tried):
        raise UsageError(f"the baseline {folders['baseline']} is the candidate: name another run as baseline")
    checked = tuple(Checked(role, check(folder)) for role, folder in folders.items())
    if not all(each.verification.intact for each in checked):
        return Gated(checked, None, strict)
    before, after = folders.values()
    against = _legs(after) if legs else None
    comparison = compare(before, after, despite=despite, max_drop=max_drop, resamples=resamples)
    return Gated(checked, comparison, strict, against)


def _legs(folder: Path) -> Against:
    """How the hybrid of the run in `folder` stands to its legs; UsageError where the run cannot say."""
    results = Results(folder)
    against = against_legs(results.metrics, results.run)
    if against.lacking:
        raise UsageError(
            f"--legs holds mode hybrid against its legs, and of {results.run.name} nothing can be said: "
            f"{against.lacking}; leave --legs out, or name a run that has the arms {' and '.join(LEGS)}"
        )
    return against
