"""The decision table of benchmarks/COMPARING.md: from a difference and its interval to one word."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from runner.commands.compare.rows import Row
from runner.protocol.editions import Edition
from runner.protocol.statistics import holm
from runner.records import ALL
from runner.report.formats import is_recall

LEVEL = 0.05
RECALL_BAND, RANK_BAND = 0.010, 0.015  # where the protocol has no band for the suite
RECALL_PIN, RANK_PIN = "recall_any@10", "MRR@50"  # the metrics that the protocol's bands are given for


class Finding(StrEnum):
    """What a comparison found."""

    IMPROVED = "improved"
    EQUIVALENT = "equivalent"
    REGRESSED = "regressed"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True)
class Member:
    """One hypothesis of the family that Holm's correction runs over, and what was decided on it."""

    row: Row
    p_holm: float
    band: float
    finding: Finding


def band(edition: Edition, suite: str, metric: str) -> float:
    """Half-width of the band within which two runs count as one.

    The protocol's own (§6) where it names the metric; else its band for recall_any@10 (recalls) or MRR@50
    (all others) in that suite; else 0.010 and 0.015.
    """
    bands = edition.variance.get(suite, {})
    pin, default = (RECALL_PIN, RECALL_BAND) if is_recall(metric) else (RANK_PIN, RANK_BAND)
    return float(bands.get(metric, bands.get(pin, default)))


def family(
    rows: Sequence[Row], headline: Collection[str], edition: Edition, suite: str, view: str = ALL
) -> list[Member]:
    """The headline metrics in every scope, over a view; a trivial one is no headline and left out."""
    chosen = [row for row in rows if row.of(view) and row.metric in headline and not row.trivial]
    adjusted = holm([row.p for row in chosen])
    members = []
    for row, p in zip(chosen, adjusted, strict=True):
        width = band(edition, suite, row.metric)
        members.append(Member(row, p, width, finding(row, p, width)))
    return members


def finding(row: Row, p_holm: float, width: float) -> Finding:
    """The word for one metric. A change must be shown and exceed the band; equality must be shown too."""
    if not (row.won or row.lost):
        return Finding.EQUIVALENT
    if p_holm < LEVEL and row.ci95_low > 0 and row.difference > width:
        return Finding.IMPROVED
    if p_holm < LEVEL and row.ci95_high < 0 and row.difference < -width:
        return Finding.REGRESSED
    if -width <= row.ci95_low and row.ci95_high <= width:
        return Finding.EQUIVALENT
    return Finding.INCONCLUSIVE


def dropped(rows: Sequence[Row], limits: Mapping[str, float], view: str = ALL) -> list[Row]:
    """The rows over a whole view whose value fell by more than the limit set for their metric."""
    return [row for row in rows if row.of(view) and row.difference < -limits.get(row.metric, float("inf"))]


def decide(members: Sequence[Member], fallen: Sequence[Row]) -> Finding:
    """The word for the whole comparison."""
    findings = {member.finding for member in members}
    if fallen or Finding.REGRESSED in findings:
        return Finding.REGRESSED
    if Finding.IMPROVED in findings and not any(_may_have_fallen(member) for member in members):
        return Finding.IMPROVED
    return Finding.EQUIVALENT if findings == {Finding.EQUIVALENT} else Finding.INCONCLUSIVE


def _may_have_fallen(member: Member) -> bool:
    return member.finding is Finding.INCONCLUSIVE and member.row.difference < -member.band
