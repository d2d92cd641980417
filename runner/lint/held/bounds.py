"""A bound that is said of every value of a sentence: "above 0.59 on every type: 0.906, 0.896, 0.597"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from runner.lint.document.figures import Figure

EVERY = re.compile(r"\b(?:every|each|all|both|none|no|always|never|throughout)\b", re.IGNORECASE)


def wrong_bounds(figures: list[Figure]) -> Iterator[tuple[Figure, str]]:
    """Each bound of a sentence that one of two or more values of it breaks."""
    sentences = groupby((f for f in figures if not f.header), key=lambda f: (id(f.block), id(f.said)))
    for _, group in sentences:
        members = [figure for figure in group if not figure.number.change and figure.number.hits is None]
        bounds = [figure for figure in members if figure.number.bound and EVERY.search(figure.said.text)]
        values = [f for f in members if not f.number.bound and not f.number.missed and f.number.until is None]
        for bound in bounds if len(bounds) == 1 and len(values) > 1 else []:
            number = bound.number
            alike = [
                v.number.shown
                for v in values
                if v.names == bound.names and v.number.percent == number.percent
            ]
            broken = [shown for shown in alike if not number.near(shown)]
            if len(alike) > 1 and broken:
                side = "above" if number.bound == ">" else "below"
                yield bound, f"{side} {number.shown:g} is said, {broken[0]:g} stands beside it"
