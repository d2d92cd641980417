"""Round numbers along an axis."""

from __future__ import annotations

import math

from runner.report.formats import MINUS

STEPS = (1, 2, 5, 10)


def step(span: float, most: int = 5) -> float:
    """The smallest of 1, 2, 5 times a power of ten that cuts `span` into at most `most` parts."""
    if span <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(span / most))
    return next(power * s for s in STEPS if power * s * most >= span * (1 - 1e-9))


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Multiples of a round step within [low, high]."""
    by = step(high - low, most)
    first, last = math.ceil(low / by - 1e-9), math.floor(high / by + 1e-9)
    return [by * number for number in range(first, last + 1)]


def plain(value: float) -> str:
    """A tick in words: no decimal that says nothing, and a true minus."""
    text = f"{abs(value):.6f}".rstrip("0").rstrip(".") or "0"
    return f"{MINUS}{text}" if value < 0 and text != "0" else text


def signed(value: float) -> str:
    """The same with the sign of a difference."""
    return f"+{plain(value)}" if value > 1e-12 else plain(value)
