"""The strict recall: a question that needs two sessions is answered by both or not at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from runner.editions import MetricPins
from runner.metrics.metric import Metric


def family(pins: MetricPins, cutoffs: Sequence[int]) -> Iterator[Metric]:
    """One metric a cutoff."""
    return map(recall_all, cutoffs)


def recall_all(k: int) -> Metric:
    """recall_all@k."""
    return Metric(
        name=f"recall_all@{k}",
        family="recall_all",
        k=k,
        definition=f"Share of questions with every gold segment among the first {k}.",
        formula=lambda found: (found.within(k) == found.gold).astype(float),
        scope_bound=True,
    )
