"""The interval of a mean difference between two arms, from a score test on an effective number of questions.

Tango (1998) tests for every possible difference d whether the questions won and lost contradict it, with the
variance that would hold if d were true. So an end far from the observed difference gets the larger variance
of its own d, as in Wilson's interval of one share, and arms that agree everywhere have an interval of some
width. Here

- fractions such as reciprocal ranks count as the parts of a question that they won or lost;
- the number of questions is that of independent questions with the same variance (Korn and Graubard 1998):
  n / d, where d is the jackknife's design effect over clusters, never below that of the values themselves;
- the quantile is Student's t with the number of clusters minus one as degrees of freedom. If the differences
  are in few clusters, the others say little about the variance between clusters, so the degrees shrink, in
  whole steps, as the effective number of clusters with differences (Kish) does relative to that of as many
  independent questions.

`tests/protocol/statistics/test_coverage.py` compares it with the t interval of metric code 1.0.0.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from math import floor

import numpy as np

from runner.protocol.statistics.clusters import CONFIDENCE, Clustered, Floats, Interval, by_cluster
from runner.protocol.statistics.quantile import t_central, t_quantile
from runner.protocol.statistics.single import dispersion

LEAST_FREEDOM = 2  # a t quantile of one degree is three times as wide, without better coverage
STEPS = 60  # halvings of [-1, 1]: below the last bit of a double near 1
LEAST_VARIANCE = 1e-200  # in place of 0, if only the observed difference is possible
ROUNDING = 1e-9  # added to the degrees, so that rounding of a sum has no effect


@dataclass(frozen=True, slots=True)
class ScoreTestInput:
    """The input of the score test: shares won and lost, effective number of questions, degrees of freedom.

    Each has the shape (metrics,).
    """

    won: Floats
    lost: Floats
    number: Floats
    freedom: list[int]

    def statistic(self, difference: Floats) -> Floats:
        """Return by how many standard errors the observed difference exceeds `difference`."""
        linear = difference * (2 - self.won + self.lost) - self.won - self.lost
        root = np.sqrt(np.maximum(linear**2 + 8 * self.lost * difference * (1 - difference), 0.0))
        variance = (root - linear) / 2 + difference * (1 - difference)
        apart = self.won - self.lost - difference
        return np.asarray(apart * np.sqrt(self.number / np.maximum(variance, LEAST_VARIANCE)))


def score_interval(differences: Floats, clusters: Sequence[Hashable] | None = None) -> Interval:
    """Return mean and 95 % interval of each column of `differences` (questions, metrics), all in [-1, 1].

    `clusters` names the cluster of each question. With one cluster the interval is all of [-1, 1].
    """
    mean = by_cluster(differences, clusters).mean
    found = score_test_input(differences, clusters)
    if found is None:
        return Interval.unknown(mean)
    reach = np.array([t_quantile((1 + CONFIDENCE) / 2, freedom) for freedom in found.freedom])
    low, high = (_end(found, reach, mean, limit) for limit in (-1.0, 1.0))
    return Interval(mean, low, high)


def score_p(differences: Floats, clusters: Sequence[Hashable] | None = None) -> Floats:
    """Return the two-sided p value of "no difference" for each column.

    Below 0.05 if the interval excludes 0.
    """
    found = score_test_input(differences, clusters)
    if found is None:
        return np.ones(differences.shape[1])
    seen = np.abs(found.statistic(np.zeros_like(found.won)))
    return np.array(
        [1 - t_central(float(t), freedom) for t, freedom in zip(seen, found.freedom, strict=True)]
    )


def score_test_input(differences: Floats, clusters: Sequence[Hashable] | None) -> ScoreTestInput | None:
    """Return the shares, effective number of questions and degrees of freedom; None for one cluster."""
    collect = partial(by_cluster, clusters=clusters)
    groups, moved, number = collect(differences), collect(np.abs(differences)), len(differences)
    if groups.freedom < 1:
        return None
    mean, won, lost = groups.mean, (moved.mean + groups.mean) / 2, (moved.mean - groups.mean) / 2
    alone = won + lost - mean**2  # the variance of whole questions won and lost
    effect, freedom = dispersion(differences, mean, alone), [groups.freedom] * len(mean)
    if clusters is not None:
        seen = np.where(alone > 0, groups.jackknife() * number / np.where(alone > 0, alone, 1.0), 1.0)
        effect = np.maximum(effect, seen)
        freedom = _freedom(moved, (differences**2).sum(axis=0))
    return ScoreTestInput(won, lost, number / effect, freedom)


def _freedom(moved: Clustered, squares: Floats) -> list[int]:
    """Return the degrees of freedom of each metric.

    The number of clusters minus one, times the effective number of clusters over that of independent
    questions.
    """
    clusters, total = len(moved.counts), moved.sums.sum(axis=0)
    some = total > 0
    rates = moved.sums / moved.counts[:, None]
    spread = _where(some, rates.sum(axis=0) ** 2, (rates**2).sum(axis=0))
    questions = _where(some, total**2, squares)
    share = np.minimum(spread * (questions + clusters - 1) / (questions * clusters), 1.0)
    least = min(LEAST_FREEDOM, moved.freedom)
    return [
        max(floor(moved.freedom * part + ROUNDING), least) for part in np.where(some, share, 1.0).tolist()
    ]


def _where(some: np.ndarray[tuple[int, ...], np.dtype[np.bool_]], above: Floats, below: Floats) -> Floats:
    """Return `above / below` where `some` is True, else 1."""
    return np.where(some, above / np.where(some, below, 1.0), 1.0)


def _end(found: ScoreTestInput, reach: Floats, mean: Floats, limit: float) -> Floats:
    """Return the difference closest to `limit` that is at most `reach` standard errors from the observed
    one.
    """
    inside, outside = mean.copy(), np.full_like(mean, limit)
    for _ in range(STEPS):
        middle = (inside + outside) / 2
        held = np.abs(found.statistic(middle)) <= reach
        inside, outside = np.where(held, middle, inside), np.where(held, outside, middle)
    return inside
