"""What a user sees while a run works: rich bars on a terminal, plain lines elsewhere, nothing when quiet."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sized
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bars

T = TypeVar("T")


class Progress:
    """Says lines and tracks loops, on standard error, so that standard output stays for results."""

    def __init__(self, quiet: bool = False, console: Console | None = None) -> None:
        self.quiet = quiet
        self.console = console or Console(stderr=True, highlight=False, soft_wrap=True)

    def say(self, text: str) -> None:
        """One line, unless quiet."""
        if not self.quiet:
            self.console.print(text, markup=False)

    def track(self, items: Iterable[T], label: str, total: int | None = None) -> Iterator[T]:
        """Yield `items`; a bar on a terminal, the label and the count at the end elsewhere."""
        if self.quiet:
            yield from items
        elif self.console.is_terminal and sys.stderr.isatty():
            yield from self._bar(items, label, total)
        else:
            yield from self._lines(items, label)

    def _bar(self, items: Iterable[T], label: str, total: int | None) -> Iterator[T]:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Bars(*columns, console=self.console, transient=True) as bars:
            size = total if total is not None else (len(items) if isinstance(items, Sized) else None)
            task = bars.add_task(label, total=size)
            for item in items:
                yield item
                bars.advance(task)

    def _lines(self, items: Iterable[T], label: str) -> Iterator[T]:
        count = 0
        for item in items:
            yield item
            count += 1
        self.say(f"{label}: {count:,} done")


QUIET = Progress(quiet=True)
