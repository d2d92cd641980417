"""Figures in tables: the metric stands in the header, in the row, or in the sentence above."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from runner.lint.blocks import Block
from runner.lint.figures import Figure, bind, visible
from runner.lint.names import Name, find_names
from runner.lint.numbers import find_numbers

CELL = re.compile(r"(?:[^|\\]|\\.)+")
ALONE = re.compile(r"[\s(]*\d{1,3}[\s%†)]*(?:\[[^\]]*\])?\s*")
OTHER = re.compile(
    r"\s*(?:[knN]|questions?|depths?|cutoffs?|ranks?|counts?|ranges?|weights?|setting|default)\W*"
)
VALUE = re.compile(
    r"\b(?:value|result|results|score|figure|locomo|longmemeval|ours|pgmnemo|hybrid|bm25|cosine|random|"
    r"v\d+\.\d+\.\d+|before|after|baseline)\b|%",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Cell:
    start: int  # offset in its line
    text: str


def tabular(block: Block, above: str) -> list[Figure]:
    """Figures of a table; `above` is the text in front of it, which may name the metric of every value."""
    header, rows = _cells(block.lines[0]), block.lines[2:]
    headers = [find_names(visible(cell.text)) for cell in header]
    named = find_names(visible(above))
    figures: list[Figure] = []
    for number, line in enumerate(rows, start=block.first + 2):
        cells = _cells(line)
        own = [] if any(headers) or not cells else find_names(visible(cells[0].text))
        for column, cell in enumerate(cells):
            title = header[column].text if column < len(header) else ""
            names = headers[column] if column < len(headers) else []
            if not names and own and column and not OTHER.fullmatch(title):
                names = own
            if not names and not own and column:
                names = _from_above(cell, title, named, any(headers))
            figures += _of_cell(block, number, line, cell, title, names)
    return _in_one_unit(figures)


def _in_one_unit(figures: list[Figure]) -> list[Figure]:
    """0.6 is a percentage where the same metric is 72.3 elsewhere in the table."""
    percent = {figure.name.words for figure in figures if figure.number.bare}
    return [
        replace(figure, number=replace(figure.number, percent=True))
        if figure.name.words in percent
        else figure
        for figure in figures
    ]


def _of_cell(block: Block, line: int, text: str, cell: Cell, title: str, names: list[Name]) -> list[Figure]:
    if not names:
        return []
    words = visible(cell.text)
    inner = find_names(words)
    numbers = find_numbers(words, cell=ALONE.fullmatch(words) is not None)
    pairs = bind(words, inner, numbers) if inner else []
    if not inner and len(names) > 1 and len(numbers) % len(names) == 0:
        pairs = [(names[place % len(names)], number) for place, number in enumerate(numbers)]
    elif not inner:
        pairs = [(names[0], number) for number in numbers]
    return [
        Figure(
            line,
            cell.start + n.start + 1,
            name,
            n,
            block,
            text,
            text[: cell.start + n.start],
            f"{title} {text}",
        )
        for name, n in pairs
    ]


def _from_above(cell: Cell, title: str, named: list[Name], elsewhere: bool) -> list[Name]:
    """The names of the sentence above, where the cell has one value for each, or the column is of values."""
    distinct = list({name.words: name for name in named}.values())
    slashes = len(re.findall(r"\s/\s", cell.text)) + 1
    if len(distinct) > 1 and slashes == len(distinct):
        return distinct
    if len(distinct) == 1 and not elsewhere and VALUE.search(title):
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
