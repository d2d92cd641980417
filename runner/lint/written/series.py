"""Values behind a semicolon that name no metric, and go on with that of the clause before."""

from __future__ import annotations

import re
from collections.abc import Sequence

from runner.lint.written.names import Name
from runner.lint.written.number import Number
from runner.systems import SYSTEMS

LEGS = (
    "pgmnemo",
    "hybrid",
    "keyword",
    "vector",
    "vectors",
    "bm25",
    "cosine",
    "random",
    "ceiling",
    "rrf",
    "convex",
)
NAMED = "|".join(sorted(map(re.escape, {*SYSTEMS, *LEGS}), key=len, reverse=True))
GOES_ON = re.compile(  # the clause speaks of an arm, a scope, a view or a version
    rf"(?<![\w-])(?:{NAMED}|hybrid|keyword|vectors?|bm25|cosine|random|legs?|pool|conversations?|chats?|"
    r"haystacks?|passages|rerank\w*|with(?:out)? it|v?\d\.\d\.\d|all (?:[\d,]+ )?questions|both|"
    r"we|ours|our|it|they|pgmnemo|multi-hop|temporal|single-hop|open-domain|adversarial|"
    r"commonsense)(?![\w-])",
    re.IGNORECASE,
)


AGAIN = re.compile(r"[\s*_]*(?:In|On|At|With|Within|Without|Over|By|For|Behind|And|But)\b")


def goes_on(text: str, start: int, words: str) -> bool:
    """Whether the clause `words`, which begins at `start`, goes on with what stands before a semicolon."""
    behind = text[max(0, start - 3) : start].rstrip()
    short = behind.endswith(".") and len(words.strip()) < 80 and AGAIN.match(words) is not None
    return (behind.endswith(";") or short) and GOES_ON.search(words) is not None


def in_item(numbers: Sequence[Number], introduced: Sequence[Name]) -> list[tuple[tuple[Name, ...], Number]]:
    """The values of a list's item with the metrics that introduce the list: one, or as many in turn."""
    values = [n for n in numbers if not n.change and n.hits is None]
    if len(introduced) == 1:
        return [((introduced[0],), number) for number in numbers]
    if len(values) != len(introduced):
        return []
    return [((name,), number) for name, number in zip(introduced, values, strict=True)]


def in_series(
    numbers: Sequence[Number], last: Sequence[tuple[Name, Number]]
) -> list[tuple[tuple[Name, ...], Number]]:
    """The values of the clause with the metrics of the values before, `last`: one, or as many in turn."""
    names = list({name.words: name for name, _ in last}.values())
    units = {(number.percent, number.bare) for _, number in last}
    values = [n for n in numbers if not n.change and n.hits is None and (n.percent, n.bare) in units]
    if not names or len(values) % len(names):
        return []
    return [((names[place % len(names)],), number) for place, number in enumerate(values)]
