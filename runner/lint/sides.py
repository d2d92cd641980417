"""Which of two values is whose, where a sentence says which system is ahead of which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from runner.cite.results import Cited
from runner.lint.artefacts import Shelf
from runner.lint.binding import stands_with
from runner.lint.compared import compared
from runner.lint.facets import Mention
from runner.lint.figures import Figure


def by_direction(
    figure: Figure, facet: str, own: Sequence[Mention], runs: Sequence[Cited], shelf: Shelf
) -> list[str]:
    """The arm or the version ("" is the newest, or the system under test) that one of two ends is of: the
    higher is of the one that is ahead. Nothing where the words leave it open, or name one beside a value.
    """
    ends = [n for n in figure.said.numbers if (n.paired or n.moved) and not n.change]
    text, values = figure.said.text, [n for n in figure.said.numbers if not n.change]
    if (
        len(ends) != 2
        or len(values) != 2
        or figure.number not in ends
        or any(n.missed or n.perhaps for n in ends)
    ):
        return []
    if ends[0].shown == ends[1].shown or any(stands_with(text, one, n) for one in own for n in ends):
        return []
    steps = [n for n in figure.said.numbers if n.change]
    before = [n for n in steps if n.end <= figure.number.start] or steps  # the step whose ends they are
    said = compared(replace(figure, number=before[-1]) if before else figure, runs, shelf)
    sides = (said.subject, said.other)
    if not said.sign or None in sides or said.subject == said.other:
        return []
    ahead = figure.number.shown == max(n.shown for n in ends)
    side = sides[0 if ahead == (said.sign > 0) else 1] or ""
    if any((one or "").startswith("@") for one in sides):
        return [side.removeprefix("@")] if facet == "version" else []
    return [side] if facet == "arm" else []
