"""The protocol's recall (§4.1): a hit or a miss."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from runner.editions import MetricPins
from runner.metrics.metric import Metric


def family(pins: MetricPins, cutoffs: Sequence[int]) -> Iterator[Metric]:
    """One metric a cutoff."""
    return map(recall_any, cutoffs)


def recall_any(k: int) -> Metric:
    """recall_any@k."""
    return Metric(
        name=f"recall_any@{k}",
        family="recall_any",
        k=k,
        definition=f"Share of questions with at least one gold segment among the first {k}.",
        formula=lambda found: (found.first <= k).astype(float),
        scope_bound=True,
    )
