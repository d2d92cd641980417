"""Which of two values is ahead, where words between them say so: "rrf (79.4 %) overtakes bm25 (82.0 %)"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from runner.lint.figures import Figure

AHEAD = re.compile(
    r"\b(?:beats?|overtakes?|overtook|outranks?|outscores?|outperforms?|outruns?|surpass(?:es|ed)|"
    r"exceeds?|edges?\s+out|"
    r"tops|(?:is|are|was|comes?|stays?|lies)?\s*(?:\w+\s+){0,2}(?:ahead\s+of|better\s+than|"
    r"higher\s+than|above)|"
    r"a\s+\w+\s+(?:above|over))\b",
    re.IGNORECASE,
)
BEHIND = re.compile(
    r"\b(?:trails?|lags?(?:\s+behind)?|behind|below|loses?\s+to|lost\s+to|worse\s+than|lower\s+than|"
    r"short\s+of|"
    r"a\s+\w+\s+(?:below|under))\b",
    re.IGNORECASE,
)
DENIED = re.compile(
    r"\b(?:not|n['\u2019]t|never|no|neither|hardly|without|once|rerank\w*|if|when)\b", re.IGNORECASE
)


def wrong_order(figures: list[Figure]) -> Iterator[tuple[Figure, str]]:
    """The second of two values of a sentence, where the words between them say the wrong one to be ahead."""
    sentences = groupby((f for f in figures if not f.header), key=lambda f: (id(f.block), id(f.said)))
    for _, group in sentences:
        pair = [figure for figure in group if not figure.number.change]
        if len(pair) == 2 and _comparable(*pair):
            first, second = (figure.number.shown for figure in pair)
            sign = _sign(pair[0].said.text[pair[0].number.end : pair[1].number.start])
            if sign * (first - second) < 0:
                side = "ahead" if sign > 0 else "behind"
                yield pair[1], f"{side} is said between {first:g} and {second:g}"


def _comparable(a: Figure, b: Figure) -> bool:
    numbers = (a.number, b.number)
    plain = not any(
        n.bound or n.missed or n.perhaps or n.paired or n.moved or n.hits is not None for n in numbers
    )
    return plain and a.names == b.names and a.number.percent == b.number.percent


def _sign(between: str) -> int:
    """1 where the words between two values say the first to be ahead, -1 behind, 0 where they do not say."""
    ahead, behind = AHEAD.search(between), BEHIND.search(between)
    if (ahead is None) == (behind is None) or re.search(r"[.;]\s|,\s(?:and|but|while)\s", between):
        return 0
    word = ahead or behind
    if word is None or DENIED.search(between[: word.end()]):
        return 0
    return 1 if ahead else -1
