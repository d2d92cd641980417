"""McNemar's exact test of two arms' hits on the same questions."""

from __future__ import annotations

from math import comb

from pgmnemo.errors import UsageError


def mcnemar(won: int, lost: int) -> float:
    """Two-sided exact p value for `won` questions that only one arm hits and `lost` that only the other does.

    Under the null each of them falls to either side by a fair coin: twice the binomial tail, at most 1
    (McNemar 1947, exact form). It takes questions for independent and so neglects clusters.
    Raises UsageError for a negative count.
    """
    if min(won, lost) < 0:
        raise UsageError(f"questions won and lost are counts, not {won} and {lost}")
    number = won + lost
    tail = sum(comb(number, i) for i in range(min(won, lost) + 1))
    return min(1.0, tail / (1 << number) * 2)
