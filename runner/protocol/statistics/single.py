"""The interval of one mean of values in [0, 1]: Wilson's, on an effective number of questions.

Korn and Graubard (1998) put a survey's proportion into a binomial interval by the number of independent
yes-or-no answers that would have the same variance. Here that interval is Wilson's score interval with a t
quantile, which stays inside [0, 1] and has a width at 0 and at 1. The effective number is n / d, where

- without clusters d is the variance of the values over p(1 - p), which is 1 for hits and misses and less for
  fractions. It is shrunk to 1 by one question's weight, so that equal fractions have a width;
- with clusters d is the jackknife's design effect, never below the d without clusters. A design effect is
  estimated only from the rarer outcome (with one miss it is 1 whatever the truth), so it is blended with
  Kish's 1 + (m - 1) rho at rho = 0.1, with the weight of five questions of the rarer outcome. At p = 0 and
  p = 1 there is no estimate, and only Kish's value is used.

`tests/protocol/statistics/test_coverage.py` compares its coverage with that of the alternatives.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from runner.protocol.statistics.clusters import CONFIDENCE, Clustered, Floats, Interval, by_cluster
from runner.protocol.statistics.quantile import t_quantile

PRIOR_CORRELATION = 0.1  # within a cluster; ten times that of LoCoMo's sessions under BM25
PRIOR_WEIGHT = 5.0  # questions of the rarer outcome


def mean_interval(values: Floats, clusters: Sequence[Hashable] | None = None) -> Interval:
    """Return mean and 95 % interval of each column of `values` (questions, metrics), all in [0, 1].

    `clusters` names the cluster of each question; None: each question is its own cluster. The degrees of
    freedom are the number of clusters minus one; without any, the interval is all of [0, 1].
    """
    groups = by_cluster(values, clusters)
    mean = groups.mean
    if groups.freedom < 1:
        return Interval.unknown(mean, 0.0)
    effect = dispersion(values, mean, mean * (1 - mean))
    if clusters is not None:
        effect = np.maximum(effect, _design_effect(groups, mean))
    low, high = wilson(mean, len(values) / effect, t_quantile((1 + CONFIDENCE) / 2, groups.freedom))
    return Interval(mean, low, high)


def wilson(mean: Floats, number: Floats, quantile: float) -> tuple[Floats, Floats]:
    """Return the ends of Wilson's (1927) score interval for a proportion in `number` trials."""
    extra = quantile**2 / number
    centre = mean + extra / 2
    reach = quantile * np.sqrt(mean * (1 - mean) / number + extra / (4 * number))
    low, high = (centre - reach) / (1 + extra), (centre + reach) / (1 + extra)
    return np.where(mean > 0, low, 0.0), np.where(mean < 1, high, 1.0)


def dispersion(values: Floats, mean: Floats, whole: Floats) -> Floats:
    """Return the variance of the values over `whole`, shrunk to 1 by the weight of one question.

    `whole` is the variance of hits and misses with the same mean.
    """
    ratio = _ratio(((values - mean) ** 2).sum(axis=0) / len(values), whole)
    return np.asarray((len(values) * ratio + 1) / (len(values) + 1))


def _design_effect(groups: Clustered, mean: Floats) -> Floats:
    number = groups.counts.sum()
    seen = _ratio(groups.jackknife() * number, mean * (1 - mean))
    rarer = number * np.minimum(mean, 1 - mean)
    prior = 1 + (groups.typical_size - 1) * PRIOR_CORRELATION
    return np.asarray((rarer * seen + PRIOR_WEIGHT * prior) / (rarer + PRIOR_WEIGHT))


def _ratio(variance: Floats, binomial: Floats) -> Floats:
    """Return `variance / binomial`, or 1 if all values are 0 or all are 1."""
    flat = binomial <= 0
    return np.where(flat, 1.0, variance / np.where(flat, 1.0, binomial))
