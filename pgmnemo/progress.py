"""The progress of a run: rich bars on a terminal, plain lines elsewhere, nothing when quiet."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sized
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:  # importing it takes a tenth of a second
    from rich.console import Console
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

T = TypeVar("T")
RECENT = 120.0  # seconds over which a bar's speed is averaged
EVERY = 30.0  # seconds between two lines of a loop without a terminal


def format_duration(seconds: float) -> str:
    """Return a duration as text: `119 s`, `2 min`."""
    return f"{seconds:,.0f} s" if seconds < 120 else f"{seconds / 60:,.0f} min"


def expected_duration(seconds: float) -> str:
    """Return a sentence about an expected time, which was just measured."""
    about = format_duration(seconds)
    return f"about {about} at the speed of this moment; other work on the machine makes it longer"


class Progress:
    """Prints messages and tracks loops on standard error, so that standard output contains only results."""

    def __init__(self, quiet: bool = False, console: Console | None = None) -> None:
        self.quiet = quiet
        self._whole: _Total | None = None
        if console is not None:
            self.console = console

    @cached_property
    def console(self) -> Console:
        """Return a console on standard error, unless another was given."""
        from pgmnemo.terminal import SafeConsole

        return SafeConsole(stderr=True, soft_wrap=True)

    def say(self, text: str) -> None:
        """Print a line, unless quiet."""
        if not self.quiet:
            self.console.print(text, markup=False)

    @contextmanager
    def total(self, label: str, total: int) -> Iterator[None]:
        """Show the loops in the block, which have `total` items together, as one bar or as a share in each
        line.
        """
        self._whole = _Total(total)
        try:
            if self.quiet or not self._draws_bars:
                yield
                return
            with self._bars() as bars:
                self._whole.show(bars, label)
                yield
        finally:
            self._whole = None

    def track(
        self, items: Iterable[T], label: str, total: int | None = None, *, part: bool = False
    ) -> Iterator[T]:
        """Yield `items` with a bar on a terminal; elsewhere print the label and the count from time to time.

        With `part`, each item also counts for the bar of `total`.
        """
        whole = self._whole if part else None
        if total is None and isinstance(items, Sized):
            total = len(items)
        if self.quiet:
            yield from items
        elif not self._draws_bars:
            yield from self._lines(items, label, total, whole)
        elif self._whole is not None and self._whole.bars is not None:
            yield from _with_bar(items, label, total, self._whole.bars, whole)
        else:
            with self._bars() as bars:
                yield from _with_bar(items, label, total, bars, whole)

    def pass_over(self, items: int) -> None:
        """Advance the bar of `total` by items that are already done."""
        if self._whole is not None:
            self._whole.advance(items)

    @property
    def _draws_bars(self) -> bool:
        return self.console.is_terminal and sys.stderr.isatty()

    def _bars(self) -> Bars:
        from rich import progress as rich

        columns = (
            rich.TextColumn("{task.description}", markup=False), rich.BarColumn(), rich.MofNCompleteColumn(),
            rich.TimeElapsedColumn(), rich.TextColumn("left"), rich.TimeRemainingColumn(),
        )  # fmt: skip
        return rich.Progress(*columns, console=self.console, transient=True, speed_estimate_period=RECENT)

    def _lines(self, items: Iterable[T], label: str, total: int | None, whole: _Total | None) -> Iterator[T]:
        count, of = 0, f" of {total:,}" if total is not None else ""
        began = said = time.monotonic()
        for item in items:
            yield item
            count += 1
            if whole is not None:
                whole.advance()
            if (now := time.monotonic()) - said >= EVERY and count != total:
                self.say(f"{label}: {count:,}{of} after {format_duration(now - began)}{_share_text(whole)}")
                said = now
        self.say(f"{label}: {count:,} done{_share_text(whole)}")


class _Total:
    """The progress of several loops together."""

    def __init__(self, total: int) -> None:
        self.bars: Bars | None = None
        self._task: TaskID | None = None
        self._total, self._done, self._began = total, 0, time.perf_counter()

    def show(self, bars: Bars, label: str) -> None:
        self.bars, self._task = bars, bars.add_task(label, total=self._total)

    def advance(self, items: int = 1) -> None:
        self._done += items
        if self.bars is not None and self._task is not None:
            self.bars.advance(self._task, items)

    def __str__(self) -> str:
        seconds = time.perf_counter() - self._began
        return f"{self._done / max(1, self._total):.0%} of all after {seconds:,.0f} s"


def _share_text(whole: _Total | None) -> str:
    return f"; {whole}" if whole is not None else ""


def _with_bar(
    items: Iterable[T], label: str, total: int | None, bars: Bars, whole: _Total | None
) -> Iterator[T]:
    task = bars.add_task(label, total=total)
    try:
        for item in items:
            yield item
            bars.advance(task)
            if whole is not None:
                whole.advance()
    finally:
        bars.remove_task(task)


QUIET = Progress(quiet=True)
