"""Recall at every k, on a logarithmic axis: the first ranks are what a reader of memories sees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log

from markupsafe import Markup

from runner.report.figures import Row
from runner.report.html import svg
from runner.report.html.curves import Curve
from runner.report.html.palette import CEILING, arm_class

HEIGHT, FOOT = 220, 22


def recall(
    family: str,
    curves: Mapping[str, Curve],
    arms: Sequence[str],
    known: Mapping[int, Row],
    exhausted: int | None,
    label: str,
) -> Markup:
    """One recall of every arm. `known` maps a k to the system's result in metrics.json, with its interval.

    `exhausted` is the first k at which the whole scope of some question fits into k ranks; what lies beyond
    is shaded.
    """
    depth = len(next(iter(curves.values())))

    def x(k: float) -> float:
        return log(k) / log(depth) if depth > 1 else 0.5

    parts = []
    if exhausted is not None and exhausted <= depth:
        parts.append(svg.bar(x(exhausted), 0, 1 - x(exhausted), HEIGHT, "exhausted"))
    parts += [_across(share) for share in (0, 0.25, 0.5, 0.75, 1)]
    parts += [svg.text(x(k), HEIGHT + 16, str(k), f"tick {_side(k, depth)}") for k in (1, 2, 5, 10, 20, 50)
              if k <= depth]  # fmt: skip
    for arm in sorted(curves, key=lambda arm: (arm != arms[0], arm != CEILING)):  # thin ones on the broad one
        points = [(x(k), y(float(value))) for k, value in enumerate(curves[arm], 1)]
        parts.append(svg.path(points, HEIGHT, f"curve {arm_class(arm, arms)}"))
    for k, row in known.items():
        parts.append(svg.line(x(k), y(row["ci95_low"]), x(k), y(row["ci95_high"]), "whisker arm-0"))
        parts.append(svg.dot(x(k), y(row["value"]), 3.5, "point arm-0"))
    parts.append(svg.element("line", x1="0", x2="0", y1=0, y2=HEIGHT, class_="cursor", data_depth=depth))
    return svg.plot(HEIGHT + FOOT, *parts, label=label, class_="recall")


def y(share: float) -> float:
    """The height of a share in the plot, in pixels from its top."""
    return HEIGHT * (1 - share)


def _across(share: float) -> Markup:
    words = svg.text(0, y(share) + 4, f"{100 * share:.0f}", "tick end", dx=-7)
    return svg.joined([svg.line(0, y(share), 1, y(share), "grid"), words])


def _side(k: int, depth: int) -> str:
    return "start" if k == 1 else "end" if k == depth else "middle"
