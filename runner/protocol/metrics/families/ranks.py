"""Metrics of ranks: the mean reciprocal rank, and the discounted cumulative gain in its standard form.

nDCG: Järvelin and Kekäläinen (2002), discount log2(rank + 1) at every rank, as trec_eval's `ndcg_cut`.
LongMemEval's own code leaves rank 2 undiscounted, and some harnesses take the ideal from the retrieved gold
alone; both give larger numbers.
"""

from __future__ import annotations

from math import log2

import numpy as np

from runner.protocol.metrics.metric import Family, Floats, GoldRanks, Metric


def mrr(k: int) -> Metric:
    """Return the metric MRR@k: the reciprocal rank of the first gold segment, 0 beyond rank `k`."""

    def reciprocal(found: GoldRanks) -> Floats:
        return np.where(found.first <= k, 1 / found.first, 0.0)

    return Metric(
        name=f"MRR@{k}",
        k=k,
        definition=f"1 / rank of the first gold segment among the first {k}, 0 if there is none, averaged.",
        formula=reciprocal,
    )


def ndcg(k: int) -> Metric:
    """Return the metric nDCG@k with gains 0 and 1; the ideal ranking has min(k, gold) gold segments first."""
    gains = np.array([1 / log2(rank + 1) for rank in range(1, k + 1)] + [0.0])
    ideals = np.cumsum(gains)

    def normalised(found: GoldRanks) -> Floats:
        reached = gains[np.minimum(found.ranks, k + 1) - 1].sum(axis=1)
        return np.asarray(reached / ideals[np.minimum(found.gold, k) - 1])

    return Metric(
        name=f"nDCG@{k}",
        k=k,
        definition=(
            f"Gold among the first {k}, each discounted by log2(rank + 1), over the same sum with all of a "
            f"question's gold first, averaged."
        ),
        formula=normalised,
    )


FAMILIES = (
    Family("mrr", mrr, lambda pins, _: (pins.mrr_depth,)),
    Family("ndcg", ndcg, lambda pins, _: (pins.ndcg_depth,)),
)
