"""What a metric is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from runner.errors import UsageError
from runner.metrics.found import Found, locate, tabulate

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Metric:
    """A number in [0, 1] for each question. `name` is the literature's and the key everywhere.

    `formula` maps (questions) rankings to (questions) values. `scope_bound`: once k reaches the size of
    the scope the value is certain and says nothing of the system.
    """

    name: str
    family: str
    k: int
    definition: str
    formula: Callable[[Found], Floats]
    direction: str = "higher"  # is better
    worst: float = 0.0  # the value of a missing retrieval
    scope_bound: bool = False

    def value(self, gold: frozenset[str], ranking: Sequence[str]) -> float:
        """The value of one ranking of segment ids, best first. Raises UsageError where gold is empty."""
        if not gold:
            raise UsageError(f"{self.name} is not defined for a question without gold; leave it out")
        return float(self.formula(tabulate([(locate(gold, ranking), len(gold))]))[0])
