"""How well the linter finds: counts, recall and precision with their Wilson intervals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from runner.statistics.single import wilson


@dataclass(frozen=True, slots=True)
class Counts:
    """Wrong lines that are found and missed, right lines that are found by mistake."""

    found: int
    missed: int
    false: int

    @property
    def recall(self) -> float:
        return self.found / (self.found + self.missed)

    @property
    def precision(self) -> float:
        return self.found / (self.found + self.false)

    def __str__(self) -> str:
        return ", ".join(
            f"{name} {share(self.found, self.found + other)}"
            for name, other in (("recall", self.missed), ("precision", self.false))
        )


def share(part: int, whole: int) -> str:
    low, high = wilson(np.array([part / whole]), np.array([float(whole)]), 1.959964)
    return f"{part / whole:.1%} [{float(low[0]):.1%}, {float(high[0]):.1%}] ({part} of {whole})"
