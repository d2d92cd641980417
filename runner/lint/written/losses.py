"""Counts of questions that are missed, without their total: "misses 31", "195 errors against 117"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from runner.lint.written.digits import WHOLE, whole
from runner.lint.written.misses import MISSED, clause, headed
from runner.lint.written.number import Number
from runner.lint.written.series import NAMED
from runner.lint.written.settings import is_set
from runner.lint.written.totals import BEFORE, is_step

QUESTIONS = re.compile(rf"(?<![\w.,=@-])(?P<hits>{WHOLE})\s+(?:of\s+the\s+)?questions\b", re.IGNORECASE)
MISSES = re.compile(
    rf"\b(?:miss(?:es|ed|ing)?|fail(?:s|ed)?\s+on|loses?|leaves?|left)\s+(?:only\s+|"
    rf"just\s+)?(?P<hits>{WHOLE})"
    r"(?!\s*%|\w|[.,]\d|\s+(?:points?|pp|times|of\s+\d|out\s+of|percent))",
    re.IGNORECASE,
)
ERRORS = re.compile(
    rf"(?<![\w.,=@-])(?P<hits>{WHOLE})\s+(?:misses|errors|failures)\b(?:\s+(?:to|against|vs\.?|versus|"
    rf"for)\s+(?P<other>{WHOLE})\b)?",
    re.IGNORECASE,
)
STEP_OF = re.compile(
    rf"\bfrom\s+(?P<hits>{WHOLE})\s+to\s+(?P<other>{WHOLE})\b(?!\s*%|[.,]\d|\s*(?:ms|s|MB|kB|GB|"
    rf"seconds?|points?)\b)",
    re.IGNORECASE,
)
LISTED = re.compile(
    rf"(?<![\w@.-])(?:{NAMED}|v?\d\.\d\.\d)(?:\s+[a-z]+){{0,2}}\s+(?P<hits>{WHOLE})(?=\s*(?:[,;)]|"
    rf"\.(?!\d)|and\b|$))",
    re.IGNORECASE,
)
BY = re.compile(
    rf"(?<![\w.,=@-])(?P<hits>{WHOLE})\s+(?:questions\s+)?(?:by|with|for|in|behind)\s+(?:the\s+)?(?:{NAMED}|v?\d\.\d\.\d)\b",
    re.IGNORECASE,
)
ANSWERS = re.compile(
    r"\b(?:answers|answered|finds|found|solves|solved|hits|gets|"
    r"wins)\s+(?:a\s+gold\s+\w+\s+for\s+)?(?:only\s+)?$",
    re.IGNORECASE,
)
WHOLE_OF = re.compile(
    r"\b(?:of|over|on|across|all|the|these|those|its)\s+(?:[\w-]+['\u2019]s\s+)?$", re.IGNORECASE
)


def of_questions(text: str) -> Iterator[Number]:
    """Each "31 questions" and "misses 31"."""
    for match in [*QUESTIONS.finditer(text), *MISSES.finditer(text)]:
        if _told(text, match) and not is_set(text, match.start()):
            yield Number(*match.span(), 0.0, False, 3, hits=whole(match["hits"]))


def of_errors(text: str) -> Iterator[Number]:
    """Each number of errors, of a step from so many misses to so many, and of a list of misses."""
    for match in [*ERRORS.finditer(text), *_steps(text), *_listed(text)]:
        for name in ("hits", "other"):
            if match.groupdict().get(name):
                yield Number(*match.span(name), 0.0, False, 3, hits=whole(match[name]), missed=True)


def _told(text: str, match: re.Match[str]) -> bool:
    """Whether a number of questions is said to be of those that are found or missed, and no total."""
    before = text[max(0, match.start() - BEFORE) : match.start()]
    if is_step(text, match.start()) or WHOLE_OF.search(before):
        return False
    missed = MISSED.search(clause(text, match.start(), match.end())) or headed(text, match.start())
    return bool(missed or ANSWERS.search(before))


def _steps(text: str) -> Iterator[re.Match[str]]:
    """The steps of what is missed: "cuts the misses from 195 to 117"."""
    return (
        match for match in STEP_OF.finditer(text) if MISSED.search(clause(text, match.start(), match.end()))
    )


def _listed(text: str) -> Iterator[re.Match[str]]:
    """A list of what each system misses: "misses at k = 5: pgmnemo 90, bm25 116, of 1,982"."""
    head, colon, _ = text.partition(": ")
    if colon and MISSED.search(head) and re.search(rf"\bof\s+(?:the\s+)?{WHOLE}\b", text):
        yield from LISTED.finditer(text, len(head))
        yield from BY.finditer(text, len(head))
