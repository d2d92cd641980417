"""Versions of the metric code: a new one whenever a number in metrics.json changes, beside the older ones."""

from __future__ import annotations

from runner.registry import Registry
from runner.statistics import MEAN, PAIRED_SCORE, PAIRED_T, Method

DIFFERENCES: Registry[Method] = Registry(
    "version of the metric code", {"1.0.0": PAIRED_T, "1.1.0": PAIRED_SCORE}
)
"""All in which the versions differ: the interval of a difference between two arms."""


def interval_methods(clustered: bool, version: str) -> dict[str, str]:
    """The names of the intervals in `results` and `differences`, as metrics.json states them."""
    return {"value": MEAN.words(clustered), "difference": DIFFERENCES[version].words(clustered)}
