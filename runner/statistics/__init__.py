"""Pure statistics: how sure a mean is, and a difference of means. Knows nothing of retrieval."""

from __future__ import annotations

from runner.statistics.bootstrap import bootstrap_difference
from runner.statistics.holm import holm
from runner.statistics.interval import Interval
from runner.statistics.mcnemar import mcnemar
from runner.statistics.paired import difference_interval
from runner.statistics.single import mean_interval

STATISTICS_VERSION = "1.0.0"

_VALUE = "Wilson t interval on the effective sample size"
_DIFFERENCE = "paired t interval with two added questions"


def interval_methods(clustered: bool) -> dict[str, str]:
    """The names of the intervals in `results` and `differences`, as metrics.json states them."""
    how = "clustered by project (jackknife, clusters - 1 degrees of freedom)" if clustered else "unclustered"
    return {"value": f"{_VALUE}, {how}", "difference": f"{_DIFFERENCE}, {how}"}


__all__ = [
    "STATISTICS_VERSION",
    "Interval",
    "bootstrap_difference",
    "difference_interval",
    "holm",
    "interval_methods",
    "mcnemar",
    "mean_interval",
]
