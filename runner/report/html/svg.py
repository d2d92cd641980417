"""SVG elements as text, and round numbers along an axis.

Horizontal positions are in percent, so that a plot fits any width and its text keeps its size; vertical
positions are in pixels.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from markupsafe import Markup, escape

from pgmnemo.escaping import escape_control_chars
from runner.report.formats import MINUS


def element(name: str, *inside: str, **attributes: object) -> Markup:
    """Return `<name …>inside</name>`.

    Texts are escaped, `class_` is class and `stroke_width` is stroke-width.
    """
    listed = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(escape_control_chars(_text(value)))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{name}{listed}>{''.join(str(_escaped(part)) for part in inside)}</{name}>")


def _escaped(part: str) -> Markup:
    return part if isinstance(part, Markup) else escape(escape_control_chars(part))


def joined(parts: Iterable[str]) -> Markup:
    """Return elements one after another."""
    return Markup("").join(parts)


def plot(height: float, *inside: str, label: str, class_: str = "") -> Markup:
    """Return a drawing with the full width of its container. `label` describes it for screen readers."""
    return element(
        "svg", *inside, class_=f"plot {class_}".strip(), width="100%", height=height, role="img",
        aria_label=label,
    )  # fmt: skip


def percent(share: float) -> str:
    """Return a horizontal position as text: 0 is the left edge, 1 the right."""
    return f"{_short(100 * share)}%"


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Markup:
    """Return a line; x as shares of the width."""
    return element("line", x1=percent(x1), y1=y1, x2=percent(x2), y2=y2, class_=class_)


def text(x: float, y: float, words: str, class_: str, dx: float | None = None) -> Markup:
    """Return text at a position, moved by `dx` pixels."""
    return element("text", words, x=percent(x), y=y, dx=dx, class_=class_)


def dot(x: float, y: float, radius: float, class_: str, title: str = "") -> Markup:
    """Return a point; `title` is its tooltip."""
    return element("circle", *_title(title), cx=percent(x), cy=y, r=radius, class_=class_)


def stroke(x: float, y: float, half: float, class_: str, title: str = "") -> Markup:
    """Return a short vertical line, `half` pixels up and down from its position."""
    return element(
        "line", *_title(title), x1=percent(x), y1=y - half, x2=percent(x), y2=y + half, class_=class_
    )  # fmt: skip


def bar(x: float, y: float, width: float, height: float, class_: str, title: str = "") -> Markup:
    """Return a rectangle; x and width as shares of the width of the plot."""
    return element(
        "rect", *_title(title), x=percent(x), y=y, width=percent(width), height=height, class_=class_
    )  # fmt: skip


def path(points: Iterable[tuple[float, float]], height: float, class_: str) -> Markup:
    """Return a line through points (x as a share, y in pixels), stretched to the width of the plot."""
    drawn = " ".join(f"{_short(1000 * x)},{_short(y)}" for x, y in points)
    stroke = element("polyline", points=drawn, class_=class_, vector_effect="non-scaling-stroke")
    return element(
        "svg", stroke, viewBox=f"0 0 1000 {_short(height)}", width="100%", height=height,
        preserveAspectRatio="none", class_="stretch",
    )  # fmt: skip


def _title(words: str) -> tuple[Markup, ...]:
    return (element("title", words),) if words else ()


def _text(value: object) -> str:
    return _short(value) if isinstance(value, float) else str(value)


def _short(value: float) -> str:
    """Return a number with at most two decimals and no trailing zeros; never `-0`."""
    written = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if written == "-0" else written


STEPS = (1, 2, 5, 10)


def step(span: float, most: int = 5) -> float:
    """Return the smallest of 1, 2, 5 times a power of ten that cuts `span` into at most `most` parts."""
    if span <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(span / most))
    return next(power * s for s in STEPS if power * s * most >= span * (1 - 1e-9))


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Return the multiples of a round step within [low, high]."""
    by = step(high - low, most)
    first, last = math.ceil(low / by - 1e-9), math.floor(high / by + 1e-9)
    return [by * number for number in range(first, last + 1)]


def number(value: float) -> str:
    """Return a tick as text: without trailing zeros, and with a true minus."""
    text = f"{abs(value):.6f}".rstrip("0").rstrip(".") or "0"
    return f"{MINUS}{text}" if value < 0 and text != "0" else text


def signed(value: float) -> str:
    """Return a tick as `number` does, with a plus for a positive difference."""
    return f"+{number(value)}" if value > 1e-12 else number(value)
