"""What a system says, as part of a sentence of ours: one line, short, without control characters."""

from __future__ import annotations


def said(text: str, most: int) -> str:
    """At most `most` characters of the text in one line; what no terminal should be sent is escaped."""
    line = plain(" ".join(text.split()))
    return line if len(line) <= most else f"{line[: most - 1]}…"


def plain(text: str) -> str:
    r"""The text with control characters and marks of direction as escapes such as `\x1b`."""
    return "".join(one if one.isprintable() else repr(one)[1:-1] for one in text)
