"""Holm's step-down correction for testing several hypotheses at once."""

from __future__ import annotations

from collections.abc import Sequence

from pgmnemo.errors import UsageError


def holm(values: Sequence[float]) -> list[float]:
    """Adjusted p values, in the order given: the family-wise error stays below the level they are held to.

    The smallest is multiplied by the size of the family, the next by one less, and so on; none is below
    the one before it, none above 1 (Holm 1979). Valid however the tests depend on one another.
    Raises UsageError for a value outside [0, 1].
    """
    if strays := [p for p in values if not 0 <= p <= 1]:
        raise UsageError(f"a p value lies between 0 and 1, and {strays[0]} does not")
    adjusted, running = [0.0] * len(values), 0.0
    for place, index in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        running = max(running, min(1.0, (len(values) - place) * values[index]))
        adjusted[index] = running
    return adjusted
