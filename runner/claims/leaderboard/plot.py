"""A board as pictures: one panel a metric, one line a run, its value as a dot on its interval.

SVG without script, network or font of its own. A filled dot is a verified run, a ring one that deviates, so
that no meaning rests on colour. Colours are the CSS variables of `STYLE`, light and dark.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from math import ceil, floor, log10

from runner.claims.leaderboard.board import Board, Leaderboard, Row
from runner.report.formats import figure, interval, is_recall

WIDTH, MARGIN, HEAD, STEP, FOOT = 360, 12, 34, 44, 30  # px
NAME = 30  # characters of a run's name that fit beside its value
RADIUS = 5
STEPS = (1, 2, 5, 10)  # times a power of ten: the distance between two ticks
MOST_TICKS = 6

STYLE = """
.lb{--ink:#1f2328;--soft:#59636e;--rule:#d1d9e0;--mark:#0550ae;--paper:#ffffff}
@media (prefers-color-scheme:dark){.lb{--ink:#e6edf3;--soft:#9da7b3;--rule:#3d444d;--mark:#6cb6ff;--paper:#0d1117}}
@media print{.lb{--ink:#000000;--soft:#333333;--rule:#999999;--mark:#000000;--paper:#ffffff}}
.lb text{font-family:system-ui,sans-serif;font-size:12px;fill:var(--ink)}
.lb .head{font-size:14px;font-weight:600}
.lb .soft{fill:var(--soft)}
.lb .rule{stroke:var(--rule);stroke-width:1}
.lb .reach{stroke:var(--mark);stroke-width:2}
.lb .dot{fill:var(--mark);stroke:var(--mark);stroke-width:2}
.lb .ring{fill:var(--paper);stroke:var(--mark);stroke-width:2}
.lb .paper{fill:var(--paper)}
""".strip()  # noqa: E501


def panels(board: Board, key: str) -> Iterator[str]:
    """One `<svg>` for each metric of the board; `key` makes their ids unique in a page."""
    for place, value in enumerate(board.rows[0].values):
        name = f"{key}-{place}"
        body = "".join(_panel(board.rows, place))
        label = f"{value['metric']}, scope {board.scope}"
        yield (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="lb" viewBox="0 0 {WIDTH} {height(board)}" '
            f'width="{WIDTH}" height="{height(board)}" role="img" aria-labelledby="{name}-t {name}-d">'
            f'<title id="{name}-t">{escape(label)}</title>'
            f'<desc id="{name}-d">{escape(_said(board.rows, place))}</desc>{body}</svg>'
        )


def picture(found: Leaderboard) -> str:
    """The whole leaderboard as one SVG file: a line of panels for each board, a title above each."""
    parts, top, width = [], MARGIN, WIDTH
    for number, group in enumerate(found.groups):
        for board in group.boards:
            words = f"{group.title}, scope {board.scope}, n = {board.n:,}"
            parts.append(f'<text class="head" x="{MARGIN}" y="{top + 18}">{escape(words)}</text>')
            for column, svg in enumerate(panels(board, f"g{number}-{board.scope}")):
                parts.append(svg.replace("<svg ", f'<svg x="{column * WIDTH}" y="{top + 28}" ', 1))
                width = max(width, (column + 1) * WIDTH)
            top += 28 + height(board) + MARGIN
    said = "; ".join(group.title for group in found.groups) or "no run"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="lb" viewBox="0 0 {width} {top}" width="{width}" '
        f'height="{top}" role="img" aria-labelledby="lb-title"><title id="lb-title">'
        f"Recall leaderboard: {escape(said)}</title><style>{STYLE}</style>"
        f'<rect class="paper" width="{width}" height="{top}"/>{"".join(parts)}</svg>\n'
    )


def height(board: Board) -> int:
    """Height of a panel in px."""
    return HEAD + STEP * len(board.rows) + FOOT


def _said(rows: Sequence[Row], place: int) -> str:
    """The panel in words, for those who do not see it."""
    values = (row.values[place] for row in rows)
    return "; ".join(
        f"{row.label} {figure(v['metric'], v['value'])} {interval(v)}, {row.verdict}"
        for row, v in zip(rows, values, strict=True)
    )


def _panel(rows: Sequence[Row], place: int) -> Iterator[str]:
    metric = rows[0].values[place]["metric"]
    ticks = scale([end for row in rows for end in _ends(row, place)])
    bottom = HEAD + STEP * len(rows)
    unit = ", percent" if is_recall(metric) else ""
    yield f'<text class="head" x="{MARGIN}" y="20">{escape(metric)}{unit}</text>'
    for tick in ticks:
        x = _x(tick, ticks)
        yield f'<line class="rule" x1="{x}" x2="{x}" y1="{HEAD + 20}" y2="{bottom}"/>'
        label = _tick(metric, tick, ticks)
        yield f'<text class="soft" x="{x}" y="{bottom + 16}" text-anchor="middle">{label}</text>'
    for number, row in enumerate(rows):
        yield from _line(row, place, HEAD + STEP * number, ticks)


def _line(row: Row, place: int, top: int, ticks: Sequence[float]) -> Iterator[str]:
    value = row.values[place]
    low, high = (_x(end, ticks) for end in _ends(row, place))
    name = row.label if len(row.label) <= NAME else f"…{row.label[1 - NAME :]}"
    y, shape = top + 30, "dot" if row.verdict == "verified" else "ring"
    said = f"{figure(value['metric'], value['value'])} {interval(value)}"
    yield f'<rect class="paper" x="0" y="{top + 2}" width="{WIDTH}" height="18"/>'
    yield f'<text x="{MARGIN}" y="{top + 16}">{escape(name)}</text>'
    yield f'<text x="{WIDTH - MARGIN}" y="{top + 16}" text-anchor="end">{said}</text>'
    yield f'<line class="reach" x1="{low}" x2="{high}" y1="{y}" y2="{y}"/>'
    yield f'<circle class="{shape}" cx="{_x(value["value"], ticks)}" cy="{y}" r="{RADIUS}"/>'


def _ends(row: Row, place: int) -> tuple[float, float]:
    return row.values[place]["ci95_low"], row.values[place]["ci95_high"]


def _x(value: float, ticks: Sequence[float]) -> float:
    """Where a value stands between the first and the last tick, in px."""
    inner = WIDTH - 2 * (MARGIN + RADIUS + 4)
    return round(MARGIN + RADIUS + 4 + inner * (value - ticks[0]) / (ticks[-1] - ticks[0]), 1)


def scale(values: Sequence[float]) -> list[float]:
    """Round numbers, evenly apart, that hold every value; at most six, within [0, 1] where the values are."""
    low, high = min(values), max(values)
    span = max(high - low, 0.01)
    power = 10 ** floor(log10(span / MOST_TICKS))
    for step in (factor * power for factor in (*STEPS, 20)):
        first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
        if first == last:
            first, last = (first - 1, last) if first else (0, 1)
        if last - first < MOST_TICKS:
            break
    return [round(number * step, 10) for number in range(first, last + 1)]


def _tick(metric: str, value: float, ticks: Sequence[float]) -> str:
    """As few decimals as tell two ticks apart."""
    unit = 100 if is_recall(metric) else 1
    places = max(0, -floor(log10((ticks[1] - ticks[0]) * unit) + 1e-9))
    return f"{value * unit:.{places}f}"
