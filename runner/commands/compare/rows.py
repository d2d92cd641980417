"""One metric of one part of the questions: both values, the difference and how sure it is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from runner.commands.compare.pairs import Chosen, Pair
from runner.protocol.metrics import Metric
from runner.protocol.metrics.metric import Floats
from runner.protocol.statistics import bootstrap_difference, mcnemar
from runner.records import ALL, View
from runner.runs.canonical import significant

HITS = ("recall_any", "recall_all")  # families whose value for a question is 0 or 1
DIGITS = 10  # significant digits, as in metrics.json
INTERVAL_DECIMALS = 6
P_DIGITS = 4
EQUAL = 1e-12  # values closer than this are one value, rounded twice


@dataclass(frozen=True, slots=True)
class Row:
    """Candidate minus baseline, paired by question.

    `won` and `lost` count the questions whose value rose and fell; `mcnemar_p` is None but for hits. `p` is
    the bootstrap's, two-sided, not corrected for the number of tests.
    """

    scope: str
    view: str
    type: str
    metric: str
    baseline: float
    candidate: float
    difference: float
    ci95_low: float
    ci95_high: float
    p: float
    won: int
    lost: int
    mcnemar_p: float | None
    n: int
    trivial: int

    def of(self, view: str) -> bool:
        """Whether the row is about all types of the questions of `view`."""
        return (self.view, self.type) == (view, ALL)


def rows_of(pair: Pair, views: Sequence[View], resamples: int) -> Iterator[Row]:
    """One row for each view, type and metric."""
    for view, type_, chosen in pair.parts(views):
        yield from _part(pair, view, type_, chosen, resamples)


def _part(pair: Pair, view: str, type_: str, chosen: Chosen, resamples: int) -> Iterator[Row]:
    moves = pair.moves[chosen]
    found = bootstrap_difference(moves, pair.clusters(chosen), resamples=resamples)
    before, after = pair.before[chosen].mean(axis=0), pair.after[chosen].mean(axis=0)
    for i, metric in enumerate(pair.metrics):
        won, lost = _won_and_lost(moves[:, i])
        yield Row(
            scope=pair.scope,
            view=view,
            type=type_,
            metric=metric.name,
            baseline=significant(before[i], DIGITS),
            candidate=significant(after[i], DIGITS),
            difference=significant(found.interval.value[i] if won or lost else 0.0, DIGITS),
            ci95_low=round(float(found.interval.low[i]), INTERVAL_DECIMALS),
            ci95_high=round(float(found.interval.high[i]), INTERVAL_DECIMALS),
            p=significant(found.p[i], P_DIGITS),
            won=won,
            lost=lost,
            mcnemar_p=significant(mcnemar(won, lost), P_DIGITS) if _is_hit(metric) else None,
            n=len(chosen),
            trivial=pair.trivial(metric, chosen),
        )


def _is_hit(metric: Metric) -> bool:
    return metric.family in HITS


def _won_and_lost(moves: Floats) -> tuple[int, int]:
    return int((moves > EQUAL).sum()), int((moves < -EQUAL).sum())


@dataclass(frozen=True, slots=True)
class Moved:
    """Keys of the questions whose value rose and fell, q2 before q10."""

    scope: str
    metric: str
    won: tuple[str, ...]
    lost: tuple[str, ...]


def moved(pair: Pair, metric: str, chosen: Chosen) -> Moved:
    """The `chosen` questions that `metric` tells apart."""
    place = [m.name for m in pair.metrics].index(metric)
    moves = pair.moves[chosen, place]
    won, lost = (
        tuple(sorted((pair.questions[i].key for i in chosen[mask]), key=_natural))
        for mask in (moves > EQUAL, moves < -EQUAL)
    )
    return Moved(pair.scope, metric, won, lost)


def _natural(key: str) -> list[tuple[bool, int, str]]:
    """A sort key by which q2 stands before q10."""
    parts = re.split(r"([0-9]+)", key)
    return [(part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in parts]
