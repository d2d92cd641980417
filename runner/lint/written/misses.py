"""Questions that are missed: the words for them, and the clause in which they hold."""

from __future__ import annotations

import re
from dataclasses import replace

from runner.lint.written.digits import NEAR
from runner.lint.written.number import Number

ABOUT = re.compile(
    r"(?:\b(?:about|around|roughly|approximately|nearly|almost|some|ca\.|circa|close to)|[~≈])\s*$",
    re.IGNORECASE,
)
MISSED = re.compile(
    r"\bmiss(?:es|ed|ing)?\b(?!\s+nothing)|\bfail(?:s|ed|ures?)?\b|\berrors?(?:\s+rate)?\b|"
    r"\bunanswered\b|\buseless\b|\bempty-handed\b|\b(?:com(?:e|es|ing)|came|turn(?:s|ed)?|go(?:es)?)\s+"
    r"(?:(?:up|out|away|back)\s+)?(?:empty|dry|blank|with\s+nothing)\b|\bdr[ae]ws?\s+(?:a\s+)?blanks?\b|"
    r"\bin vain\b|\bnot\s+(?:found|hit|answered|"
    r"retrieved|among)\b|\bunfound\b|\bwithout\s+(?:(?:an?|any|their|its|"
    r"a\s+single)\s+)?(?:\w+\s+)?(?:hit|gold|"
    r"evidence|session)\w*|(?<!cite )(?<!cites )(?<!citing )\bno\s+(?:gold|hit|evidence|"
    r"session|right)\b|\bnothing\s+(?:right|gold)\b|\b1\s?[\u2212\u2013-]\s?(?:recall|R@|hit|any@)|"
    r"\bcomplement\b|\bleav(?:es|ing)\s+out\s+\d|"
    r"\bloses?\s+(?:sight|track|\d[\d,]*\s+of\s+\d)|"
    r"\bdo(?:es)?\s+not\s+(?:find|surface|retrieve|have|appear|reach|hit)|\bnone\s+of\s+(?:its|their|"
    r"the|these)\s+(?:\w+\s+)?(?:gold|evidence|sessions?|turns?)|\bnot\s+a\s+single\b|"
    r"\bgo(?:es)?\s+(?:without\b|un\w+ed\b|unfound)|\bfind(?:s|ing)?\s+(?:nothing|none)\b|"
    r"\bfound\s+nothing\b|"
    r"\bnothing\s+(?:is\s+|was\s+)?found\b|\breturn(?:s|ed)?\s+nothing\b|"
    r"\boutside\s+(?:the\s+)?(?:first|top)|\blacks?\b|\bescape[ds]?\b|"
    r"\bnever\s+(?:found|surface\w*)|\bslip\w*\s+(?:through|past|by|away)|\boverlook\w*|\bleft\s+"
    r"unfound",
    re.IGNORECASE,
)
ALL_BUT = re.compile(r"\ball\s+but\s+$", re.IGNORECASE)
CLAUSE = re.compile(r"[,;:(]\s|\s(?:and|but|while|whereas|so)\s|[()]")
BRACKETS = re.compile(r"\([^()]{0,120}\)")


def misses(text: str) -> bool:
    """Whether a text speaks of questions that are missed."""
    return MISSED.search(BRACKETS.sub(" ", text)) is not None


def clause(text: str, start: int, end: int) -> str:
    """The clause around a stretch of text, without what stands in brackets beside it."""
    before = BRACKETS.sub(" ", text[max(0, start - NEAR) : start])
    after = BRACKETS.sub(" ", text[end : end + NEAR])
    first = max((match.end() for match in CLAUSE.finditer(before)), default=0)
    last = CLAUSE.search(after)
    return f"{before[first:]}{text[start:end]}{after[: last.start()] if last else after}"


def headed(text: str, start: int) -> bool:
    """Whether what stands before a colon in front speaks of questions that are missed: "Not found: 90 …"."""
    head, colon, _ = text[:start].rpartition(": ")
    return bool(colon) and MISSED.search(BRACKETS.sub(" ", head[-NEAR:])) is not None


def _behind_bracket(text: str, number: Number) -> str:
    """How a clause goes on behind the bracket of a number: "a quarter (24.8 %) find nothing"."""
    after = text[number.end : number.end + NEAR]
    close = re.match(r"[^()]{0,60}\)", after)
    last = CLAUSE.search(after, close.end()) if close else None
    return after[close.end() : last.start() if last else None] if close else ""


def said(number: Number, text: str) -> Number:
    """What the words around a number make of it: the questions that are missed, or about right."""
    before = text[max(0, number.start - NEAR) : number.start]
    about = ABOUT.search(before) is not None
    here = (
        MISSED.search(clause(text, number.start, number.end)) is not None
        or ALL_BUT.search(before) is not None
    )
    missed = not number.change and (number.missed or here)
    spoken = f"{BRACKETS.sub(' ', before)} {_behind_bracket(text, number)}"
    perhaps = (
        not missed and not number.change and (MISSED.search(spoken) is not None or headed(text, number.start))
    )
    return replace(number, about=about, missed=missed, perhaps=perhaps or (number.perhaps and not missed))
