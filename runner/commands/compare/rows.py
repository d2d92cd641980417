"""The rows of a comparison: one metric over a part of the questions, with difference and finding.

The findings follow the decision table of docs/howto/compare.md.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from runner.commands.compare.compared_run import Chosen, PairedValues
from runner.protocol.editions import Edition
from runner.protocol.metrics import Metric
from runner.protocol.metrics.metric import Floats
from runner.protocol.statistics import bootstrap_difference, holm, mcnemar
from runner.records import ALL, View
from runner.report.formats import in_percent
from runner.runs.canonical import significant

HITS = ("recall_any", "recall_all")  # families with a value of 0 or 1 for a question
DIGITS = 10  # significant digits, as in metrics.json
INTERVAL_DECIMALS = 6
P_DIGITS = 4
EQUAL = 1e-12  # a smaller difference is rounding


@dataclass(frozen=True, slots=True)
class DifferenceRow:
    """The difference candidate minus baseline, paired by question.

    `won` and `lost` count the questions with a risen and a fallen value; `mcnemar_p` is None except for hits.
    `p` is the bootstrap's, two-sided, not corrected for the number of tests.
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
        """Return whether this is the row of `view` that covers all question types."""
        return (self.view, self.type) == (view, ALL)


def rows_of(pair: PairedValues, views: Sequence[View], resamples: int) -> Iterator[DifferenceRow]:
    """Yield one row for each view, type and metric."""
    for view, type_, chosen in pair.parts(views):
        yield from _part(pair, view, type_, chosen, resamples)


def _part(
    pair: PairedValues, view: str, type_: str, chosen: Chosen, resamples: int
) -> Iterator[DifferenceRow]:
    moves = pair.moves[chosen]
    found = bootstrap_difference(moves, pair.clusters(chosen), resamples=resamples)
    before, after = pair.before[chosen].mean(axis=0), pair.after[chosen].mean(axis=0)
    for i, metric in enumerate(pair.metrics):
        won, lost = _won_and_lost(moves[:, i])
        yield DifferenceRow(
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
class MovedQuestions:
    """The keys of the questions with a risen (`won`) or fallen (`lost`) value, with q2 before q10."""

    scope: str
    metric: str
    won: tuple[str, ...]
    lost: tuple[str, ...]


def moved_questions(pair: PairedValues, metric: str, chosen: Chosen) -> MovedQuestions:
    """Return the keys of the `chosen` questions for which `metric` differs between the two runs."""
    place = [m.name for m in pair.metrics].index(metric)
    moves = pair.moves[chosen, place]
    won, lost = (
        tuple(sorted((pair.questions[i].key for i in chosen[mask]), key=_natural))
        for mask in (moves > EQUAL, moves < -EQUAL)
    )
    return MovedQuestions(pair.scope, metric, won, lost)


def _natural(key: str) -> list[tuple[bool, int, str]]:
    """Return a sort key that orders q2 before q10."""
    parts = re.split(r"([0-9]+)", key)
    return [(part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in parts]


LEVEL = 0.05
RECALL_BAND, RANK_BAND = 0.010, 0.015  # used if the protocol has no band for the suite
RECALL_PIN, RANK_PIN = "recall_any@10", "MRR@50"  # the metrics that the protocol's bands are given for


class ComparisonFinding(StrEnum):
    """The finding of a comparison."""

    IMPROVED = "improved"
    EQUIVALENT = "equivalent"
    REGRESSED = "regressed"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One hypothesis of the family that Holm's correction covers, and its finding."""

    row: DifferenceRow
    p_holm: float
    band: float
    finding: ComparisonFinding


def band(edition: Edition, suite: str, metric: str) -> float:
    """Return the half-width of the band within which two runs count as equal.

    It is the protocol's own (§6) if it names the metric; else its band for recall_any@10 (recalls) or
    MRR@50 (all others) in that suite; else 0.010 or 0.015.
    """
    bands = edition.variance.get(suite, {})
    pin, default = (RECALL_PIN, RECALL_BAND) if in_percent(metric) else (RANK_PIN, RANK_BAND)
    return float(bands.get(metric, bands.get(pin, default)))


def hypotheses(
    rows: Sequence[DifferenceRow], headline: Collection[str], edition: Edition, suite: str, view: str = ALL
) -> list[Hypothesis]:
    """Return a hypothesis for each headline metric and scope, over one view; omit trivial rows."""
    chosen = [row for row in rows if row.of(view) and row.metric in headline and not row.trivial]
    adjusted = holm([row.p for row in chosen])
    members = []
    for row, p in zip(chosen, adjusted, strict=True):
        width = band(edition, suite, row.metric)
        members.append(Hypothesis(row, p, width, decide_metric(row, p, width)))
    return members


def decide_metric(row: DifferenceRow, p_holm: float, width: float) -> ComparisonFinding:
    """Return the finding for one metric.

    A change must be significant and exceed the band; equivalence needs an interval within the band.
    """
    if not (row.won or row.lost):
        return ComparisonFinding.EQUIVALENT
    if p_holm < LEVEL and row.ci95_low > 0 and row.difference > width:
        return ComparisonFinding.IMPROVED
    if p_holm < LEVEL and row.ci95_high < 0 and row.difference < -width:
        return ComparisonFinding.REGRESSED
    if -width <= row.ci95_low and row.ci95_high <= width:
        return ComparisonFinding.EQUIVALENT
    return ComparisonFinding.INCONCLUSIVE


def dropped_rows(
    rows: Sequence[DifferenceRow], limits: Mapping[str, float], view: str = ALL
) -> list[DifferenceRow]:
    """Return the rows over all types of a view that fell by more than the limit of their metric."""
    return [row for row in rows if row.of(view) and row.difference < -limits.get(row.metric, float("inf"))]


def decide_comparison(members: Sequence[Hypothesis], fallen: Sequence[DifferenceRow]) -> ComparisonFinding:
    """Return the finding for the whole comparison."""
    findings = {member.finding for member in members}
    if fallen or ComparisonFinding.REGRESSED in findings:
        return ComparisonFinding.REGRESSED
    if ComparisonFinding.IMPROVED in findings and not any(_may_have_fallen(member) for member in members):
        return ComparisonFinding.IMPROVED
    return (
        ComparisonFinding.EQUIVALENT
        if findings == {ComparisonFinding.EQUIVALENT}
        else ComparisonFinding.INCONCLUSIVE
    )


def _may_have_fallen(member: Hypothesis) -> bool:
    return member.finding is ComparisonFinding.INCONCLUSIVE and member.row.difference < -member.band
