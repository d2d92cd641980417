"""A system and its variants: with passages, behind the reranker, or as it is.

Prose names the variant apart from the system ("with the reranker", "without it"), so each such word changes
what the system beside it means.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from runner.lint.binding import stands_with
from runner.lint.number import Number

THE = r"(?:(?:the|our|a|an|any|its|linear|in-sample)\s+){0,4}"
RERANKER = r"rerank(?:ers?|ing)\b"


@dataclass(frozen=True, slots=True)
class Variant:
    """What is added to an arm's name, the words for it, those that put it on and those that do not."""

    suffix: str
    spoken: re.Pattern[str]
    added: re.Pattern[str]
    bare: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Mark:
    """Where a sentence says whether the variant is meant."""

    start: int
    end: int
    added: bool


VARIANTS = (
    Variant(
        "+passages",
        re.compile(r"\bpassages\b", re.IGNORECASE),
        re.compile(r"(?!)"),
        re.compile(r"\bwithout\s+passages\b", re.IGNORECASE),
    ),
    Variant(
        "+rerank",
        re.compile(r"\brerank(?:er|ers|ed|ing|s)?\b", re.IGNORECASE),
        re.compile(rf"\breranked\b|\b(?:with|behind|through|plus)\s+(?:{THE}{RERANKER}|it\b)", re.IGNORECASE),
        re.compile(
            rf"\b(?:without|before|minus)\s+(?:{THE}{RERANKER}|it\b)|\bwithout(?=[,.;)]|$)|\bunreranked\b|\bplain\b|"
            r"\bnot\s+reranked\b|\bon its own\b|\balone\b",
            re.IGNORECASE,
        ),
    ),
)  # fmt: skip


def spoken_of(text: str, arms: frozenset[str]) -> bool:
    """Whether a text speaks of a variant that one of `arms` is."""
    return any(v.spoken.search(text) and any(arm.endswith(v.suffix) for arm in arms) for v in VARIANTS)


def of_variants(
    text: str, number: Number, rivals: Sequence[Number], meant: Sequence[str], arms: frozenset[str]
) -> list[str]:
    """The arms in `meant` ("" is the system under test, put in by the caller), each as itself, as its
    variant, or as both where the words leave it open. `rivals` are the values of the sentence."""
    found = list(meant)
    for variant in VARIANTS:
        twins = [f"{arm}{variant.suffix}" for arm in meant if f"{arm}{variant.suffix}" in arms]
        if not variant.spoken.search(text):
            continue
        told = _told(text, number, rivals, variant)
        if told is None:
            found += twins
            if re.search(r"\bwithout\b|\balone\b", text):
                found += [arm.removesuffix(variant.suffix) for arm in meant]
        elif told and twins:
            found = [arm for arm in found if f"{arm}{variant.suffix}" not in twins] + twins
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
        return ends.index(number) % 2 == 1  # what the variant changes goes from the one to the other
    if len({mark.added for mark in marks}) == 1 and len(rivals) == 1:
        return marks[0].added
    beside = [mark for mark in marks if _beside(text, mark, number)]
    return beside[-1].added if beside else None


def _beside(text: str, mark: Mark, number: Number) -> bool:
    """Whether a mark stands right beside a number: "reranked 0.846", "0.835 plain", "77.7 % without it"."""
    behind = number.end <= mark.start and not text[number.end : mark.start].strip(" %*_`")
    return behind or stands_with(text, mark, number)
