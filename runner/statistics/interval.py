"""What an interval function returns."""

from __future__ import annotations

from dataclasses import dataclass

from runner.statistics.clusters import Floats

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Interval:
    """Means and the ends of their 95 % intervals, each (metrics,)."""

    value: Floats
    low: Floats
    high: Floats
