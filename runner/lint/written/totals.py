"""Shares that are given as a count of a total: "481 of 500 questions", "of 500 questions, 481 have …"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from runner.lint.written.depths import find_depths
from runner.lint.written.digits import WHOLE, whole
from runner.lint.written.misses import ALL_BUT, MISSED, clause
from runner.lint.written.number import Number
from runner.lint.written.settings import is_set

COUNTED = re.compile(
    rf"(?<![\w.,=@])(?P<hits>{WHOLE})\s{{0,3}}(?:of|out of|/)\s{{0,3}}"
    rf"(?:the\s|all\s|its\s|our\s|[\w-]+['\u2019]s?\s){{0,2}}(?P<all>{WHOLE})(?![\w%]|[.,]\d|\s?%)(?=(?P<unit>\s{{1,3}}(?:[\w-]+\s+)?(?:questions|items|"
    rf"queries)\b)?)",
    re.IGNORECASE,
)
OUT_OF = re.compile(
    rf"\b(?:out\s+)?of\s+(?:the\s|all\s|its\s|our\s|"
    rf"[A-Z]\w+['\u2019]s\s){{0,2}}(?P<all>{WHOLE})\s+(?:[\w-]+\s+)?questions(?:\s+(?:of|on|in|about)\s+[\w'\u2019-]+(?:\s+\w+)?)?,?\s+(?P<hits>{WHOLE})"
    r"(?=\s+(?:have|had|has|are|is|were|find|found|get|go|do|miss|surface|come|end)\b)",
    re.IGNORECASE,
)
ONE_OF = re.compile(
    rf"(?<![\w.,=])(?P<hits>{WHOLE})\s+(?:\w+\s+)?questions?\s+(?:out\s+)?of\s+(?:the\s+|"
    rf"all\s+)?(?P<all>{WHOLE})(?![\w%]|[.,]\d|\s?%)",
    re.IGNORECASE,
)
METRIC = re.compile(r"\brecall_|\bany@|\bR@|\bhit rate", re.IGNORECASE)
FOUND = re.compile(
    r"\b(?:gold|(?:an?|any|their|its) hit|found|finds?|right|answered|retriev\w+)\b", re.IGNORECASE
)
WON = re.compile(  # a step, not a count
    r"\b(?:gives?\s+up|gave\s+up|gain(?:s|ed)?|w[io]ns?|los(?:es|t)|worth|saves?|costs?|recovers?|"
    r"adds?)\s+(?:only\s+|just\s+|about\s+)?$",
    re.IGNORECASE,
)
LOST = re.compile(r"\blos(?:es|t)\s+(?:only\s+|just\s+)?$", re.IGNORECASE)
VERSUS = re.compile(r"\b(?:compared|against|than|to pgmnemo|to the)\b", re.IGNORECASE)
DEPARTING = re.compile(
    r"(?<![A-Za-z])(?:unverified|deviat\w+|dataset:|shape:|coverage:)[^.]*$", re.IGNORECASE
)
COVERED = re.compile(r"\b(?:coverage|resol\w+)\b[^.;]*$", re.IGNORECASE)
IDS = re.compile(r"\s+(?:\w+\s+)?(?:ids?|items at hand|files|chats|conversations|sessions|turns|messages)\b")
SCORED = re.compile(
    r"\s+(?:\w+\s+)?(?:questions\s+)?(?:that\s+|which\s+)?(?:cite|are\s+scored|can\s+be\s+scored|"
    r"were\s+scored|count|have\s+evidence|"
    r"at\s+hand)\b"
)
UNSCORED = re.compile(r"\bcite no\b|\bnot scored\b")
BEFORE = 40  # characters before a count whose words are of it


def of_totals(text: str) -> Iterator[Number]:
    """Each count of a total of questions."""
    for match in [*COUNTED.finditer(text), *OUT_OF.finditer(text), *ONE_OF.finditer(text)]:
        hits, everything = whole(match["hits"]), whole(match["all"])
        if not 0 <= hits <= everything or not _enough(everything, text):
            continue
        if _of_questions(text, match) and not _of_others(text, match) and not is_set(text, match.start()):
            span = match.span("hits") if match.re is OUT_OF else match.span()
            yield Number(*span, hits / everything, False, 3, hits=hits, of=everything)


def is_step(text: str, start: int) -> bool:
    """Whether the words before a count make a step of it: "gains 8 of 1,982"."""
    return WON.search(text[max(0, start - BEFORE) : start]) is not None


def _enough(everything: int, text: str) -> bool:
    """Whether a total is of questions: at least twenty, or a few where the metric stands in the sentence."""
    return everything >= 20 or (everything >= 5 and METRIC.search(text) is not None)


def _of_questions(text: str, match: re.Match[str]) -> bool:
    """Whether the words around a count say that it is of questions, found or missed."""
    near = clause(text, match.start(), match.end())
    unit = match.groupdict().get("unit") or ""
    return bool(
        "question" in unit.lower()
        or FOUND.search(near)
        or match.re in (OUT_OF, ONE_OF)
        or find_depths(near)
        or METRIC.search(text[match.end() : match.end() + 30])
        or ALL_BUT.search(text[: match.start()])
        or MISSED.search(near)
        or re.search(r"\bquestions?\b", near)
    )


def _of_others(text: str, match: re.Match[str]) -> bool:
    """Whether a count is none of a recall: of a departure, a step, what is covered, ids, what is scored."""
    before = text[max(0, match.start() - BEFORE) : match.start()]
    lost = LOST.search(before) is not None and VERSUS.search(text) is None
    return bool(
        DEPARTING.search(text[: match.start()])
        or (is_step(text, match.start()) and not lost)
        or COVERED.search(before)
        or IDS.match(text, match.end())
        or SCORED.match(text, match.end())
        or UNSCORED.search(text[match.end() : match.end() + 80])
    )
