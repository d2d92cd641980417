"""Pure metrics over rankings, and the scoring of a run with them."""

from __future__ import annotations

from runner.metrics.family import metrics_for
from runner.metrics.metric import Metric
from runner.metrics.mrr import mrr
from runner.metrics.ndcg import ndcg
from runner.metrics.recall import recall_all, recall_any, recall_frac
from runner.metrics.score import Scores, score
from runner.metrics.table import CEILING
from runner.metrics.version import DIFFERENCES, METRIC_VERSION, interval_methods
from runner.registry import Registry

METRICS: Registry[Metric]  # at the protocol's cutoffs


def __getattr__(name: str) -> Registry[Metric]:
    """Build METRICS on first use: an incomplete checkout then ends in a sentence, not in a failed import."""
    if name == "METRICS":
        return metrics_for()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "CEILING",
    "DIFFERENCES",
    "METRICS",
    "METRIC_VERSION",
    "Metric",
    "Scores",
    "interval_methods",
    "metrics_for",
    "mrr",
    "ndcg",
    "recall_all",
    "recall_any",
    "recall_frac",
    "score",
]
