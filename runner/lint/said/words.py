"""Which of the words of its sentence a number is of: the values of one facet that it can have."""

from __future__ import annotations

import re
from collections.abc import Sequence

from runner.lint.document.figures import Figure
from runner.lint.said.facets import Mention
from runner.lint.written.binding import BREAK, DEFAULT, bind, stands_with
from runner.lint.written.number import Number

VERSUS = re.compile(r"^[^,;:.]{0,20}\b(?:vs\.?|versus|against)[^,;:.]{0,20}$", re.IGNORECASE)
TOGETHER = re.compile(r"\b(?:both|together|combined|fused)\s+$", re.IGNORECASE)
IT = re.compile(r"[^.;]{0,60}:\s+it\b[^.;]{0,30}")  # "no peer exceeds bm25: it stands at …"
OPPOSED = re.compile(
    r"[`*_]*(?:\s+v?\d+\.\d+\.\d+)?(?:\s+(?:with|behind|without)(?:\s+\w+){1,3})?,\s+(?:at\s+|with\s+)?"
)  # "that of convex, 0.529, …"


def counts(one: Mention, figure: Figure) -> bool:
    """Whether a word can be what a figure is of: an excepted one only where it has the number beside it."""
    return not one.denied or (
        one.facet == "arm" and not figure.header and stands_with(figure.said.text, one, figure.number)
    )


def in_table(own: list[Mention]) -> list[str]:
    return [one.value for one in own]


def in_sentence(figure: Figure, own: list[Mention]) -> list[str]:
    """The values that a number in a sentence can be of; what it is compared with counts only beside it."""
    weak = [one.value for one in own if one.weak]
    firm = [one for one in own if not one.weak]
    number = _first_end(figure, firm) if firm and firm[0].facet == "arm" else figure.number
    usable = [one for one in firm if not one.aside or _beside_it(figure, one, number)]
    if not usable:
        return ["", *weak] if own else []
    if number.paired:
        return _of_pair(figure, own, shared=own[0].facet not in ("arm", "version"))
    if number.moved and own[0].facet == "version" and any(one.aside for one in firm):
        return list(dict.fromkeys(one.value for one in own))  # "what 0.3.0 gained on 0.2.1: from … to …"
    chosen = _bound(figure, usable, number)
    if TOGETHER.search(figure.said.text[: number.start]):
        chosen = [*chosen, ""]  # "keyword 75.4 %, vector 44.9 %, both 77.7 %"
    both = number.moved and len({one.value for one in usable}) == 1 and _open(usable[0], rivals(figure))
    return [*chosen, *weak, *_modes(figure, own, chosen), *([""] if both else [])]


def _bound(figure: Figure, usable: list[Mention], number: Number) -> list[str]:
    """What the words bind a number to; a version that no number has for itself gives way to an arm."""
    text, numbers = figure.said.text, rivals(figure)
    places = bind(text, usable, numbers)[numbers.index(number)]
    named = [usable[place] for place in places if place != DEFAULT]
    idle = [one for one in named if one.derived and not any(stands_with(text, one, n) for n in numbers)]
    if idle and len(idle) < len(named) and not all(one.derived for one in named):
        return [one.value for one in named if one not in idle]
    return ["" if place == DEFAULT else usable[place].value for place in places]


def _of_pair(figure: Figure, own: list[Mention], *, shared: bool) -> list[str]:
    """What one of "98.5 % against 98.4 % for bm25" can be of: what stands beside it alone, else anything that
    does not stand beside the other. A scope, a view or a type is `shared` by both."""
    text, number = figure.said.text, figure.number
    ends = [n for n in figure.said.numbers if n.paired]
    first = ends.index(number) // 2 * 2
    mates = [n for n in ends[first : first + 2] if n is not number]
    names = list(dict.fromkeys(one.value for one in own if one.end <= ends[first].start))
    if not shared and len(ends) == 2 and len(names) == 2 and VERSUS.search(text[own[0].end : own[1].start]):
        return [names[ends.index(number)]]
    beside = [one.value for one in own if _behind(text, number, one)]
    others = [one.value for n in mates for one in own if _behind(text, n, one)]
    if beside or (shared and others):
        return beside or [*others, *(one.value for one in own), ""]
    return [*(one.value for one in own if one.value not in others), ""]


def _behind(text: str, number: Number, one: Mention) -> bool:
    """Whether a word stands behind a number, or in front of it without a bracket or a colon between."""
    apart = one.end <= number.start and re.search(r"[(:,]", text[one.end : number.start])
    return not apart and stands_with(text, one, number)


def _first_end(figure: Figure, usable: Sequence[Mention]) -> Number:
    """The number that says what a number is of: of the second end of a step the first one, unless a word
    stands between them."""
    ends, number = [n for n in rivals(figure) if n.moved], figure.number
    if number not in ends or ends.index(number) % 2 == 0:
        return number
    first = ends[ends.index(number) - 1]
    before = [one for one in usable if one.end <= first.start]
    others = [n for n in figure.said.numbers if n is not first]
    apart = (
        not before
        or len({one.value for one in usable}) == 2
        or any(
            before[-1].end <= n.start < first.start or stands_with(figure.said.text, before[-1], n)
            for n in others
        )
    )
    between = any(first.end <= one.start < number.start or one.start >= number.end for one in usable)
    return number if between or apart else first


def _open(one: Mention, numbers: Sequence[Number]) -> bool:
    """Whether both ends of a step need not be of the only word: a scope may be that of one end alone."""
    return one.facet not in ("arm", "version") or one.start > numbers[0].start


def _modes(figure: Figure, own: list[Mention], chosen: list[str]) -> list[str]:
    """The mode in which the system named before the number is: "in keyword mode, pgmnemo has …"."""
    text, start = figure.said.text, figure.number.start
    modes = [one for one in own if one.end <= start and re.match(r"\s+mode\b", text[one.end :])]
    taken = any(modes[-1].end <= n.start < start for n in figure.said.numbers) if modes else True
    return [] if taken or not set(chosen) - {modes[-1].value} else [modes[-1].value]


def _beside_it(figure: Figure, one: Mention, number: Number) -> bool:
    """Whether what something is compared with is what a number is of: "than bm25 (94.1 %)"."""
    text, between = figure.said.text, figure.said.text[one.end : number.start]
    if stands_with(text, one, number) or OPPOSED.fullmatch(between) or IT.fullmatch(between):
        return True
    first = not any(one.end <= n.start < number.start for n in figure.said.numbers)
    return one.end <= number.start and first and BREAK.search(between) is None


def rivals(figure: Figure) -> list[Number]:
    """The numbers that compete for words: the differences among each other, and the values."""
    return [n for n in figure.said.numbers if n.change == figure.number.change]
