"""Shares that are given as counts of questions."""

from __future__ import annotations

from collections.abc import Iterable

from runner.lint.written.losses import of_errors, of_questions
from runner.lint.written.number import Number
from runner.lint.written.onward import before, far_behind, further
from runner.lint.written.totals import of_totals


def find_counts(text: str) -> list[Number]:
    """Counts of questions: `481 of 500 questions`, `misses 31 of 1,982`, and what follows them."""
    found = list(of_totals(text))
    _add(found, of_questions(text))
    _add(found, of_errors(text))
    for count in [*found, *far_behind(text)]:
        _add(found, [count, *further(text, count), *before(text, count)])
    return found


def _add(found: list[Number], counts: Iterable[Number]) -> None:
    """Adds each count whose characters no other one has."""
    for count in counts:
        if all(count.end <= one.start or one.end <= count.start for one in found):
            found.append(count)
