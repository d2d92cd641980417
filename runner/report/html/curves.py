"""The three recalls at every k, from the ranks of the gold; a test holds them against metrics.json."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from runner.report.html.standings import Ranks, Scope

FAMILIES = ("recall_any", "recall_frac", "recall_all")
Curve = NDArray[np.float64]


def arm_curves(scope: Scope, arm: str, depth: int) -> dict[str, Curve]:
    """Each recall at k = 1 … depth of one arm in one scope."""
    ranks, gold = scope.ranks(arm), scope.gold_counts()
    found = np.zeros((len(gold), depth + 1), dtype=np.int64)
    for row, places in zip(found, ranks, strict=True):
        for rank in places:
            if 0 < rank <= depth:
                row[rank] += 1
    return _recalls(np.cumsum(found, axis=1)[:, 1:], gold)


def ceiling_curves(scope: Scope, depth: int) -> dict[str, Curve]:
    """The best that any ranking can reach: all gold first, as far as k and the scope reach."""
    gold = scope.gold_counts()
    reachable = np.minimum(gold, scope.size_array())
    ks = np.arange(1, depth + 1)
    return _recalls(np.minimum(ks[np.newaxis, :], reachable[:, np.newaxis]), gold)


def _recalls(within: Ranks, gold: Ranks) -> dict[str, Curve]:
    """`within` (questions, depth): gold segments among the first k."""
    shares = within / gold[:, np.newaxis]
    values = (within > 0, shares, within == gold[:, np.newaxis])
    return {name: np.asarray(value, dtype=np.float64).mean(axis=0)
            for name, value in zip(FAMILIES, values, strict=True)}  # fmt: skip


def first_ranks(ranks: Sequence[Sequence[int]]) -> list[int]:
    """Rank of the first gold segment of each question, 0 where none was found."""
    return [min((rank for rank in places if rank), default=0) for places in ranks]
