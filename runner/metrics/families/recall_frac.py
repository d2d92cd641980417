"""What the information retrieval literature calls recall."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from runner.editions import MetricPins
from runner.metrics.metric import Metric


def family(pins: MetricPins, cutoffs: Sequence[int]) -> Iterator[Metric]:
    """One metric a cutoff."""
    return map(recall_frac, cutoffs)


def recall_frac(k: int) -> Metric:
    """recall_frac@k."""
    return Metric(
        name=f"recall_frac@{k}",
        family="recall_frac",
        k=k,
        definition=f"Share of a question's gold segments that stand among the first {k}, averaged.",
        formula=lambda found: found.within(k) / found.gold,
        scope_bound=True,
    )
