"""Markdown tables whose columns stand under one another, so that the raw file reads well in a terminal."""

from __future__ import annotations

from collections.abc import Sequence

LEFT, RIGHT = "l", "r"


def table(headers: Sequence[str], rows: Sequence[Sequence[str]], align: str = "") -> str:
    """A table; `align` holds `l` or `r` for each column (default: the first to the left, numbers after it).

    Empty rows give a table of headers only.
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
