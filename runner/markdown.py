"""Markdown tables, the form of every table for people, and their layout on a terminal.

The columns of a table are aligned in the text itself, so that a file, a pipe and a log are readable.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rich.console import RenderableType
from rich.text import Text

from pgmnemo.escaping import escape_control_chars
from pgmnemo.terminal import SafeConsole, grid, say

LEFT, RIGHT = "l", "r"
BAR = re.compile(r"(?<!\\)\|")  # between two cells
TABLE = re.compile(r"^\|.*\|\n\|[-:|]+\|(\n\|.*\|)*$", re.MULTILINE)


def table(headers: Sequence[str], rows: Sequence[Sequence[str]], align: str = "") -> str:
    """Return a Markdown table of these headers and rows.

    `align` holds `l` or `r` for each column; empty: the first column left, the others right. Empty `rows`
    give a table of headers only.
    """
    align = align or LEFT + RIGHT * (len(headers) - 1)
    cells = [[_cell(text) for text in row] for row in (headers, *rows)]
    widths = [max(3, *(len(row[column]) for row in cells)) for column in range(len(headers))]
    sides = zip(widths, align, strict=True)
    rule = ("-" * (width + 1) + ":" if side == RIGHT else "-" * (width + 2) for width, side in sides)
    lines = [_line(row, widths, align) for row in cells]
    return "\n".join([lines[0], "|" + "|".join(rule) + "|", *lines[1:]])


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _line(cells: Sequence[str], widths: Sequence[int], align: str) -> str:
    padded = (
        text.rjust(width) if side == RIGHT else text.ljust(width)
        for text, width, side in zip(cells, widths, align, strict=True)
    )
    return "| " + " | ".join(padded) + " |"


def print_markdown(text: str) -> None:
    """Print a Markdown text: unchanged into a file or a pipe, laid out by rich on a terminal."""
    out = SafeConsole()
    if not out.is_terminal:
        say(text.rstrip("\n"))
        return
    for block in escape_control_chars(text).strip("\n").split("\n\n"):
        out.print(_laid_out(block), "")


def _laid_out(block: str) -> RenderableType:
    """Return a block for rich: a table as a grid, so that a narrow terminal cuts no figure.

    Other text as Markdown.
    """
    from rich.markdown import Markdown  # not needed unless there is a terminal

    if not block.startswith("|"):
        return Markdown(block, hyperlinks=False)
    heads, rule, *rows = ([cell.strip() for cell in BAR.split(line)[1:-1]] for line in block.splitlines())
    laid_out = grid("")
    for head, mark in zip(heads, rule, strict=True):
        laid_out.add_column(Text(head), justify="right" if mark.endswith(":") else "left", overflow="fold")
    for row in rows:
        laid_out.add_row(*(Text(cell.strip("`").replace("\\|", "|")) for cell in row))
    return laid_out


def align_tables(text: str) -> str:
    """Return Markdown with the columns of each of its tables aligned, as `table` writes them."""
    return TABLE.sub(lambda found: _aligned(found[0].splitlines()), text)


def _aligned(lines: Sequence[str]) -> str:
    heads, rule, *rows = ([cell.strip() for cell in BAR.split(line)[1:-1]] for line in lines)
    bare = [[cell.replace("\\|", "|") for cell in row] for row in (heads, *rows)]
    return table(bare[0], bare[1:], "".join(RIGHT if cell.endswith(":") else LEFT for cell in rule))
