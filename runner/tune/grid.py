"""Grids of a sweep: every point is a strategy with some settings, over lessons written in some text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from runner.errors import UsageError
from runner.runs.choice import FULL
from runner.systems.fusing import Fusion
from runner.systems.strategy import settings_of
from runner.texts import TEXTS

TEXT = "text"
FIXED = ("over", "keyword", "vector", "anchor")  # settings that say what is collected: one of each in a sweep
MOST = 2_000  # points


@dataclass(frozen=True, slots=True)
class Point:
    """One point: what the grid gives it, by axis, and what follows."""

    given: Mapping[str, str]
    method: str

    @property
    def text(self) -> str:
        return self.given.get(TEXT, FULL)

    @property
    def fusion(self) -> Fusion:
        return Fusion.of(self.method, {name: one for name, one in self.given.items() if name != TEXT})

    def __str__(self) -> str:
        return ", ".join(f"{name} {value}" for name, value in self.given.items())


def axes(method: str, grids: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """`NAME=V,V,V` of each text, checked; UsageError lists what a sweep may move."""
    known = {name: one for name, one in settings_of(method).items() if name not in FIXED}
    found: dict[str, tuple[str, ...]] = {}
    for text in grids:
        name, sign, listed = text.partition("=")
        values = tuple(value.strip() for value in listed.split(",") if value.strip())
        if not (sign and values) or name in found:
            raise UsageError(f"--grid takes NAME=VALUE,VALUE,…, each name once, not {text!r}")
        if name != TEXT and name not in known:
            raise UsageError(
                f"a sweep of {method} has no axis {name!r}; choose one of: {', '.join((*known, TEXT))}"
            )
        for value in values:
            if name == TEXT:
                TEXTS[value]
            elif wrong := known[name].wrong(value):
                raise UsageError(f"--grid {name}: {value!r}, but it {wrong}")
        if len(set(values)) < len(values):
            raise UsageError(f"--grid {name} names a value twice: {listed}")
        found[name] = values
    return found


def points(method: str, grid: Mapping[str, Sequence[str]]) -> list[Point]:
    """Every point, the last axis moving fastest; UsageError for none and for too many."""
    made = [Point(dict(zip(grid, values, strict=True)), method) for values in product(*grid.values())]
    if not grid or len(made) > MOST:
        raise UsageError(f"a sweep has axes by --grid, and at most {MOST:,} points, not {len(made):,}")
    return made
