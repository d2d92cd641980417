"""Counts that a sentence goes on with: of the same total, which it names once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from runner.lint.written.digits import WHOLE, whole
from runner.lint.written.misses import MISSED, clause
from runner.lint.written.number import Number
from runner.lint.written.series import NAMED

FURTHER = re.compile(
    rf"(?:,\s+(?:and\s+)?|\s(?:and|(?:up|down)\s+from|after|against|vs\.?|"
    rf"versus)\s+)(?:only\s+|just\s+)?(?P<hits>{WHOLE})(?=\s+questions\b|\s+(?:with|for|by|in|behind|under|without|using|"
    rf"through|among|within|at|on|inside)\s)"
)
NEXT = re.compile(
    rf"(?:,\s*(?:and\s+|but\s+)?|\s(?:and|but|while|against|vs\.?|"
    rf"versus)\s+)(?:\w+\s+){{0,2}}(?:{NAMED}|v?\d\.\d\.\d)"
    rf"(?:\s+[a-z]+){{0,3}}\s+(?P<hits>{WHOLE})(?!\s?%|[\w]|[.,]\d|\s+of\b)",
    re.IGNORECASE,
)
STEPPED = re.compile(
    rf"(?<![\w.,=@-])(?P<hits>{WHOLE})\s*(?:→|->|⟶|\b(?:to|and|vs\.?|versus|against|or)\b)\s*$", re.IGNORECASE
)
TOTAL = re.compile(
    rf"\b(?:of|among|over|for)\s+(?:the\s+|all\s+|its\s+)?(?P<all>{WHOLE})\s+(?:[\w-]+\s+){{0,2}}questions\b",
    re.IGNORECASE,
)
FOR_SO_MANY = re.compile(
    rf"\b(?:for|in|on)\s+(?P<hits>{WHOLE})(?=\s*(?:[;:()]|[.,](?!\d)|within\b|among\b|in the\b|at\b|$))|"
    rf"\b(?:serves|finds|answers|has|gets|hits|solves|places|covers|"
    rf"reaches)\s+(?P<hits2>{WHOLE})\b(?!\s*%|[.,]\d|\s+(?:of|points?|ms|s)\b)",
    re.IGNORECASE,
)
REACH = 240  # characters behind a count in which further ones of the same total stand


def further(text: str, count: Number) -> Iterator[Number]:
    """Counts of the same total that follow without it: `56 of 60, 50 with the keyword leg alone`."""
    missed = MISSED.search(clause(text, count.start, count.end)) is not None
    for pattern in (FURTHER, NEXT):
        for match in pattern.finditer(text, count.end, count.end + REACH):
            hits = whole(match["hits"])
            if count.of is None or hits <= count.of:
                shown = hits / count.of if count.of else 0.0
                start, end = match.span("hits")
                yield replace(count, start=start, end=end, shown=shown, hits=hits, missed=missed)


def before(text: str, count: Number) -> Iterator[Number]:
    """The count of the same total that a step comes from: `245 → 246 of 246`."""
    match = STEPPED.search(text[: count.start])
    if match is None or count.of is None or whole(match["hits"]) > count.of:
        return
    hits, moved = whole(match["hits"]), "and" not in match[0]
    yield replace(
        count, start=match.start(), end=match.end("hits"), shown=hits / count.of, hits=hits, moved=moved
    )


def far_behind(text: str) -> Iterator[Number]:
    """Hits far behind their total: "of 1,982 questions 0.4.0 has a gold one in its ten best for 1,952"."""
    if (total := TOTAL.search(text)) is None:
        return
    everything = whole(total["all"])
    for match in FOR_SO_MANY.finditer(text, total.end()):
        name = "hits" if match["hits"] else "hits2"
        hits = whole(match[name])
        if 20 <= hits <= everything:
            yield Number(*match.span(name), hits / everything, False, 3, hits=hits, of=everything)
