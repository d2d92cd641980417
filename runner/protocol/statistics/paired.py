"""The interval of a mean difference between two arms that answered the same questions.

A t interval on the differences, with the jackknife's variance over clusters and the number of clusters minus
one as degrees of freedom. Two more questions, one that each arm wins outright, are added to the variance
(Bonett and Price 2012 add them for hits and misses): without them a handful of questions that differ covers
too little, and two arms that agree everywhere would have a difference of exactly zero, [0, 0], for any n.
With them the interval is about ± 1.4 t / n, "fewer than some three questions in n". Coverage falls below 93 %
if the differences are in one or two clusters, to 84 % at worst (test_coverage.py). This is the interval of
metric code 1.0.0, kept for the results that name it; `paired_score` follows it.
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
