"""Shares in words: "one question in 14", "nine in ten"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from runner.lint.written.number import Number

NUMERALS = {
    word: place
    for place, word in enumerate(
        [
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
            "twenty",
        ],
        start=1,
    )
}
WORD = rf"(?:\d{{1,4}}|{'|'.join(sorted(NUMERALS, key=len, reverse=True))})"
ODDS = re.compile(
    rf"(?<![\w.,-])(?P<part>{WORD})\s+(?:(?:\w+\s+)?questions?\s+)?(?:in|"
    rf"out of)\s+(?:every\s+)?(?P<whole>{WORD})"
    r"(?![\w%@-]|[.,]\d|\s?%|\s+(?:runs|versions|seconds|minutes|languages|chats|conversations|steps|ways))",
    re.IGNORECASE,
)


def find_odds(text: str) -> Iterator[Number]:
    """Each share of questions that is given as so many in so many, as the range that it is rounded from.

    It may be of those that are found or of those that are missed.
    """
    for match in ODDS.finditer(text):
        part, whole = _value(match["part"]), _value(match["whole"])
        if not 0 < part < whole or (part > 20 or (whole >= 20 * part and part > 1)):
            continue
        if part == 1:
            low, high = 1 / (1.1 * whole + 0.5), 1 / (0.9 * whole - 0.5)
        else:
            low, high = (part - 0.5) / whole, (part + 0.5) / whole
        yield Number(*match.span(), 100 * low, True, 6, until=min(100 * high, 100.0), perhaps=True)


def _value(word: str) -> int:
    return int(word) if word.isdigit() else NUMERALS[word.lower()]
