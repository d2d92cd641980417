"""Answers of the library on standard output: as JSON, or as lines for people."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Mapping
from datetime import datetime
from textwrap import wrap
from typing import Any

from pgmnemo.client.records import to_builtins
from pgmnemo.escaping import escape_control_chars
from pgmnemo.terminal import say

DISTRIBUTION = "pgmnemo-memory"
LEAST = 20  # columns of a text that is worth its line


def print_answer(json: bool, answer: Any, *lines: str) -> None:
    """Print an answer: one line of JSON if `json`, else the given lines."""
    say(document(answer)) if json else say(*lines)


def print_note(quiet: bool, text: str) -> None:
    """Print a text on standard error, unless `quiet`."""
    if not quiet:
        say(text, error=True)


def document(answer: Any) -> str:
    """Return records as JSON; times are ISO 8601."""
    import msgspec

    return msgspec.json.encode(to_builtins(answer)).decode()


def one_line(text: str, before: int = 0) -> str:
    """Return a text on one line, cut to the width of a terminal after the first `before` columns."""
    from rich.cells import cell_len, set_cell_size

    told = escape_control_chars(" ".join(text.split()))
    columns = width() - before
    if not terminal() or cell_len(told) <= columns:
        return told
    return set_cell_size(told, max(columns, LEAST) - 1).rstrip() + "…"


def width() -> int:
    """Return the columns of the terminal."""
    return shutil.get_terminal_size().columns


def terminal() -> bool:
    """Return whether standard output is a terminal."""
    return sys.stdout.isatty()


def indent(text: str, by: int = 4) -> str:
    """Return a text with every line indented by `by` columns."""
    return "\n".join(" " * by + line for line in text.splitlines())


def wrap_sentence(text: str, by: int = 4) -> str:
    """Return a sentence indented by `by` columns, and on a terminal wrapped to its width."""
    lines = (
        wrap(escape_control_chars(text), max(width() - by, LEAST), break_on_hyphens=False)
        if terminal()
        else [text]
    )
    return "\n".join(" " * by + line for line in lines)


def day(at: datetime | None) -> str:
    """Return the date of a time in its own zone; ten blanks for None."""
    return f"{at:%Y-%m-%d}" if at else " " * 10


def span(start: datetime | None, end: datetime | None) -> str:
    """Return a period as text, `2026-05-01 to now`."""
    return f"{day(start)} to {day(end) if end else 'now':<10}"


def join_parts(parts: Iterable[str | None]) -> str:
    """Return the non-empty parts of a line, separated by dots."""
    return " · ".join(part for part in parts if part)


def lessons(number: int, what: str = "lesson") -> str:
    """Return a number with its noun, such as `1 lesson` or `2,000 pairs`."""
    return f"{number:,} {what}" + "s" * (number != 1)


def outcomes(counted: Mapping[str, int]) -> str:
    """Return the number of lessons with each outcome, such as `2 added, 1 updated`; else `nothing`."""
    return ", ".join(f"{number:,} {outcome}" for outcome, number in counted.items() if number) or "nothing"


def version() -> str:
    """Return the installed distribution and its version."""
    from importlib import metadata

    return f"{DISTRIBUTION} {metadata.version(DISTRIBUTION)}"
