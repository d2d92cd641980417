"""Shares that are given as counts of questions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from runner.lint.written.depths import find_depths
from runner.lint.written.digits import WHOLE
from runner.lint.written.misses import ALL_BUT, MISSED, clause, headed
from runner.lint.written.number import Number
from runner.lint.written.series import NAMED
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
FURTHER = re.compile(
    rf"(?:,\s+(?:and\s+)?|\s(?:and|(?:up|down)\s+from|after|against|vs\.?|"
    rf"versus)\s+)(?:only\s+|just\s+)?(?P<hits>{WHOLE})(?=\s+questions\b|\s+(?:with|for|by|in|behind|under|without|using|"
    rf"through|among|within|at|on|inside)\s)"
)
STEPPED = re.compile(
    rf"(?<![\w.,=@-])(?P<hits>{WHOLE})\s*(?:→|->|⟶|\b(?:to|and|vs\.?|versus|against|or)\b)\s*$", re.IGNORECASE
)
STEP_OF = re.compile(
    rf"\bfrom\s+(?P<hits>{WHOLE})\s+to\s+(?P<other>{WHOLE})\b(?!\s*%|[.,]\d|\s*(?:ms|s|MB|kB|GB|"
    rf"seconds?|points?)\b)",
    re.IGNORECASE,
)
ONE_OF = re.compile(
    rf"(?<![\w.,=])(?P<hits>{WHOLE})\s+(?:\w+\s+)?questions?\s+(?:out\s+)?of\s+(?:the\s+|"
    rf"all\s+)?(?P<all>{WHOLE})(?![\w%]|[.,]\d|\s?%)",
    re.IGNORECASE,
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
ANSWERS = re.compile(
    r"\b(?:answers|answered|finds|found|solves|solved|hits|gets|"
    r"wins)\s+(?:a\s+gold\s+\w+\s+for\s+)?(?:only\s+)?$",
    re.IGNORECASE,
)
LOST = re.compile(r"\blos(?:es|t)\s+(?:only\s+|just\s+)?$", re.IGNORECASE)
VERSUS = re.compile(r"\b(?:compared|against|than|to pgmnemo|to the)\b", re.IGNORECASE)
WHOLE_OF = re.compile(r"\b(?:of|over|on|across|all|the|these|those|its)\s+$", re.IGNORECASE)
WON = re.compile(  # a step, not a count
    r"\b(?:gives?\s+up|gave\s+up|gain(?:s|ed)?|w[io]ns?|los(?:es|t)|worth|saves?|costs?|recovers?|"
    r"adds?)\s+(?:only\s+|just\s+|about\s+)?$",
    re.IGNORECASE,
)
METRIC = re.compile(r"\brecall_|\bany@|\bR@|\bhit rate", re.IGNORECASE)
LISTED = re.compile(
    rf"(?<![\w@.-])(?:{NAMED}|v?\d\.\d\.\d)(?:\s+[a-z]+){{0,2}}\s+(?P<hits>{WHOLE})(?=\s*(?:[,;)]|"
    rf"\.(?!\d)|and\b|$))",
    re.IGNORECASE,
)
BY = re.compile(
    rf"(?<![\w.,=@-])(?P<hits>{WHOLE})\s+(?:questions\s+)?(?:by|with|for|in|behind)\s+(?:the\s+)?(?:{NAMED}|v?\d\.\d\.\d)\b",
    re.IGNORECASE,
)
ERRORS = re.compile(
    rf"(?<![\w.,=@-])(?P<hits>{WHOLE})\s+(?:misses|errors|failures)\b(?:\s+(?:to|against|vs\.?|versus|"
    rf"for)\s+(?P<other>{WHOLE})\b)?",
    re.IGNORECASE,
)
NEXT = re.compile(
    rf"(?:,\s*(?:and\s+|but\s+)?|\s(?:and|but|while|against|vs\.?|"
    rf"versus)\s+)(?:\w+\s+){{0,2}}(?:{NAMED}|v?\d\.\d\.\d)"
    rf"(?:\s+[a-z]+){{0,3}}\s+(?P<hits>{WHOLE})(?!\s?%|[\w]|[.,]\d|\s+of\b)",
    re.IGNORECASE,
)
FOUND = re.compile(
    r"\b(?:gold|(?:an?|any|their|its) hit|found|finds?|right|answered|retriev\w+)\b", re.IGNORECASE
)
MORE = re.compile(
    rf"(?<![\w.,=])(?P<hits>{WHOLE})\s+(?:questions\s+(?:more|fewer|less)|(?:more|fewer|"
    rf"less)(?:\s+questions)?\b)"
    rf"(?:\s+of\s+(?:the\s+|all\s+)?(?P<all>{WHOLE})\b)?",
    re.IGNORECASE,
)
DEPARTING = re.compile(
    r"(?<![A-Za-z])(?:unverified|deviat\w+|dataset:|shape:|coverage:)[^.]*$", re.IGNORECASE
)
UNSCORED = re.compile(r"\bcite no\b|\bnot scored\b")
SCORED = re.compile(
    r"\s+(?:\w+\s+)?(?:questions\s+)?(?:that\s+|which\s+)?(?:cite|are\s+scored|can\s+be\s+scored|"
    r"were\s+scored|count|have\s+evidence|"
    r"at\s+hand)\b"
)
COVERED = re.compile(r"\b(?:coverage|resol\w+)\b[^.;]*$", re.IGNORECASE)
IDS = re.compile(r"\s+(?:\w+\s+)?(?:ids?|items at hand|files|chats|conversations|sessions|turns|messages)\b")
REACH = 240  # characters behind a count in which further ones of the same total stand
MISSES = re.compile(
    rf"\b(?:miss(?:es|ed|ing)?|fail(?:s|ed)?\s+on|loses?|leaves?|left)\s+(?:only\s+|"
    rf"just\s+)?(?P<hits>{WHOLE})"
    r"(?!\s*%|\w|[.,]\d|\s+(?:points?|pp|times|of\s+\d|out\s+of|percent))",
    re.IGNORECASE,
)
QUESTIONS = re.compile(rf"(?<![\w.,=@-])(?P<hits>{WHOLE})\s+(?:of\s+the\s+)?questions\b", re.IGNORECASE)


def find_counts(text: str) -> list[Number]:
    """Shares that are given as counts: `481 of 500 questions`, `misses 31 of 1,982`."""
    found: list[Number] = []
    for match in [*COUNTED.finditer(text), *OUT_OF.finditer(text), *ONE_OF.finditer(text)]:
        hits, everything = (int(match[place].replace(",", "")) for place in ("hits", "all"))
        near = clause(text, match.start(), match.end())
        if DEPARTING.search(text[: match.start()]):
            continue
        before = text[max(0, match.start() - 40) : match.start()]
        if WON.search(before) and not (LOST.search(before) and not VERSUS.search(text)):
            continue
        if (
            COVERED.search(text[max(0, match.start() - 40) : match.start()])
            or IDS.match(text, match.end())
            or SCORED.match(text, match.end())
            or UNSCORED.search(text[match.end() : match.end() + 80])
        ):
            continue
        unit = match.groupdict().get("unit") or ""
        told = (
            "question" in unit.lower()
            or FOUND.search(near)
            or match.re in (OUT_OF, ONE_OF)
            or find_depths(near)
            or METRIC.search(text[match.end() : match.end() + 30])
            or ALL_BUT.search(text[: match.start()])
            or MISSED.search(near)
            or re.search(r"\bquestions?\b", near)
        )
        if 0 <= hits <= everything and _enough(everything, text) and told and not is_set(text, match.start()):
            span = match.span("hits") if match.re is OUT_OF else match.span()
            found.append(Number(*span, hits / everything, False, 3, hits=hits, of=everything))
    for match in [*QUESTIONS.finditer(text), *MISSES.finditer(text)]:
        apart = all(match.end() <= one.start or one.end <= match.start() for one in found)
        if apart and _told(text, match) and not is_set(text, match.start()):
            found.append(Number(*match.span(), 0.0, False, 3, hits=int(match["hits"].replace(",", ""))))
    for match in [*ERRORS.finditer(text), *_steps(text), *_listed(text)]:
        for name in ("hits", "other"):
            if match.groupdict().get(name) and all(
                match.end(name) <= one.start or one.end <= match.start(name) for one in found
            ):
                hits = int(match[name].replace(",", ""))
                found.append(Number(*match.span(name), 0.0, False, 3, hits=hits, missed=True))
    for count in [*found, *_for_so_many(text)]:
        if count not in found and all(count.end <= one.start or one.end <= count.start for one in found):
            found.append(count)
        for more in (*_further(text, count), *_from(text, count)):
            if all(more.end <= one.start or one.end <= more.start for one in found):
                found.append(more)
    return found


def _told(text: str, match: re.Match[str]) -> bool:
    """Whether a number of questions is said to be of those that are found or missed, and no total."""
    near = clause(text, match.start(), match.end())
    before = text[max(0, match.start() - 40) : match.start()]
    if WON.search(before) or WHOLE_OF.search(before):
        return False
    if MISSED.search(near) or headed(text, match.start()):
        return True
    return ANSWERS.search(text[max(0, match.start() - 40) : match.start()]) is not None


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


def _for_so_many(text: str) -> Iterator[Number]:
    """Hits far behind their total: "of 1,982 questions 0.4.0 has a gold one in its ten best for 1,952"."""
    if (total := TOTAL.search(text)) is None:
        return
    everything = int(total["all"].replace(",", ""))
    for match in FOR_SO_MANY.finditer(text, total.end()):
        name = "hits" if match["hits"] else "hits2"
        hits = int(match[name].replace(",", ""))
        if 20 <= hits <= everything:
            yield Number(*match.span(name), hits / everything, False, 3, hits=hits, of=everything)


def _enough(everything: int, text: str) -> bool:
    """Whether a total is of questions: at least twenty, or a few where the metric stands in the sentence."""
    return everything >= 20 or (everything >= 5 and METRIC.search(text) is not None)


def find_changes(text: str) -> Iterator[Number]:
    """Differences that are given as counts: "8 more of the 1,982 questions", "12 questions fewer"."""
    total = COUNTED.search(text)
    for match in MORE.finditer(text):
        hits = int(match["hits"].replace(",", ""))
        everything = int((match["all"] or (total["all"] if total else "0")).replace(",", ""))
        if everything >= 20 and hits <= everything:
            low, high = (100 * (hits + half) / everything for half in (-0.5, 0.5))
            yield Number(*match.span(), low, True, 6, change=True, until=high)


def _from(text: str, count: Number) -> Iterator[Number]:
    """The count of the same total that a step comes from: `245 → 246 of 246`."""
    if (match := STEPPED.search(text[: count.start])) and count.of is not None:
        hits = int(match["hits"].replace(",", ""))
        if hits <= count.of:
            yield replace(
                count,
                start=match.start(),
                end=match.end("hits"),
                shown=hits / count.of,
                hits=hits,
                moved="and" not in match[0],
            )


def _further(text: str, count: Number) -> Iterator[Number]:
    """Counts of the same total that follow without it: `56 of 60, 50 with the keyword leg alone`."""
    for pattern in (FURTHER, NEXT):
        for match in pattern.finditer(text, count.end, count.end + REACH):
            hits = int(match["hits"].replace(",", ""))
            if count.of is None or hits <= count.of:
                shown = hits / count.of if count.of else 0.0
                missed = MISSED.search(clause(text, count.start, count.end)) is not None
                start, end = match.span("hits")
                yield replace(count, start=start, end=end, shown=shown, hits=hits, missed=missed)
