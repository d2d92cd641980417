"""What a sentence compares: which arm or version with which, and in which direction."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from runner.cite.results import Cited
from runner.lint.artefacts import Shelf
from runner.lint.binding import BREAK, DEFAULT, bind
from runner.lint.facets import Mention, arms_of, mentions
from runner.lint.figures import Figure

UP = re.compile(
    r"\b(?:beats?|beating|ahead|above|over|better|outperform\w*|gain\w*|adds?|added|improv\w*|ris(?:es|"
    r"ing|en|e)|rose|more|higher|"
    r"lead\w*|led|exceed\w*|surpass\w*|wins?|won|tops?|increas\w*|grew|grows?|climb\w*|advantage|plus|"
    r"up|boost\w*|"
    r"jump\w*|stronger|superior|margin)\b",
    re.IGNORECASE,
)
DOWN = re.compile(
    r"\b(?:los(?:es|ing|e|t|s)|behind|below|under|trail\w*|lags?|lagging|lagged|worse|less|lower\w*|"
    r"fewer|fall\w*|fell|drop\w*|decreas\w*|"
    r"declin\w*|short|down|deficit|costs?|cost|weaker|inferior|sinks?|sank|shed|sheds|regress\w*|"
    r"gives? up|gave up)\b",
    re.IGNORECASE,
)
NOT = re.compile(r"\b(?:not|no|never|neither|hardly|instead of)\s+(?:\w+\s+)?$", re.IGNORECASE)
MISS = re.compile(
    r"\b(?:rerank\w*\s+behind|behind\s+(?:(?:the|our|a|an|its|linear)\s+){0,3}rerank\w*|leads? to|"
    r"over (?:the|all) (?:pool|conversations?|questions|whole)|under protocol|"
    r"(?:under|below|over|above) (?:one|half|two|a|\d)|up to|more than|less than|"
    r"no more than|over all|at least)\b",
    re.IGNORECASE,
)
RERANKER = re.compile(r"\brerank(?:er|ers|ing)\b", re.IGNORECASE)
REMOVED = re.compile(
    r"\b(?:without|leaving|dropping|removing|taking away|minus|turning off)\s+(?:\w+\s+){0,2}"
    r"rerank(?:er|ers|ing)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Compared:
    """What is compared with what; None where it is not said. `sign` is 0 where no direction is."""

    subject: str | None
    other: str | None
    sign: int


def compared(figure: Figure, runs: Sequence[Cited], shelf: Shelf) -> Compared:
    """The pair and the direction that the words around a difference say."""
    text, number = figure.said.text, figure.number
    arms = _sides(mentions(text, runs, shelf.versions(runs)), runs)
    arms = _of_number(figure, arms)
    verb, sign = _direction(text, number.start, number.end)
    subject, other = _of_reranker(text, arms, runs) or _pair(
        text, arms, verb if verb is not None else number.start
    )
    if verb is not None and (_far(figure, arms, verb) or _one_sided(arms, verb)):
        sign = 0
    if figure.header:
        sign = number.sign or 1
    elif number.sign and not sign:
        sign = number.sign
    elif number.sign < 0:
        sign = -sign if sign > 0 else sign
    return Compared(subject, other, sign)


def _one_sided(arms: list[Mention], verb: int) -> bool:
    """Whether two arms stand on one side of the word of direction, neither as what is compared with."""
    sides = {one.start > verb for one in arms}
    return len({_arm(one) for one in arms}) == 2 and len(sides) == 1 and not any(one.aside for one in arms)


def _far(figure: Figure, arms: list[Mention], verb: int) -> bool:
    """Whether a word of direction is another difference's: "keyword is 3.2 points behind, vector 29.6"."""
    text, number = figure.said.text, figure.number
    changes = [one for one in figure.said.numbers if one.change and one is not number]
    if any(verb < one.start < number.start or number.end <= one.start < verb for one in changes):
        return True
    return bool(changes) and any(verb < one.start and BREAK.search(text[verb : one.start]) for one in arms)


def _of_number(figure: Figure, arms: list[Mention]) -> list[Mention]:
    """The arms of one of several differences: "keyword is 1.1 points behind, vector 9.2"."""
    changes = [number for number in figure.said.numbers if number.change]
    if len(changes) < 2 or figure.number not in changes or len({_arm(one) for one in arms}) < len(changes):
        return arms
    places = bind(figure.said.text, arms, changes)[changes.index(figure.number)]
    return [arms[place] for place in places if place != DEFAULT] or arms


def _sides(found: Iterable[Mention], runs: Sequence[Cited]) -> list[Mention]:
    """The arms and versions that are named; of two for one place the arm."""
    newest = {str(run.run.version).removeprefix("v") for run in runs}
    found = [one for one in found if not one.weak and not one.denied]
    arms = [one for one in found if one.facet == "arm"]
    if len({one.value for one in arms}) > 1:
        return arms
    versions = [
        replace(one, facet="arm", value="") if one.value in newest else one
        for one in found
        if one.facet == "version"
    ]
    if not any(one.value for one in versions) and not any("@" in one.value for one in arms):
        versions = []
    return sorted([*arms, *versions], key=lambda one: one.start)


def _direction(text: str, start: int, end: int) -> tuple[int | None, int]:
    """Where the word of direction nearest to a number begins, and its sign."""
    skipped = [match.span() for match in MISS.finditer(text)]
    nearest: tuple[int, int, int] | None = None
    for sign, pattern in ((1, UP), (-1, DOWN)):
        for match in pattern.finditer(text):
            if any(a <= match.start() < b for a, b in skipped):
                continue
            away = start - match.end() if match.end() <= start else match.start() - end
            turned = -sign if NOT.search(text[: match.start()][-30:]) else sign
            turned = 0 if turned != sign else sign
            if nearest is None or away < nearest[0]:
                nearest = (away, match.start(), turned)
    return (nearest[1], nearest[2]) if nearest and nearest[0] < 90 else (None, 0)


def _pair(text: str, arms: list[Mention], verb: int) -> tuple[str | None, str | None]:
    """Subject and object: by the side of the verb on which they stand, and by what they are compared with."""
    names = list(dict.fromkeys(_arm(one) for one in arms))
    if len(names) == 1:
        (name,) = names
        first = arms[0]
        return ("", name) if first.start > verb or first.aside else (name, None)
    before = [one for one in arms if one.end <= verb]
    after = [one for one in arms if one.start > verb]
    if before and after:
        subject = next((one for one in reversed(before) if not one.aside), before[-1])
        return _arm(subject), _arm(after[0])
    sides = before or after
    aside = [one for one in sides if one.aside]
    free = [one for one in sides if not one.aside]
    if len(names) == 2 and len(aside) == 1 and len(free) == 1:
        return _arm(free[0]), _arm(aside[0])
    return (names[0], names[1]) if len(names) == 2 else (None, None)


def _of_reranker(text: str, arms: list[Mention], runs: Sequence[Cited]) -> tuple[str, str] | None:
    """The two sides of what a reranker brings: the arm that is named, or our own, with and without it."""
    names = {_arm(one) or "pgmnemo" for one in arms} or {run.run.system for run in runs}
    known = frozenset().union(*map(arms_of, runs))
    if len(names) != 1 or not RERANKER.search(text) or REMOVED.search(text):
        return None
    (name,) = names
    return (f"{name}+rerank", name) if f"{name}+rerank" in known else None


def _arm(one: Mention) -> str:
    return one.value if one.facet == "arm" else f"@{one.value}"
