"""Mean reciprocal rank."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from runner.editions import MetricPins
from runner.metrics.found import Found
from runner.metrics.metric import Floats, Metric


def family(pins: MetricPins, cutoffs: Sequence[int]) -> Iterator[Metric]:
    """MRR at the edition's depth alone."""
    yield mrr(pins.mrr_depth)


def mrr(k: int) -> Metric:
    """Reciprocal rank of the first gold segment, cut at `k`."""

    def reciprocal(found: Found) -> Floats:
        return np.where(found.first <= k, 1 / found.first, 0.0)

    return Metric(
        name=f"MRR@{k}",
        family="MRR",
        k=k,
        definition=f"1 / rank of the first gold segment among the first {k}, 0 if there is none, averaged.",
        formula=reciprocal,
    )
