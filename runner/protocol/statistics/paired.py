"""The interval of a mean difference between two arms that answered the same questions.

It is a t interval on the differences. The variance is the jackknife's over clusters; the degrees of freedom
are the number of clusters minus one. Two artificial questions enter the variance: one is won outright by
each arm (Bonett and Price 2012 do this for hits and misses). Without them the interval is too narrow if only
a few questions differ, and it is exactly [0, 0] for any n if the arms agree everywhere. With them such an
interval is about ± 1.4 t / n, "fewer than some three questions in n".

Coverage falls below 93 % if the differences are in one or two clusters, to 84 % at worst (test_coverage.py).
This is the interval of metric code 1.0.0, kept for the results that name it; `paired_score` replaces it.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from runner.protocol.statistics.clusters import CONFIDENCE, Floats, Interval, by_cluster
from runner.protocol.statistics.quantile import t_quantile

ADDED_QUESTIONS = 2


def difference_interval(differences: Floats, clusters: Sequence[Hashable] | None = None) -> Interval:
    """Return mean and 95 % interval of each column of `differences` (questions, metrics), all in [-1, 1].

    `clusters` names the cluster of each question. With one cluster the interval is all of [-1, 1].
    """
    groups = by_cluster(differences, clusters)
    mean, number = groups.mean, len(differences)
    if groups.freedom < 1:
        return Interval.unknown(mean)
    variance = (groups.jackknife() * number**2 + ADDED_QUESTIONS) / (number + ADDED_QUESTIONS) ** 2
    reach = t_quantile((1 + CONFIDENCE) / 2, groups.freedom) * np.sqrt(variance)
    return Interval(mean, np.maximum(mean - reach, -1.0), np.minimum(mean + reach, 1.0))
