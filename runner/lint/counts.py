"""Shares that are given as counts of questions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from runner.lint.digits import WHOLE
from runner.lint.misses import MISSED, clause
from runner.lint.number import Number
from runner.lint.settings import is_set

COUNTED = re.compile(
    rf"(?<![\w.,=])(?P<hits>{WHOLE})\s{{0,3}}(?:of|out of|/)\s{{0,3}}(?:the\s|all\s|its\s|our\s){{0,2}}"
    rf"(?P<all>{WHOLE})(?![\w%]|[.,]\d|\s?%)(?P<unit>\s{{1,3}}questions\b)?",
    re.IGNORECASE,
)
OUT_OF = re.compile(
    rf"\b(?:out\s+)?of\s+(?:the\s|all\s|its\s|our\s){{0,2}}(?P<all>{WHOLE})\s+(?:\w+\s+)?questions,?\s+(?P<hits>{WHOLE})"
    r"(?=\s+(?:have|had|has|are|is|were|find|found|get|go|do|miss|surface|come|end)\b)",
    re.IGNORECASE,
)
FURTHER = re.compile(
    rf"(?:,\s*(?:and\s+)?|\sand\s+)(?P<hits>{WHOLE})(?=\s+(?:with|for|by|in|behind|under|without|using|through)\s)"
)
REACH = 240  # characters behind a count in which further ones of the same total stand
QUESTIONS = re.compile(rf"(?<![\w.,=@-])(?P<hits>{WHOLE})\s+(?:of\s+the\s+)?questions\b", re.IGNORECASE)


def find_counts(text: str) -> list[Number]:
    """Shares that are given as counts: `481 of 500 questions`, `misses 31 of 1,982`."""
    found: list[Number] = []
    for match in [*COUNTED.finditer(text), *OUT_OF.finditer(text)]:
        hits, everything = (int(match[place].replace(",", "")) for place in ("hits", "all"))
        near = clause(text, match.start(), match.end())
        told = (
            match.groupdict().get("unit")
            or match.re is OUT_OF
            or MISSED.search(near)
            or re.search(r"\bquestions?\b", near)
        )
        if 0 <= hits <= everything and everything >= 20 and told and not is_set(text, match.start()):
            found.append(Number(*match.span(), hits / everything, False, 3, hits=hits, of=everything))
    found += [more for count in found for more in _further(text, count)]
    for match in QUESTIONS.finditer(text):
        apart = all(match.end() <= one.start or one.end <= match.start() for one in found)
        if (
            apart
            and MISSED.search(clause(text, match.start(), match.end()))
            and not is_set(text, match.start())
        ):
            found.append(Number(*match.span(), 0.0, False, 3, hits=int(match["hits"].replace(",", ""))))
    return found


def _further(text: str, count: Number) -> Iterator[Number]:
    """Counts of the same total that follow without it: `56 of 60, 50 with the keyword leg alone`."""
    for match in FURTHER.finditer(text, count.end, count.end + REACH):
        hits = int(match["hits"].replace(",", ""))
        if count.of is not None and hits <= count.of:
            yield replace(count, start=match.start("hits"), end=match.end(), shown=hits / count.of, hits=hits)
