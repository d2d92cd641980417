"""Pure metrics over rankings, and the scoring of a run with them."""

from runner.metrics.family import metrics_for
from runner.metrics.metric import Metric
from runner.metrics.score import Scores, score
from runner.metrics.table import CEILING
from runner.metrics.version import DIFFERENCES, interval_methods

__all__ = ["CEILING", "DIFFERENCES", "Metric", "Scores", "interval_methods", "metrics_for", "score"]
