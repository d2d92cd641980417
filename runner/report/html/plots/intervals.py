"""Values with their intervals, one row each: a label and the figures in words, under them the drawing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from runner.report.html import svg

ROW, WORDS, TRACK = 44, 14, 26  # pixels: of a row, from its top to the words' foot, to its drawing
AXIS, DRAWN = 22, 18
LONGEST = 32  # characters of a label


@dataclass(frozen=True, slots=True)
class Mark:
    """A further value in a row, such as another arm's."""

    value: float
    class_: str
    title: str


@dataclass(frozen=True, slots=True)
class Row:
    """One value; `low` and `high` are None where no interval belongs to it."""

    label: str
    words: str
    value: float
    low: float | None
    high: float | None
    class_: str = "arm-0"
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True, slots=True)
class Axis:
    """The span of a plot, its ticks with their words, and what is drawn behind the rows."""

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]
    zero: float | None = None
    band: float | None = None

    def place(self, value: float) -> float:
        """A value as a share of the width, kept within the plot."""
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))


def intervals(rows: Sequence[Row], axis: Axis, label: str) -> Markup:
    """The plot of all rows over one axis."""
    height = ROW * len(rows) + AXIS
    behind = [*_band(axis, len(rows)), *_grid(axis, len(rows))]
    return svg.plot(
        height, *behind, *(_row(row, axis, ROW * at) for at, row in enumerate(rows)),
        label=label, class_="intervals",
    )  # fmt: skip


def _grid(axis: Axis, rows: int) -> list[Markup]:
    """Lines behind each drawing, not behind the words above it, and the numbers at the foot."""
    tops = _tops(rows)
    lines = [
        svg.line(axis.place(at), top, axis.place(at), top + DRAWN, "zero" if at == axis.zero else "grid")
        for top in tops
        for at in dict.fromkeys([*(at for at, _ in axis.ticks), *([] if axis.zero is None else [axis.zero])])
    ]
    return lines + [
        svg.text(axis.place(at), ROW * rows + AXIS - 5, words, f"tick {_anchor(axis.place(at))}")
        for at, words in axis.ticks
    ]


def _band(axis: Axis, rows: int) -> list[Markup]:
    if axis.band is None:
        return []
    left, right = axis.place(-axis.band), axis.place(axis.band)
    return [svg.bar(left, top, right - left, DRAWN, "band") for top in _tops(rows)]


def _tops(rows: int) -> list[float]:
    """Where the drawing of each row begins."""
    return [ROW * row + TRACK - 5 for row in range(rows)]


def _anchor(place: float) -> str:
    return "start" if place < 0.04 else "end" if place > 0.96 else "middle"


def _cut(label: str) -> str:
    """A label that leaves room for the figures on a phone; the whole of it shows when it is pointed at."""
    return label if len(label) <= LONGEST else f"{label[: LONGEST - 1]}…"


def _row(row: Row, axis: Axis, top: float) -> Markup:
    middle = top + TRACK + 4
    parts = [
        svg.text(0, top + WORDS, _cut(row.label), "label"),
        svg.text(1, top + WORDS, row.words, "value end"),
    ]
    parts += [svg.stroke(axis.place(m.value), middle, 7, f"mark {m.class_}", m.title) for m in row.marks]
    if row.low is not None and row.high is not None:
        left, right = axis.place(row.low), axis.place(row.high)
        parts.append(svg.line(left, middle, right, middle, f"whisker {row.class_}"))
    parts.append(
        svg.dot(axis.place(row.value), middle, 5, f"point {row.class_}", f"{row.label}: {row.words}")
    )
    return svg.element("g", *parts)
