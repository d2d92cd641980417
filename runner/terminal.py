"""The terminal that tables are printed on."""

from __future__ import annotations

from rich.console import Console


def console(width: int) -> Console:
    """Standard output, `width` columns wide where it is no terminal."""
    out = Console(highlight=False, soft_wrap=False)
    return out if out.is_terminal else Console(highlight=False, width=width)
