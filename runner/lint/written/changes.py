"""Differences that are given as counts of questions: "8 more of the 1,982", "12 questions fewer"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from runner.lint.written.digits import WHOLE, whole
from runner.lint.written.number import Number
from runner.lint.written.totals import COUNTED

MORE = re.compile(
    rf"(?<![\w.,=])(?P<hits>{WHOLE})\s+(?:questions\s+(?:more|fewer|less)|(?:more|fewer|"
    rf"less)(?:\s+questions)?\b)"
    rf"(?:\s+of\s+(?:the\s+|all\s+)?(?P<all>{WHOLE})\b)?",
    re.IGNORECASE,
)


def find_changes(text: str) -> Iterator[Number]:
    """Differences of a total that stands beside them, or in the first count of the text."""
    total = COUNTED.search(text)
    for match in MORE.finditer(text):
        hits = whole(match["hits"])
        everything = whole(match["all"] or (total["all"] if total else "0"))
        if everything >= 20 and hits <= everything:
            low, high = (100 * (hits + half) / everything for half in (-0.5, 0.5))
            yield Number(*match.span(), low, True, 6, change=True, until=high)
