"""Recall among the first k: any gold segment (the protocol's, §4.1), all of the gold, or its share.

The share is what the information retrieval literature calls recall. With recall_all, a question that needs
two sessions counts only if both are found.
"""

from __future__ import annotations

from runner.protocol.metrics.metric import Family, Metric


def recall_any(k: int) -> Metric:
    """Return the metric recall_any@k."""
    return Metric(
        name=f"recall_any@{k}",
        k=k,
        definition=f"Share of questions with at least one gold segment among the first {k}.",
        formula=lambda found: (found.first <= k).astype(float),
        scope_bound=True,
    )


def recall_frac(k: int) -> Metric:
    """Return the metric recall_frac@k."""
    return Metric(
        name=f"recall_frac@{k}",
        k=k,
        definition=f"Share of a question's gold segments that stand among the first {k}, averaged.",
        formula=lambda found: found.within(k) / found.gold,
        scope_bound=True,
    )


def recall_all(k: int) -> Metric:
    """Return the metric recall_all@k."""
    return Metric(
        name=f"recall_all@{k}",
        k=k,
        definition=f"Share of questions with every gold segment among the first {k}.",
        formula=lambda found: (found.within(k) == found.gold).astype(float),
        scope_bound=True,
    )


FAMILIES = (
    Family("recall_any", recall_any),
    Family("recall_frac", recall_frac),
    Family("recall_all", recall_all),
)
