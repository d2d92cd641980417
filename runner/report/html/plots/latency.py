"""How long a recall took: one histogram for each arm and scope, all over one axis of milliseconds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup

from runner.report.html import svg
from runner.report.html.plots.ticks import plain, step, ticks

BINS, HEIGHT, FOOT, HEAD = 60, 74, 22, 32
LINE = 15  # pixels from one mark's words to the next's


def span(groups: Sequence[Sequence[float]]) -> float:
    """The right end of the axis: room for 99 % of every group, and a little more."""
    most = max(float(np.percentile(group, 99)) for group in groups)
    by = step(most * 1.08, 8)
    return float(np.ceil(most * 1.08 / by) * by)


def latency(
    milliseconds: Sequence[float], end: float, marks: Sequence[tuple[str, float]], label: str
) -> Markup:
    """One histogram up to `end`; `marks` are (name, milliseconds), the lower ones first."""
    counts, edges = np.histogram([ms for ms in milliseconds if ms <= end], bins=BINS, range=(0, end))
    most = max(1, int(counts.max()))
    foot = HEAD + HEIGHT
    parts = [svg.line(0, foot, 1, foot, "grid")]
    for count, left in zip(counts.tolist(), edges.tolist(), strict=False):
        if count:
            tall = HEIGHT * count / most
            title = f"{left:.2f} to {left + end / BINS:.2f} ms: {count:,}"
            parts.append(svg.bar(left / end, foot - tall, 0.94 / BINS, tall, "bin", title))
    for row, (name, value) in enumerate(marks):
        place = min(1.0, value / end)
        parts.append(svg.line(place, LINE * row + 2, place, foot, "percentile"))
        side = "end" if place > 0.7 else "start"
        parts.append(
            svg.text(
                place,
                LINE * row + 11,
                f"{name} {value:.1f} ms",
                f"value {side}",
                dx=-4 if side == "end" else 4,
            )
        )
    parts += [svg.text(at / end, foot + 16, plain(at), f"tick {_side(at / end)}") for at in ticks(0, end, 8)]
    return svg.plot(foot + FOOT, *parts, label=label, class_="latency")


def _side(place: float) -> str:
    return "start" if place < 0.02 else "end" if place > 0.98 else "middle"
