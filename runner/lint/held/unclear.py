"""Values that a sentence leaves open: one of several, which nothing stands beside, and which is right as
another of the things that the sentence names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from runner.lint.around.context import context
from runner.lint.artefacts import Shelf
from runner.lint.document.figures import Figure
from runner.lint.held.judge import sources
from runner.lint.held.readings import Reading, places, read
from runner.lint.held.values import keys
from runner.lint.said.facets import ROW_FACETS, Mention
from runner.lint.said.releases import named_in
from runner.lint.written.binding import stands_with

MOST = 12  # other values of a sentence, so that the work stays small


def unclear(figure: Figure, beside: Sequence[Figure], shelf: Shelf, file: Path) -> bool:
    """Whether a value that differs by its nearest words is the one of another word of its sentence, which no
    value `beside` it is of."""
    number = figure.number
    if figure.header or number.change or number.paired or not 0 < len(beside) <= MOST:
        return False
    runs = [source.results for source in sources(figure, shelf, file) if source.results is not None]
    reading = read(figure, context(figure), runs, shelf)
    found = named_in(figure, runs, shelf)
    taken = {_cell(read(other, context(other), runs, shelf)) for other in beside}
    return any(
        _cell(other) not in taken and _agrees(figure, other)
        for facet in ROW_FACETS
        for other in _others(figure, reading, facet, found)
    )


def _others(figure: Figure, reading: Reading, facet: str, found: Sequence[Mention]) -> list[Reading]:
    """The readings with another value of one facet, where nothing of it stands right beside the number."""
    own = [one for one in found if one.facet == facet and not one.denied]
    if any(stands_with(figure.said.text, one, figure.number) for one in own):
        return []
    if any("+" in arm and arm not in {one.value for one in own} for arm in reading.wanted["arm"]):
        return []  # "reranked", "once it stores passages" stand beside it
    values = dict.fromkeys(one.value for one in own)
    return [
        replace(reading, wanted={**reading.wanted, facet: (value,)})
        for value in values
        if (value,) != reading.wanted[facet]
    ]


def _agrees(figure: Figure, reading: Reading) -> bool:
    number = figure.number
    found = [place for key in keys(figure, reading) for place in places(reading, key)]
    return any(number.agrees(row["value"], row["n"]) for _, row in found)


def _cell(reading: Reading) -> tuple[tuple[str, ...], ...]:
    return tuple(reading.wanted[facet] for facet in ROW_FACETS)
