"""Repeated runs: the headline metrics of equal runs, compared with the run-to-run bands (§6)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pgmnemo.errors import UsageError
from pgmnemo.paths import SQL_FOLDER
from pgmnemo.progress import QUIET, Progress
from runner.bench.finish import RunResult
from runner.bench.pipeline import run
from runner.bench.request import Request
from runner.runs.raw import RAW
from runner.runs.results import Results


@dataclass(frozen=True, slots=True)
class Spread:
    """The values of one headline metric of the system under test in one scope, over all runs.

    `band` is the largest allowed difference of two runs, as a fraction; None if the protocol sets no
    band.
    """

    scope: str
    metric: str
    values: tuple[float, ...]
    band: float | None

    @property
    def width(self) -> float:
        """Largest difference between two of the runs, as a fraction."""
        return round(max(self.values) - min(self.values), 12)

    @property
    def outside(self) -> bool:
        """Return whether two runs differ by more than the band."""
        return self.band is not None and self.width > self.band

    def __str__(self) -> str:
        values = ", ".join(f"{value:.4f}" for value in self.values)
        allowed = "no band in the protocol" if self.band is None else f"band {self.band:g}"
        judged = "" if self.band is None else ": OUTSIDE" if self.outside else ": within"
        return f"{self.scope}, {self.metric}: {values}; spread {self.width:.4f}, {allowed}{judged}"


@dataclass(frozen=True, slots=True)
class Repeated:
    """All runs in order, and the spread of each headline metric.

    `identical` is whether the raw rankings of all runs have the same bytes.
    """

    outcomes: tuple[RunResult, ...]
    spreads: tuple[Spread, ...]
    identical: bool

    @property
    def within(self) -> bool:
        """Return whether no metric is outside its band."""
        return not any(spread.outside for spread in self.spreads)


def repeat(
    request: Request,
    times: int,
    *,
    environ: Mapping[str, str] = os.environ,
    progress: Progress = QUIET,
    sql: Path = SQL_FOLDER,
) -> Repeated:
    """Make the run `times` times, each with its own artefacts.

    Raises what `run` raises, and UsageError if `times` is below 1 or a resumed run is to be repeated.
    """
    if times < 1 or (times > 1 and request.resume):
        raise UsageError(f"--repeat takes a positive number of runs, and no --resume beside it, not {times}")
    outcomes = tuple(run(request, environ=environ, progress=progress, sql=sql) for _ in range(times))
    bands = request.edition.variance.get(request.suite, {})
    raw = {Results(outcome.folder).digest(RAW) for outcome in outcomes} if times > 1 else set()
    return Repeated(outcomes, tuple(spreads(outcomes, bands)), len(raw) <= 1)


def spreads(outcomes: Sequence[RunResult], bands: Mapping[str, float]) -> Iterator[Spread]:
    """Yield the spread of each headline metric in each scope in which the runs have values."""
    first = outcomes[0].run
    for scope in (scope.name for scope in first.scopes):
        for metric in first.headline:
            wanted = (first.system, scope, first.headline_view, "all", metric)
            values = [value for outcome in outcomes for value in _values(outcome, wanted)]
            if values:
                yield Spread(scope, metric, tuple(values), bands.get(metric))


def _values(outcome: RunResult, wanted: tuple[str, ...]) -> list[float]:
    columns = ("arm", "scope", "view", "type", "metric")
    rows = outcome.metrics["results"]
    return [row["value"] for row in rows if tuple(row[column] for column in columns) == wanted]


def summary_lines(repeated: Repeated) -> Iterator[str]:
    """Yield one line for each spread, then a line that says whether the raw rankings are identical."""
    yield from map(str, repeated.spreads)
    same = "the same bytes" if repeated.identical else "not the same bytes"
    yield f"{len(repeated.outcomes)} runs: raw rankings are {same}"
