"""Pure statistics: intervals and tests of means and of differences of means. Knows nothing of retrieval."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from runner.protocol.statistics.bootstrap import bootstrap_difference
from runner.protocol.statistics.clusters import Floats, Interval
from runner.protocol.statistics.hypotheses import holm, mcnemar
from runner.protocol.statistics.paired import difference_interval
from runner.protocol.statistics.paired_score import score_interval
from runner.protocol.statistics.single import mean_interval


@dataclass(frozen=True, slots=True)
class Method:
    """A method of confidence intervals; metrics.json names it `name`, then `clustered` or unclustered."""

    name: str
    clustered: str
    interval: Callable[[Floats, Sequence[Hashable] | None], Interval]

    def words(self, clustered: bool) -> str:
        """Return the full name of the method."""
        return f"{self.name}, {self.clustered if clustered else 'unclustered'}"


_HOW = "clustered by project (jackknife, {most}clusters - 1 degrees of freedom)"
MEAN = Method("Wilson t interval on the effective sample size", _HOW.format(most=""), mean_interval)
PAIRED_T = Method("paired t interval with two added questions", _HOW.format(most=""), difference_interval)
PAIRED_SCORE = Method(
    "paired score interval on the effective sample size", _HOW.format(most="at most "), score_interval
)

__all__ = [
    "MEAN",
    "PAIRED_SCORE",
    "PAIRED_T",
    "Interval",
    "Method",
    "bootstrap_difference",
    "difference_interval",
    "holm",
    "mcnemar",
    "mean_interval",
    "score_interval",
]
