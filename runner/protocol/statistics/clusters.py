"""The result of an interval function, and the sums over clusters that all of these functions use."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pgmnemo.errors import UsageError

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Interval:
    """Means and the ends of their 95 % intervals, each (metrics,)."""

    value: Floats
    low: Floats
    high: Floats

    @classmethod
    def unknown(cls, mean: Floats, least: float = -1.0) -> Interval:
        """Return the widest interval, from `least` to 1: one cluster gives no more information."""
        return cls(mean, np.full_like(mean, least), np.ones_like(mean))


Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Clustered:
    """Questions added up by cluster: `sums` (clusters, metrics) and `counts` (clusters)."""

    sums: Floats
    counts: NDArray[np.int64]

    @property
    def freedom(self) -> int:
        """Degrees of freedom of the variance between clusters."""
        return len(self.counts) - 1

    @property
    def mean(self) -> Floats:
        """The mean over questions, one for each metric."""
        return np.asarray(self.sums.sum(axis=0) / self.counts.sum())

    @property
    def typical_size(self) -> float:
        """Return the cluster size of the average question, the m of Kish's 1 + (m - 1) rho."""
        return float((self.counts**2).sum() / self.counts.sum())

    def jackknife(self) -> Floats:
        """Return the variance of the mean by leaving out one cluster at a time; needs two clusters.

        (G - 1)/G Σ (mean without g - mean)²: among the sandwich estimators, this one (CR3) underestimates
        least when clusters are few and of unequal size (Bell and McCaffrey 2002).
        """
        groups = len(self.counts)
        residuals = self.sums - np.outer(self.counts, self.mean)
        moves = residuals / (self.counts.sum() - self.counts)[:, None]
        return np.asarray((groups - 1) / groups * (moves**2).sum(axis=0))


def by_cluster(values: Floats, clusters: Sequence[Hashable] | None) -> Clustered:
    """Return the sums of `values` (questions, metrics) over each cluster, and the sizes of the clusters.

    `clusters` names the cluster of each question; None: each question is its own cluster. Additions run in
    the order of the questions, so that two machines give the same bytes. Raises UsageError if there is no
    question, or if `clusters` has another length than `values`.
    """
    if not len(values):
        raise UsageError("there is no question to take a mean over; widen the view or the types")
    if clusters is None:
        return Clustered(values, np.ones(len(values), dtype=np.int64))
    if len(clusters) != len(values):
        raise UsageError(f"{len(values)} questions came with {len(clusters)} clusters; give one for each")
    numbers: dict[Hashable, int] = {}
    codes = np.array([numbers.setdefault(c, len(numbers)) for c in clusters])
    sums = np.zeros((len(numbers), values.shape[1]))
    np.add.at(sums, codes, values)
    return Clustered(sums, np.bincount(codes))
