"""Tests of a difference: McNemar's test of hits won and lost, and Holm's correction for several tests."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

from pgmnemo.errors import UsageError


def mcnemar(won: int, lost: int) -> float:
    """Return the two-sided exact p value of `won` questions that one arm hits and `lost` that the other hits.

    Under the null each such question falls to either side by a fair coin: twice the binomial tail, at most 1
    (McNemar 1947, exact form). It assumes independent questions and so neglects clusters. Raises UsageError
    for a negative count.
    """
    if min(won, lost) < 0:
        raise UsageError(f"questions won and lost are counts, not {won} and {lost}")
    number = won + lost
    tail = sum(comb(number, i) for i in range(min(won, lost) + 1))
    return min(1.0, tail / (1 << number) * 2)


def holm(values: Sequence[float]) -> list[float]:
    """Return adjusted p values, in the given order: they control the family-wise error.

    The smallest is multiplied by the size of the family, the next by one less, and so on; no value is below
    the one before it or above 1 (Holm 1979). Valid for any dependence between the tests. Raises UsageError
    for a value outside [0, 1].
    """
    if strays := [p for p in values if not 0 <= p <= 1]:
        raise UsageError(f"a p value lies between 0 and 1, and {strays[0]} does not")
    adjusted, running = [0.0] * len(values), 0.0
    for place, index in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        running = max(running, min(1.0, (len(values) - place) * values[index]))
        adjusted[index] = running
    return adjusted
