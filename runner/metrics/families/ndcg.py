"""Normalised discounted cumulative gain in its standard form.

Järvelin and Kekäläinen (2002) with the discount log2(rank + 1) at every rank, as trec_eval's `ndcg_cut`.
LongMemEval's own code leaves rank 2 undiscounted, and some harnesses take the ideal from the retrieved gold
alone; both give larger numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import log2

import numpy as np

from runner.editions import MetricPins
from runner.metrics.found import Found
from runner.metrics.metric import Floats, Metric


def family(pins: MetricPins, cutoffs: Sequence[int]) -> Iterator[Metric]:
    """nDCG at the edition's depth alone."""
    yield ndcg(pins.ndcg_depth)


def ndcg(k: int) -> Metric:
    """nDCG@k with gains 0 and 1; the ideal ranking has all min(k, gold) gold segments first."""
    gains = np.array([1 / log2(rank + 1) for rank in range(1, k + 1)] + [0.0])
    ideals = np.cumsum(gains)

    def normalised(found: Found) -> Floats:
        reached = gains[np.minimum(found.ranks, k + 1) - 1].sum(axis=1)
        return np.asarray(reached / ideals[np.minimum(found.gold, k) - 1])

    return Metric(
        name=f"nDCG@{k}",
        family="nDCG",
        k=k,
        definition=(
            f"Gold among the first {k}, each discounted by log2(rank + 1), over the same sum with all of a "
            f"question's gold first, averaged."
        ),
        formula=normalised,
    )
