"""Which of two values is ahead, where words between them say so: "rrf (79.4 %) overtakes bm25 (82.0 %)"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from runner.lint.document.figures import Figure

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
BACK = re.compile(  # "…, and sqlite-fts5 is below it with …" says it of the second
    r"\b(?:is|lies|stands|comes|ends)\s+(?P<side>below|behind|above|ahead of)\s+"
    r"(?:it|them|this|that(?!\s+of))\b",
    re.IGNORECASE,
)
RERANKED = re.compile(
    r"\bbehind\s+(?:(?:the|a|our)\s+)?(?:linear\s+)?(?:rerank\w*|linear|it)\b", re.IGNORECASE
)
NEGATED = re.compile(r"\b(?:not|n['\u2019]t|never|no|neither|hardly|who|whether|if)\b", re.IGNORECASE)
DENIED = re.compile(
    r"\b(?:not|n['\u2019]t|never|no|neither|hardly|without|once|rerank\w*|if|when)\b", re.IGNORECASE
)


def wrong_order(figures: list[Figure]) -> Iterator[tuple[Figure, str]]:
    """The second of two values of a sentence, where the words between them say the wrong one to be ahead."""
    sentences = groupby((f for f in figures if not f.header), key=lambda f: (id(f.block), id(f.said)))
    for _, group in sentences:
        pair = [figure for figure in group if not figure.number.change]
        if len(pair) != 2:
            continue
        (first, second), text = (figure.number for figure in pair), pair[0].said.text
        sign = 0
        if _paired(*pair):
            sign = _direction(text[: first.start])
        elif _comparable(*pair):
            sign = _sign(text[first.end : second.start])
        if sign * (first.shown - second.shown) < 0:
            yield pair[1], _told(sign, first.shown, second.shown)


def _told(sign: int, first: float, second: float) -> str:
    return f"{first:g} is said to be {'ahead of' if sign > 0 else 'behind'} {second:g}"


def _comparable(a: Figure, b: Figure) -> bool:
    numbers = (a.number, b.number)
    plain = not any(
        n.bound or n.missed or n.perhaps or n.paired or n.moved or n.hits is not None for n in numbers
    )
    return plain and a.names == b.names and a.number.percent == b.number.percent


def _paired(a: Figure, b: Figure) -> bool:
    """Whether two values stand as one pair, "0.831 to 0.855", in the order of the names in front."""
    plain = a.number.paired and b.number.paired and not (a.number.perhaps or a.number.missed)
    return plain and a.names == b.names and a.number.percent == b.number.percent


def _direction(before: str) -> int:
    """1 where the words in front of a pair say the first of two names to be ahead, -1 behind, else 0."""
    text = RERANKED.sub(" ", before)
    ahead, behind = list(AHEAD.finditer(text)), list(BEHIND.finditer(text))
    words = [*ahead, *behind]
    if len(words) != 1 or NEGATED.search(text) or re.search(r"[.;]\s", text[words[0].end() :]):
        return 0
    return 1 if ahead else -1


def _sign(between: str) -> int:
    """1 where the words between two values say the first to be ahead, -1 behind, 0 where they do not say."""
    if (back := BACK.search(between)) is not None and not DENIED.search(between.rpartition(",")[2]):
        return -1 if back["side"].lower() in ("above", "ahead of") else 1
    ahead, behind = AHEAD.search(between), BEHIND.search(between)
    if (ahead is None) == (behind is None) or re.search(r"[.;]\s|,\s(?:and|but|while)\s", between):
        return 0
    word = ahead or behind
    if word is None or DENIED.search(between[: word.end()]):
        return 0
    return 1 if ahead else -1
