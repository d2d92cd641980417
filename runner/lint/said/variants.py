"""A system and its variants: with passages, behind the reranker, or as it is.

Prose names the variant apart from the system ("with the reranker", "without it"), so each such word changes
what the system beside it means.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from runner.lint.written.binding import stands_with
from runner.lint.written.number import Number

THE = r"(?:(?:the|our|a|an|any|its|linear|in-sample)\s+){0,4}"
NAMED = (
    r"(?:re-?order(?:er|ing|ed|s)?|rerank(?:ers?|ing|ed|s)?|re-rank(?:ers?|ing|ed|s)?|linear|cross-encoder)"
)
RERANKER = r"(?:re-?rank(?:ers?|ing)?|linear|cross-encoder)\b"


TAKEN_AWAY = re.compile(
    r"\b(?:taking|leaving|switching\s+off|turning\s+off|removing|dropping|without)\s+(?:\w+\s+){0,2}(?:rerank\w*|"
    r"passages)\b",
    re.IGNORECASE,
)
CAME_FROM = re.compile(r"\b(?:up|down|coming|came)\s+from\s+$", re.IGNORECASE)
SEGMENT = re.compile(r"[;:()]|,\s|\s(?:and|but|while|whereas|or|to|from|than|against|vs\.?|versus|over)\s")


@dataclass(frozen=True, slots=True)
class Variant:
    """What is added to an arm's name, the words for it, those that put it on and those that do not."""

    suffix: str
    spoken: re.Pattern[str]
    added: re.Pattern[str]
    bare: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Spoken:
    """A sentence, the same with the words that introduce it, one of its values and all of them."""

    text: str
    around: str
    number: Number
    rivals: tuple[Number, ...]


@dataclass(frozen=True, slots=True)
class Mark:
    """Where a sentence says whether the variant is meant."""

    start: int
    end: int
    added: bool


VARIANTS = (
    Variant(
        "+passages",
        re.compile(r"(?<!\+)\bpassages\b", re.IGNORECASE),
        re.compile(
            r"\b(?<!neither )with\s+passages\b|\bonce\s+(?:it|they)\s+(?:stor\w+|gets?|has|have|"
            r"uses?)\s+passages\b|\bafter(?=\s*[,.;)]|\s*$)|\bwith\s+them\b",
            re.IGNORECASE,
        ),
        re.compile(
            r"\b(?:without|no|neither\s+with)\s+(?:any\s+|the\s+)?passages\b|\bplain\b|\bbefore(?=\s*[,.;)]|\s*$)|"
            r"\bwithout(?=\s*[,.;)]|\s*$)|\bwithout\s+them\b",
            re.IGNORECASE,
        ),
    ),
    Variant(
        "+rerank",
        re.compile(rf"\b{NAMED}\b", re.IGNORECASE),
        re.compile(
            rf"(?<!not )(?<!\w)re-?ranked\b|\bwith(?=[,.;)]|\s*$)|\b(?:with|behind|through|plus|"
            rf"after)\s+(?:{THE}{RERANKER}|it\b)|"
            rf"{RERANKER}\s+(?:brings|takes|lifts|moves|gets|pushes|raises|carries|puts)\b|"
            rf"\b(?:once|when|after)\s+{THE}{RERANKER}\s+(?:has|had|is|was|re\w+)|\bonce\s+re-?ranked",
            re.IGNORECASE,
        ),
        re.compile(
            rf"\b(?:without|before|minus|no)\s+(?:{THE}{RERANKER}|it\b|one\b)|\bwithout(?=[,.;)]|$)|"
            rf"\bun-?reranked\b|\bplain\b|"
            r"\bby itself\b|\bas it is\b|\bnot\s+yet\s+reranked|"
            r"\bnot\s+reranked\b|\bon its own\b|\balone\b",
            re.IGNORECASE,
        ),
    ),
)  # fmt: skip


def spoken_of(text: str, arms: frozenset[str]) -> bool:
    """Whether a text speaks of a variant that one of `arms` is."""
    return any(v.spoken.search(text) and any(arm.endswith(v.suffix) for arm in arms) for v in VARIANTS)


def of_variants(told: Spoken, meant: Sequence[str], arms: frozenset[str]) -> list[str]:
    """The arms in `meant` ("" is the system under test, put in by the caller), each as itself, as its
    variant, or as both where the words leave it open."""
    found = list(meant)
    for variant in VARIANTS:
        twins = [f"{arm}{variant.suffix}" for arm in meant if f"{arm}{variant.suffix}" in arms]
        if not variant.spoken.search(told.around):
            continue
        added = _told(told.text, told.number, told.rivals, variant)
        if added is None:
            found += twins
            if re.search(r"\bwithout\b|\balone\b", told.text):
                found += [arm.removesuffix(variant.suffix) for arm in meant]
        elif added and twins:
            found = [arm for arm in found if f"{arm}{variant.suffix}" not in twins] + twins
        elif not added:
            found = [arm.removesuffix(variant.suffix) for arm in found]
    return list(dict.fromkeys(found))


def of_cell(text: str, meant: Sequence[str], arms: frozenset[str]) -> list[str]:
    """The same in a table, whose rows or columns say which of the two they are of."""
    found = list(meant)
    for variant in VARIANTS:
        if variant.added.search(text) and not variant.bare.search(text):
            found = [f"{arm}{variant.suffix}" if f"{arm}{variant.suffix}" in arms else arm for arm in found]
    return list(dict.fromkeys(found))


def _told(text: str, number: Number, rivals: Sequence[Number], variant: Variant) -> bool | None:
    """Whether the words beside a number put the variant on; None where they leave it open."""
    marks = sorted(
        [Mark(*m.span(), added=True) for m in variant.added.finditer(text)]
        + [Mark(*m.span(), added=False) for m in variant.bare.finditer(text)],
        key=lambda mark: mark.start,
    )
    ends = [one for one in rivals if one.moved]
    if number in ends and len(ends) % 2 == 0 and all(mark.added for mark in marks):
        away = TAKEN_AWAY.search(text) is not None
        return (
            ends.index(number) % 2 == 1
        ) != away  # what the variant changes goes from the one to the other
    if _came_from(text, number, rivals) and all(mark.added for mark in marks):
        return None
    ahead = bool(marks) and all(marks[0].end <= rival.start for rival in rivals)
    ahead = ahead and (_listed(text, rivals) or ": " in text[marks[0].end : rivals[0].start])
    if len({mark.added for mark in marks}) == 1 and (
        _alone(text, marks, rivals) or ahead or _of_all(text, marks[0], number, rivals)
    ):
        return marks[0].added
    beside = [mark for mark in marks if _beside(text, mark, number)] or [
        mark for mark in marks if _in_segment(text, mark, number, rivals)
    ]
    return beside[-1].added if beside else None


def _came_from(text: str, number: Number, rivals: Sequence[Number]) -> bool:
    """Whether a value is what another one came from, which the variant may have changed: "up from 94.3 %"."""
    return not number.moved and number is not rivals[0] and CAME_FROM.search(text[: number.start]) is not None


def _alone(text: str, marks: Sequence[Mark], rivals: Sequence[Number]) -> bool:
    """Whether a sentence has one value, and its marks stand in the clause of that value."""
    if len(rivals) != 1:
        return False
    start, end = min(marks[0].start, rivals[0].start), max(marks[0].end, rivals[0].end)
    return re.search(r",\s+(?:and|but|while)\s|;", text[start:end]) is None


def _listed(text: str, numbers: Sequence[Number]) -> bool:
    """Whether values stand in one list: "0.908, 0.739 and 0.963"."""
    return all(re.fullmatch(r"[\s%,]*(?:and|or)?\s*", text[a.end : b.start]) for a, b in pairwise(numbers))


def _in_segment(text: str, mark: Mark, number: Number, rivals: Sequence[Number]) -> bool:
    """Whether nothing but plain words stands between a mark and a number: "0.855 for 0.4.1 without any"."""
    start, end = sorted((mark.end, number.start)) if mark.end <= number.start else (number.end, mark.start)
    between = any(start <= rival.start < end for rival in rivals)
    return not between and SEGMENT.search(text[start:end]) is None


def _of_all(text: str, mark: Mark, number: Number, rivals: Sequence[Number]) -> bool:
    """Whether a mark is said of every value, "both without passages", or of those behind it."""
    if number.end <= mark.start and any(rival.start >= mark.end for rival in rivals):
        return False
    neither = text[mark.start : mark.end].lower().startswith("neither")
    return (
        neither
        or re.search(r"\b(?:both|each|all(?: of them)?)\s+$", text[: mark.start], re.IGNORECASE) is not None
    )


def _beside(text: str, mark: Mark, number: Number) -> bool:
    """Whether a mark stands right beside a number: "reranked 0.846", "0.835 plain", "77.7 % without it"."""
    behind = number.end <= mark.start and not text[number.end : mark.start].strip(" %*_`")
    return behind or stands_with(text, mark, number)
