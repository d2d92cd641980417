"""Pure metrics over rankings, and the scoring of a run with them."""

from runner.protocol.metrics.metric import Metric, metrics_for
from runner.protocol.metrics.score import CEILING, DIFFERENCES, Scores, interval_methods, score

__all__ = ["CEILING", "DIFFERENCES", "Metric", "Scores", "interval_methods", "metrics_for", "score"]
