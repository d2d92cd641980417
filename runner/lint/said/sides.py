"""Which of two values is whose, where a sentence says which system is ahead of which."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from runner.cite.results import Cited
from runner.lint.artefacts import Shelf
from runner.lint.document.figures import Figure
from runner.lint.said.compared import compared
from runner.lint.said.facets import Mention
from runner.lint.written.binding import stands_with
from runner.lint.written.number import Number

APART = re.compile(r":|,|\bwith\b")
TURN = re.compile(r"\b(?:while|but|whereas|although|yet)\b", re.IGNORECASE)
FROM_TO = re.compile(r"\s*(?:\bto\b|→|->|⟶)\s*(?:version\s+)?(?:pgmnemo\s+)?v?", re.IGNORECASE)


def by_direction(
    figure: Figure, facet: str, own: Sequence[Mention], runs: Sequence[Cited], shelf: Shelf
) -> list[str]:
    """The arm or the version ("" is the newest, or the system under test) that one of two ends is of: the
    higher is of the one that is ahead. Nothing where the words leave it open, or name one beside a value.
    """
    ends = _pair_of(figure, own)
    text = figure.said.text
    if len(ends) != 2 or figure.number not in ends or any(n.missed or n.perhaps for n in ends):
        return []
    if ends[0].shown == ends[1].shown or any(
        stands_with(text, one, n) and not APART.search(text[one.end : n.start]) for one in own for n in ends
    ):
        return []
    if len(own) > 1 and FROM_TO.fullmatch(text[own[0].end : own[1].start]):
        return []  # "from 0.3.1 to 0.4.0" says it by the order
    steps = [n for n in figure.said.numbers if n.change]
    before = [n for n in steps if n.end <= figure.number.start] or steps  # the step whose ends they are
    said = compared(replace(figure, number=before[-1]) if before else figure, runs, shelf)
    sides = (said.subject, said.other)
    if not said.sign or None in sides or said.subject == said.other:
        return []
    named = {one.value for one in own} | {f"@{one.value}" for one in own}
    if len(named & set(sides)) < 2 and "" not in sides:
        return []
    ahead = figure.number.shown == max(n.shown for n in ends)
    by_order = figure.number.paired and len(own) == 2 and all(one.end <= ends[0].start for one in own)
    first = figure.number is ends[0] if by_order else ahead == (said.sign > 0)
    side = sides[0 if first else 1] or ""
    if any((one or "").startswith("@") for one in sides):
        return [side.removeprefix("@")] if facet == "version" else []
    return [side] if facet == "arm" else []


def _pair_of(figure: Figure, own: Sequence[Mention]) -> list[Number]:
    """The two ends of "0.856 over 0.847" that a figure is one of, where all values of its sentence stand in
    such pairs; behind the names of both sides where there are several pairs."""
    values = [n for n in figure.said.numbers if not n.change]
    pairs = all(n.paired for n in values)
    several = pairs and len(values) % 2 == 0 and len({one.value for one in own}) == 2
    if (len(values) == 2 and not all(n.paired or n.moved for n in values)) or not values:
        return []
    if values[0].moved and len({one.value for one in own}) > 2:
        return []
    if len(values) != 2 and not (several and all(one.end <= values[0].start for one in own)):
        return []
    if len(values) != 2 and TURN.search(figure.said.text[values[0].start : values[-1].end]):
        return []
    first = values.index(figure.number) // 2 * 2 if figure.number in values else 0
    return values[first : first + 2]
