"""The plots as SVG: intervals, recall at every k, shares of a whole, latency."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from markupsafe import Markup

from runner.report import formats
from runner.report.html import svg
from runner.report.html.gold_ranks import Curve

CEILING, RANDOM = "ceiling", "random"
COLOURS = 6  # arm colours in assets/plots.css
LAPS = 2  # times that the colours repeat, each time with other dashes
COMPONENT_COLOURS = 12

# Pixels: height of a row, and from its top to the text baseline and to the drawing.
ROW, WORDS, TRACK = 44, 14, 26
DRAWN = 18
AXIS = 22  # pixels below a plot for its ticks
LONGEST = 32  # characters of a label
RECALL_HEIGHT, SHARES_HEIGHT = 220, 26
NARROW = 0.075  # a narrower share has no room for its figure
BINS, BINS_HEIGHT, BINS_HEAD = 60, 74, 32
LINE = 15  # pixels from one percentile's words to the next's


def arm_class(arm: str, arms: Sequence[str]) -> str:
    """Return the CSS classes of an arm; `arms` are all arms of a run, in order.

    Repeated colours are dashed.
    """
    if arm in (CEILING, RANDOM):
        return f"arm-{arm}"
    lap, colour = divmod([one for one in arms if one != RANDOM].index(arm), COLOURS)
    return f"arm-{colour}" + (f" lap-{min(lap, LAPS)}" if lap else "")


def component_class(place: int) -> str:
    """Return the CSS class of the component at index `place` in the run's order."""
    return f"part-{place % COMPONENT_COLOURS}"


@dataclass(frozen=True, slots=True)
class PlotMark:
    """An additional value in a row, such as the value of another arm."""

    value: float
    class_: str
    title: str


@dataclass(frozen=True, slots=True)
class IntervalRow:
    """A value with its interval, and both as text."""

    label: str
    words: str
    value: float
    low: float
    high: float
    class_: str = "arm-0"
    marks: tuple[PlotMark, ...] = ()


@dataclass(frozen=True, slots=True)
class Axis:
    """The range of a plot, its ticks with their labels, and the background of its rows."""

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]
    zero: float | None = None
    band: float | None = None

    def place(self, value: float) -> float:
        """Return the position of a value as a share of the width, clipped to the plot."""
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))


def intervals(rows: Sequence[IntervalRow], axis: Axis, label: str) -> Markup:
    """Draw values with their intervals over one axis.

    Each row has its label and figures above the drawing.
    """
    foot = ROW * len(rows)
    ticks = [
        svg.text(axis.place(at), foot + AXIS - 5, words, f"tick {_anchor(axis.place(at))}")
        for at, words in axis.ticks
    ]
    drawn = [_row(row, axis, ROW * at) for at, row in enumerate(rows)]
    return svg.plot(foot + AXIS, *_behind(axis, len(rows)), *ticks, *drawn, label=label, class_="intervals")


def _behind(axis: Axis, rows: int) -> Iterator[Markup]:
    """Yield the band and the grid behind each row's drawing, not behind its text."""
    tops = [ROW * row + TRACK - 5 for row in range(rows)]
    if axis.band is not None:
        left, right = axis.place(-axis.band), axis.place(axis.band)
        yield from (svg.bar(left, top, right - left, DRAWN, "band") for top in tops)
    lines = dict.fromkeys([*(at for at, _ in axis.ticks), *([] if axis.zero is None else [axis.zero])])
    for top in tops:
        for at in lines:
            kind = "zero" if at == axis.zero else "grid"
            yield svg.line(axis.place(at), top, axis.place(at), top + DRAWN, kind)


def _row(row: IntervalRow, axis: Axis, top: float) -> Markup:
    """Draw a row; cut a long label to fit a phone, and show the whole label as the dot's tooltip."""
    middle = top + TRACK + 4
    label = row.label if len(row.label) <= LONGEST else f"{row.label[: LONGEST - 1]}…"
    return svg.element(
        "g",
        svg.text(0, top + WORDS, label, "label"),
        svg.text(1, top + WORDS, row.words, "value end"),
        *(svg.stroke(axis.place(m.value), middle, 7, f"mark {m.class_}", m.title) for m in row.marks),
        svg.line(axis.place(row.low), middle, axis.place(row.high), middle, f"whisker {row.class_}"),
        svg.dot(axis.place(row.value), middle, 5, f"point {row.class_}", f"{row.label}: {row.words}"),
    )


def _anchor(place: float, edge: float = 0.04) -> str:
    """Return the text anchor of a tick's label, which keeps it inside the plot at both ends."""
    return "start" if place < edge else "end" if place > 1 - edge else "middle"


def recall(
    curves: Mapping[str, Curve],
    arms: Sequence[str],
    known: Mapping[int, formats.Row],
    exhausted: int,
    label: str,
) -> Markup:
    """Draw a recall of every arm at every k, on a logarithmic axis that gives more room to the first ranks.

    `known` maps a k to the system's result in metrics.json, with its interval. `exhausted` is the first k at
    which the whole scope of some question fits into k ranks; the area from there on is shaded.
    """
    depth, height = len(next(iter(curves.values()))), RECALL_HEIGHT

    def x(k: float) -> float:
        return log(k) / log(depth) if depth > 1 else 0.5

    def y(share: float) -> float:
        return height * (1 - share)

    parts = []
    if exhausted <= depth:
        parts.append(svg.bar(x(exhausted), 0, 1 - x(exhausted), height, "exhausted"))
    for share in (0, 0.25, 0.5, 0.75, 1):
        parts.append(svg.line(0, y(share), 1, y(share), "grid"))
        parts.append(svg.text(0, y(share) + 4, f"{100 * share:.0f}", "tick end", dx=-7))
    for k in (k for k in (1, 2, 5, 10, 20, 50) if k <= depth):
        parts.append(svg.text(x(k), height + 16, str(k), f"tick {_anchor(x(k))}"))
    for arm in sorted(
        curves, key=lambda arm: (arm != arms[0], arm != CEILING)
    ):  # thin lines are drawn over the broad one
        points = [(x(k), y(float(value))) for k, value in enumerate(curves[arm], 1)]
        parts.append(svg.path(points, height, f"curve {arm_class(arm, arms)}"))
    for k, row in known.items():
        parts.append(svg.line(x(k), y(row["ci95_low"]), x(k), y(row["ci95_high"]), "whisker arm-0"))
        parts.append(svg.dot(x(k), y(row["value"]), 3.5, "point arm-0"))
    parts.append(svg.element("line", x1="0", x2="0", y1=0, y2=height, class_="cursor", data_depth=depth))
    return svg.plot(height + AXIS, *parts, label=label, class_="recall")


def shares(parts: Sequence[tuple[str, float]], label: str) -> Markup:
    """Draw shares of a whole as one bar, the best part on the left; `parts` are (name, share of 1)."""
    drawn, left = [], 0.0
    for place, (name, share) in enumerate(parts):
        shade = "none" if place == len(parts) - 1 else str(place)
        if share > 0:
            title = f"{name}: {100 * share:.1f} %"
            drawn.append(svg.bar(left, 0, share, SHARES_HEIGHT, f"shade-{shade}", title))
        if share >= NARROW:
            middle, words = SHARES_HEIGHT / 2 + 4.5, f"{100 * share:.0f}"
            drawn.append(svg.text(left + share / 2, middle, words, f"on-shade-{shade} middle"))
        left += share
    return svg.plot(SHARES_HEIGHT, *drawn, label=label, class_="shares")


def buckets(ranks: Sequence[float], edges: Sequence[int]) -> list[float]:
    """Return the share of the ranks in each bucket up to an edge.

    The last bucket is beyond all edges or 0.
    """
    counts = [0] * (len(edges) + 1)
    for rank in ranks:
        counts[next((at for at, edge in enumerate(edges) if 0 < rank <= edge), len(edges))] += 1
    return [count / len(ranks) for count in counts] if ranks else [0.0] * len(counts)


def names(edges: Sequence[int], rest: str) -> list[str]:
    """Return the names of the buckets: `1`, `2–5`, `6–10`, …, and `rest`."""  # noqa: RUF002
    starts = [1, *(edge + 1 for edge in edges)]
    listed = [str(edge) if start == edge else f"{start}–{edge}"  # noqa: RUF001
              for start, edge in zip(starts, edges, strict=False)]  # fmt: skip
    return [*listed, rest]


def span(groups: Sequence[Sequence[float]]) -> float:
    """Return the right end of an axis of milliseconds: the largest 99th percentile, plus a margin."""
    most = 1.08 * max(float(np.percentile(group, 99)) for group in groups)
    by = svg.step(most, 8)
    return float(np.ceil(most / by) * by)


def latency(
    milliseconds: Sequence[float], end: float, percentiles: Sequence[tuple[str, float]], label: str
) -> Markup:
    """Draw a histogram up to `end`; `percentiles` are (name, milliseconds), the lowest first."""
    counts, edges = np.histogram([ms for ms in milliseconds if ms <= end], bins=BINS, range=(0, end))
    most, foot = max(1, int(counts.max())), BINS_HEAD + BINS_HEIGHT
    parts = [svg.line(0, foot, 1, foot, "grid")]
    for count, left in zip(counts.tolist(), edges.tolist(), strict=False):
        if count:
            tall = BINS_HEIGHT * count / most
            title = f"{left:.2f} to {left + end / BINS:.2f} ms: {count:,}"
            parts.append(svg.bar(left / end, foot - tall, 0.94 / BINS, tall, "bin", title))
    for row, (name, value) in enumerate(percentiles):
        place, words = min(1.0, value / end), f"{name} {value:.1f} ms"
        side, dx = ("end", -4) if place > 0.7 else ("start", 4)
        parts.append(svg.line(place, LINE * row + 2, place, foot, "percentile"))
        parts.append(svg.text(place, LINE * row + 11, words, f"value {side}", dx=dx))
    for at in svg.ticks(0, end, 8):
        parts.append(svg.text(at / end, foot + 16, svg.number(at), f"tick {_anchor(at / end, 0.02)}"))
    return svg.plot(foot + AXIS, *parts, label=label, class_="latency")
