"""The three recalls, which public figures often confuse."""

from __future__ import annotations

from runner.metrics.metric import Metric


def recall_any(k: int) -> Metric:
    """The protocol's recall (§4.1): a hit or a miss."""
    return Metric(
        name=f"recall_any@{k}",
        family="recall_any",
        k=k,
        definition=f"Share of questions with at least one gold segment among the first {k}.",
        formula=lambda found: (found.first <= k).astype(float),
        scope_bound=True,
    )


def recall_frac(k: int) -> Metric:
    """What the information retrieval literature calls recall."""
    return Metric(
        name=f"recall_frac@{k}",
        family="recall_frac",
        k=k,
        definition=f"Share of a question's gold segments that stand among the first {k}, averaged.",
        formula=lambda found: found.within(k) / found.gold,
        scope_bound=True,
    )


def recall_all(k: int) -> Metric:
    """The strict recall: a question that needs two sessions is answered by both or not at all."""
    return Metric(
        name=f"recall_all@{k}",
        family="recall_all",
        k=k,
        definition=f"Share of questions with every gold segment among the first {k}.",
        formula=lambda found: (found.within(k) == found.gold).astype(float),
        scope_bound=True,
    )
