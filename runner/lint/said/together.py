"""Values that are said of several things at once: both scopes, every type, two arms that are level."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from runner.lint.document.figures import Figure
from runner.lint.said.facets import ALL_OF_THEM, Mention
from runner.lint.written.binding import stands_with

EACH_TYPE = re.compile(
    r"\b(?:every|each|all|no|none of|not one of)(?:\s+(?:the|its|\w+['\u2019]s|of|single))*\s+(?:\w+\s+){0,2}"
    r"(?:types?|categor(?:y|ies))\b",
    re.IGNORECASE,
)
ALIKE = re.compile(
    r"\b(?:all|both|each|share[sd]?|alike|tie[sd]?|equally|the same|identical\w*|every|neither|none of|"
    r"any of)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Stretch:
    """Where some words of a sentence stand."""

    start: int
    end: int


def of_each_type(figure: Figure) -> bool:
    """Whether a bound or a range is said of every type of questions: "no type lies below 0.59"."""
    bounded = bool(figure.number.bound) or figure.number.until is not None
    return bounded and EACH_TYPE.search(figure.said.text) is not None


def of_every_scope(figure: Figure, found: Sequence[Mention]) -> bool:
    """Whether a value is said of all the scopes at once, and none is named that it could be of instead."""
    match = ALL_OF_THEM.search(figure.said.text)
    if match is None:
        return False
    behind = figure.number.end <= match.start()
    beside = behind and stands_with(figure.said.text, Stretch(*match.span()), figure.number)
    values = [number for number in figure.said.numbers if not number.change and not number.bound]
    one_alone = bool(figure.number.bound) or len(values) < 2
    named = any(one.facet == "scope" for one in found)
    return beside or len(figure.said.numbers) == 1 or (one_alone and not named)


def of_arms(figure: Figure, wanted: Sequence[str], found: Sequence[Mention]) -> frozenset[str]:
    """The arms that the only value of a sentence is said of at once: "chroma and mem0 both have"."""
    alone = len(figure.said.numbers) == 1 and not figure.header and not figure.number.change
    named = {one.value for one in found if one.facet == "arm"}
    firm = {one.value for one in found if one.facet == "arm" and not one.weak}
    meant = frozenset(arm for arm in wanted if arm.partition("+")[0] in firm or arm in firm)
    known = all(arm in named or arm.partition("+")[0] in named for arm in wanted)
    several = alone and len({arm.partition("+")[0] for arm in meant}) > 1 and known
    return meant if several and ALIKE.search(figure.said.text) else frozenset()
