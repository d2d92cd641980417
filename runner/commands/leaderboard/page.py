"""A leaderboard as pictures, and as one HTML file in the dress of report.html: no network, light and dark.

A picture has one panel a metric and one line a run, its value as a dot on its interval. A filled dot is a
verified run, a ring one that deviates, so that no meaning rests on colour; colours are the CSS variables of
picture.css.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from math import ceil, floor
from pathlib import Path
from textwrap import shorten
from urllib.parse import quote

from markupsafe import Markup

from runner.commands.leaderboard import board as text
from runner.commands.leaderboard.board import Aside, Board, Group, Leaderboard, Row, lead_words, notes
from runner.commands.leaderboard.entry import NAMES
from runner.report.formats import figure, interval, is_recall
from runner.report.html import svg
from runner.report.html.page import dressed, inlined
from runner.report.html.plots import AXIS, ROW, Axis, intervals
from runner.report.html.plots import Row as Line
from runner.report.html.svg import number, step
from runner.report.render import template
from runner.runs.run import BLOCKED

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
        rows.append(Line(row.label, words, value["value"], value["ci95_low"], value["ci95_high"], kind))
    said = "; ".join(f"{r.label} {r.words}, {row.verdict}" for r, row in zip(rows, board.rows, strict=True))
    return intervals(rows, axis(metric, rows), f"{metric}, scope {board.scope}: {said}")


def axis(metric: str, rows: Sequence[Line]) -> Axis:
    """From one round number to another, with every interval in between."""
    low, high = min(row.low for row in rows), max(row.high for row in rows)
    by, unit = step(max(high - low, NARROWEST)), 100 if is_recall(metric) else 1
    first, last = floor(low / by + 1e-9), ceil(high / by - 1e-9)
    first, last = (first, last) if first < last else (max(first - 1, 0), max(first - 1, 0) + 1)
    return Axis(
        first * by, last * by, tuple((at * by, number(at * by * unit)) for at in range(first, last + 1))
    )


FOLDER = Path(__file__).parent / "templates"
STYLES = ("base.css", "plots.css", FOLDER / "leaderboard.css", "print.css", FOLDER / "print.css")
SCRIPTS = ("theme.js",)
REPORTS = ("report.md", BLOCKED)
LINE = 88  # characters of a deviation that stands in a line of its own


def page(found: Leaderboard, place: Path | None = None) -> str:
    """The page; the same leaderboard and place give the same bytes.

    `place` is the file that the page will be: from there runs are linked to their report.md. Without it
    nothing is linked.
    """
    return template(FOLDER / "leaderboard.html.j2").render(
        found=found,
        panels=panels,
        text=text,
        conditions=NAMES,
        contents=contents(found),
        notes=list(notes(found)),
        deviations=deviations,
        first_words=first_words,
        links=_links(found, place),
        **dressed(STYLES, SCRIPTS),
    )


def contents(found: Leaderboard) -> Mapping[str, list[tuple[str, str, int]]]:
    """By what titles have before their last comma: the rest, words and number of each group."""
    listed: dict[str, list[tuple[str, str, int]]] = {}
    for place, group in enumerate(found.groups, start=1):
        shared, _, own = group.title.rpartition(", ")
        listed.setdefault(shared, []).append((own, lead_words(group), place))
    return listed


def deviations(group: Group) -> list[str]:
    """Every departure of its runs, each once."""
    rows = (row for board in group.boards for row in board.rows)
    return list(dict.fromkeys(deviation for row in rows for deviation in row.deviations))


def first_words(deviation: str) -> str:
    """As much of a deviation as fits into a line."""
    return shorten(deviation, LINE, placeholder=" …")


def _links(found: Leaderboard, place: Path | None) -> Mapping[str, str]:
    """By folder: the address of its report relative to the page, where there is one."""
    if place is None:
        return {}
    rows: list[Row | Aside] = [row for group in found.groups for board in group.boards for row in board.rows]
    linked = {one.folder: link(Path(one.folder), place) for one in [*rows, *found.asides]}
    return {folder: address for folder, address in linked.items() if address is not None}


def link(folder: Path, place: Path) -> str | None:
    """The relative address of a run's report from the file `place`.

    None where the run has no report, or where page and run share nothing but the root of the file system:
    such a path would break with the next move, and tell of this machine.
    """
    report = next((folder / name for name in REPORTS if (folder / name).is_file()), None)
    if report is None:
        return None
    target, start = report.resolve(), place.resolve().parent
    try:
        if os.path.commonpath([target, start]) == target.anchor:
            return None
    except ValueError:  # on another drive
        return None
    return quote(Path(os.path.relpath(target, start)).as_posix())
