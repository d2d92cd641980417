"""A board as pictures: one panel a metric, one line a run, its value as a dot on its interval.

SVG without script, network or font of its own. A filled dot is a verified run, a ring one that deviates, so
that no meaning rests on colour. Colours are the CSS variables of picture.css, light and dark.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil, floor
from pathlib import Path

from markupsafe import Markup

from runner.commands.leaderboard.board import Board, Leaderboard
from runner.report.formats import figure, interval, is_recall
from runner.report.html import svg
from runner.report.html.page import inlined
from runner.report.html.plots import AXIS, ROW, Axis, Row, intervals
from runner.report.html.svg import number, step

WIDTH, MARGIN, HEAD = 360, 12, 28  # px
NARROWEST = 0.01  # span of an axis

STYLE = Path(__file__).parent / "templates" / "picture.css"


def panels(board: Board) -> Iterator[tuple[str, Markup]]:
    """The title and the drawing of each metric of the board."""
    for place, value in enumerate(board.rows[0].values):
        unit = ", percent" if is_recall(value["metric"]) else ""
        yield f"{value['metric']}{unit}", _panel(board, place)


def picture(found: Leaderboard) -> str:
    """The whole leaderboard as one SVG file: a line of panels for each board, a title above each."""
    parts, top, width = [Markup("<style>{}</style>").format(Markup(inlined((STYLE,))))], float(MARGIN), WIDTH
    for group in found.groups:
        for board in group.boards:
            words = f"{group.title}, scope {board.scope}, n = {board.n:,}"
            parts.append(svg.element("text", words, class_="head", x=MARGIN, y=top + 14))
            height = HEAD + ROW * len(board.rows) + AXIS
            for column, (title, drawn) in enumerate(panels(board)):
                head = svg.element("text", title, class_="head", x=0, y=18)
                body = svg.element("svg", drawn, y=HEAD, width="100%", height=height - HEAD)
                place = {"x": column * WIDTH + MARGIN, "y": top + HEAD, "width": WIDTH - 2 * MARGIN}
                parts.append(svg.element("svg", head, body, height=height, **place))
                width = max(width, (column + 1) * WIDTH)
            top += HEAD + height + MARGIN
    said = "; ".join(group.title for group in found.groups) or "no run"
    paper = svg.element("rect", class_="paper", width=width, height=top)
    picture = svg.element(
        "svg", paper, *parts, xmlns="http://www.w3.org/2000/svg", class_="lb", viewBox=f"0 0 {width} {top:g}",
        width=width, height=top, role="img", aria_label=f"Recall leaderboard: {said}",
    )  # fmt: skip
    return f"{picture}\n"


def _panel(board: Board, place: int) -> Markup:
    metric, rows = board.rows[0].values[place]["metric"], []
    for row in board.rows:
        value = row.values[place]
        words = f"{figure(metric, value['value'])} {interval(value)}"
        kind = "dot" if row.verdict == "verified" else "ring"
        rows.append(Row(row.label, words, value["value"], value["ci95_low"], value["ci95_high"], kind))
    said = "; ".join(f"{r.label} {r.words}, {row.verdict}" for r, row in zip(rows, board.rows, strict=True))
    return intervals(rows, axis(metric, rows), f"{metric}, scope {board.scope}: {said}")


def axis(metric: str, rows: Sequence[Row]) -> Axis:
    """From one round number to another, with every interval in between."""
    low, high = min(row.low for row in rows), max(row.high for row in rows)
    by, unit = step(max(high - low, NARROWEST)), 100 if is_recall(metric) else 1
    first, last = floor(low / by + 1e-9), ceil(high / by - 1e-9)
    first, last = (first, last) if first < last else (max(first - 1, 0), max(first - 1, 0) + 1)
    return Axis(
        first * by, last * by, tuple((at * by, number(at * by * unit)) for at in range(first, last + 1))
    )
