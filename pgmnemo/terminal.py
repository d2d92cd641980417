"""Print sentences and tables on a terminal; characters that would control it are escaped."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table

from pgmnemo.escaping import escape_control_chars


def say(*texts: object, error: bool = False, end: str = "\n") -> None:
    """Print each text on its own line, with control characters escaped; on standard error if `error`."""
    for text in texts:
        print(escape_control_chars(str(text)), end=end, file=sys.stderr if error else sys.stdout)


class SafeConsole(Console):
    """A console that sends only the terminal sequences of its own colours.

    Text is never read as markup: a name with `[/x]` in it is printed unchanged.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(highlight=False, markup=False, **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield the segments of a renderable, with every control character of a text escaped."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=escape_control_chars(segment.text))

    def on_broken_pipe(self) -> None:
        """Raise BrokenPipeError, so that the command ends with its own code; rich would exit with 1, a failed
        gate.
        """
        raise BrokenPipeError


def console(width: int | None = None) -> Console:
    """Return a console on standard output, `width` columns wide if it is not a terminal (None: COLUMNS)."""
    out = SafeConsole()
    return out if out.is_terminal or width is None else SafeConsole(width=width)


def grid(title: str) -> Table:
    """Return a table without columns yet: a line below its head, no frame."""
    return Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
