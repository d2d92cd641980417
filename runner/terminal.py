"""The terminal that tables are printed on."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table


def console(width: int) -> Console:
    """Standard output, `width` columns wide where it is no terminal."""
    out = Console(highlight=False, soft_wrap=False)
    return out if out.is_terminal else Console(highlight=False, width=width)


def grid(title: str) -> Table:
    """A table without columns yet: a line below its head, no frame."""
    return Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
