"""Figures in tables: the metric stands in the header, in the row, or in the sentence above."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from runner.lint.document.blocks import Block
from runner.lint.document.figures import Figure, Sentence
from runner.lint.written.binding import DEFAULT, bind
from runner.lint.written.names import Name, find_names
from runner.lint.written.number import Number
from runner.lint.written.numbers import find_numbers
from runner.lint.written.visible import visible

WIDEST = 100  # columns
CELL = re.compile(r"(?:[^|\\]|\\.)+")
ALONE = re.compile(r"[\s(]*\d{1,3}[\s%†)]*(?:\[[^\]]*\])?\s*")
OTHER = re.compile(
    r"\s*(?:[knN]|questions?|depths?|cutoffs?|ranks?|counts?|ranges?|weights?|setting|default)\W*"
)
COUNT = re.compile(r"\s*\W*(?:n|N|questions)\W*\s*")
DEPTHS = re.compile(r"\W*(?:k|depth|cutoff|rank|top[- ]?k|@k)\W*", re.IGNORECASE)
BAND = re.compile(r"\b(?:intervals?|CI|confidence)\b|^\s*95\s*%\s*$", re.IGNORECASE)
APART = re.compile(r"\s/\s|\s·\s|\s;\s")  # between the values of a cell that has several
DIFFERENCE = re.compile(r"\bdifferences?\b|Δ|\bchanges?\b|\bdelta\b|−", re.IGNORECASE)  # noqa: RUF001
MEASURED = re.compile(  # what a column holds that is no recall
    r"\b(?:ms|µs|sec|seconds?|minutes?|[kMGT]i?B|bytes|size|disk|memory|latenc\w+|p50|p9\d|time|speed|"
    r"throughput|"
    r"costs?|price|weights?|tokens?|qps|k1?|b|n|seed|coverage|lessons|questions|items|rank|depth|cutoff|"
    r"year|date|"
    r"margin|interval|CI|half-width|p|w)\b|[$€/]",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Cell:
    start: int  # offset in its line
    text: str


@dataclass(frozen=True, slots=True)
class Table:
    """A table's header, the metrics of each of its columns, and those that the text above names."""

    block: Block
    header: list[Cell]
    names: list[list[Name]]
    above: list[Name]

    def title(self, column: int) -> str:
        """The header of one column, if it has one."""
        return self.header[column].text if column < len(self.header) else ""


def tabular(block: Block, above: str) -> list[Figure]:
    """Figures of a table; `above` is the text in front of it, which may name the metric of every value."""
    header = _cells(block.lines[0])
    table = Table(
        block, header, [find_names(visible(cell.text)) for cell in header], find_names(visible(above))
    )
    first = table.names[0] if table.names else []
    if (
        first and len(header) > 1 and not any(table.names[1:])
    ):  # "| recall_any@10 | before | after |": of every column
        table = replace(table, names=[[] for _ in header], above=first)
    rows = enumerate(block.lines[2:], start=block.first + 2)
    return _in_one_unit([f for number, line in rows for f in _row(table, number, line, _cells(line))])


def aligned(block: Block, above: str) -> list[Figure]:
    """Figures of a table that is set by spaces within a block of text; none where it holds no such table."""
    lines = [(number, line, _columns(line)) for number, line in enumerate(block.lines, start=block.first)]
    heads = [
        place for place, (_, _, cells) in enumerate(lines) if sum(bool(find_names(c.text)) for c in cells) > 1
    ]
    if not heads:
        return _named_once(block, lines)
    if len(heads) != 1:
        return []
    _, line, header = lines[heads[0]]
    width = max((len(cells) for _, _, cells in lines[heads[0] + 1 :]), default=0)
    if width == len(header) + 1 or (line[:1] == " " and width > len(header)):
        header = [Cell(0, ""), *header]
    names = [find_names(visible(cell.text)) for cell in header]
    table = Table(block, header, names, find_names(visible(above)))
    rows = [row for row in lines[heads[0] + 1 :] if len(row[2]) == len(header)]
    return _in_one_unit([f for number, text, cells in rows for f in _row(table, number, text, cells)])


def _named_once(block: Block, lines: list[tuple[int, str, list[Cell]]]) -> list[Figure]:
    """Rows of a name and a value below a line that names their metric: "recall_any@5" over "bm25  0.94"."""
    named = [
        (place, names) for place, (_, line, _) in enumerate(lines) if (names := find_names(visible(line)))
    ]
    if len(named) != 1 or len(named[0][1]) != 1 or find_numbers(visible(lines[named[0][0]][1])):
        return []
    table = Table(block, [Cell(0, ""), Cell(0, "value")], [[], []], named[0][1])
    rows = [row for row in lines[named[0][0] + 1 :] if len(row[2]) == 2]
    return _in_one_unit([f for number, text, cells in rows for f in _row(table, number, text, cells)])


def _columns(line: str) -> list[Cell]:
    return [Cell(match.start(), match[0]) for match in re.finditer(r"\S+(?:\s\S+)*", line)]


def _row(table: Table, number: int, line: str, cells: list[Cell]) -> list[Figure]:
    cells = cells[:WIDEST]
    depth = _depth_of(table, cells)
    own = [] if any(table.names) or not cells else find_names(visible(cells[0].text))
    figures: list[Figure] = []
    for column, cell in enumerate(cells):
        title = table.title(column)
        names = table.names[column] if column < len(table.names) else []
        if not names and own and column and not OTHER.fullmatch(title):
            names = own
        if not names and not own and column:
            names = _from_above(cell, title, table.above, any(table.names))
        if (BAND.search(visible(title)) and not names) or (names is own and BAND.search(visible(title))):
            figures = _with_interval(figures, visible(cell.text))
            continue
        figures += _of_cell(table, number, line, cells, column, [_at(name, depth) for name in names])
    return figures


def _depth_of(table: Table, cells: list[Cell]) -> int | None:
    """The cutoff of a row, where the table has a column for it."""
    column = next((i for i, cell in enumerate(table.header) if DEPTHS.fullmatch(visible(cell.text))), None)
    if column is None or column >= len(cells):
        return None
    match = re.fullmatch(r"\W*(\d{1,2})\W*", visible(cells[column].text))
    return int(match[1]) if match else None


def _at(name: Name, depth: int | None) -> Name:
    return replace(name, k=depth) if name.k is None and name.family == "recall" else name


def _in_one_unit(figures: list[Figure]) -> list[Figure]:
    """0.6 is a percentage where the same metric is 72.3 elsewhere in the table."""
    percent = {figure.name.words for figure in figures if figure.number.bare}
    return [
        replace(figure, number=replace(figure.number, percent=True))
        if figure.name.words in percent
        else figure
        for figure in figures
    ]


def _with_interval(figures: list[Figure], text: str) -> list[Figure]:
    """The row's last figure with the interval that stands in a column of its own."""
    inner = text.strip()
    read = find_numbers(f"1.0 {inner}" if inner[:1] in "[(" else f"1.0 [{inner}]")
    if not figures or not read or read[0].interval is None:
        return figures
    last = figures[-1]
    return [*figures[:-1], replace(last, number=replace(last.number, interval=read[0].interval))]


def _of_cell(
    table: Table, line: int, text: str, cells: list[Cell], column: int, names: list[Name]
) -> Iterator[Figure]:
    if not names:
        return
    cell, title = cells[column], table.title(column)
    words = visible(cell.text)
    numbers = find_numbers(words, cell=ALONE.fullmatch(words) is not None)
    if DIFFERENCE.search(visible(title)):
        numbers = [replace(number, change=True, bound="") for number in numbers]
    if len(numbers) > len(names) and DIFFERENCE.search(visible(title)):
        return
    said = Sentence(_said(table, cells, column), tuple(numbers))
    for meant, number in _bound(words, names, numbers):
        yield Figure(
            line, cell.start + number.start + 1, meant, number, table.block, text, said, f"{title} {text}"
        )


def _bound(words: str, names: list[Name], numbers: list[Number]) -> list[tuple[tuple[Name, ...], Number]]:
    """Which number of a cell is of which metric: one that it names, else the column's."""
    inner = find_names(words)
    if inner:
        places = bind(words, inner, numbers)
        return [
            (tuple(inner[max(p, 0)] for p in place if p != DEFAULT or len(place) == 1), n)
            for place, n in zip(places, numbers, strict=True)
        ]
    if len(names) > 1 and len(numbers) % len(names) == 0:
        return [((names[place % len(names)],), number) for place, number in enumerate(numbers)]
    return [((names[0],), number) for number in numbers]


def _said(table: Table, cells: list[Cell], column: int) -> str:
    """What a cell's figure is of: its own words, its column's title, the words of its row, and n."""
    own = [visible(cells[column].text), visible(table.title(column))]
    rest = [
        f"n = {visible(cell.text).strip()}" if COUNT.fullmatch(visible(table.title(place))) else _wordy(cell)
        for place, cell in enumerate(cells)
        if place != column and (place == 0 or not (place < len(table.names) and table.names[place]))
    ]
    corner = visible(table.title(0)) if column else ""  # "| BEAM, pointed | MRR@50 |" heads all of it
    return " | ".join([*own, *rest, corner])


def _wordy(cell: Cell) -> str:
    """A cell's words, nothing for one that holds numbers alone."""
    text = visible(cell.text)
    return text if re.search(r"[A-Za-z]", text) or re.search(r"\d\.\d+\.\d", text) else ""


def _from_above(cell: Cell, title: str, named: list[Name], elsewhere: bool) -> list[Name]:
    """The names of the sentence above, where the cell has one value for each, or the column is of values."""
    distinct = list(
        {name.words: name for name in named if name.k or name.kind or name.family != "recall"}.values()
    )
    parts = APART.split(cell.text)
    if len(distinct) > 1 and not elsewhere and len(parts) == len(distinct) and all(map(find_numbers, parts)):
        return distinct
    if len(distinct) == 1 and not elsewhere and not MEASURED.search(visible(title)):
        return distinct
    return []


def _cells(line: str) -> list[Cell]:
    cells = [Cell(match.start(), match[0]) for match in CELL.finditer(line)]
    stripped = line.strip()
    if stripped.startswith("|") and cells and not cells[0].text.strip() and cells[0].start < line.index("|"):
        cells = cells[1:]
    if stripped.endswith("|") and cells and not cells[-1].text.strip():
        cells = cells[:-1]
    return cells
