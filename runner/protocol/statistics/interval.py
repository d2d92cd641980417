"""What an interval function returns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from runner.protocol.statistics.clusters import Floats

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Interval:
    """Means and the ends of their 95 % intervals, each (metrics,)."""

    value: Floats
    low: Floats
    high: Floats

    @classmethod
    def unknown(cls, mean: Floats, least: float = -1.0) -> Interval:
        """All that a value may be, from `least` to 1: what one cluster tells."""
        return cls(mean, np.full_like(mean, least), np.ones_like(mean))
