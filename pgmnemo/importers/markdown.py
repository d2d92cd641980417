"""A folder of Markdown and plain text: a lesson for each section of a Markdown file, one for a text file.

A section is a heading with its text up to the next heading of any level; a heading followed only by deeper
headings is not a section, and a heading without text below it is counted as empty. Its key is
`path#Heading/Subheading`, with `~2` appended to the second of equal names; its topic is the headings, its
text is as in the file. Text before the first heading has the path as key. Front matter is read line by line
as `name: value`, without other YAML syntax, and becomes metadata, as does the file's modification time; a
lesson has no time of its own, unless `dated` takes `date` from there.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO

from markdown_it import MarkdownIt

from pgmnemo.client.naming import nfc
from pgmnemo.importers import ImportedLesson, ImportOptions
from pgmnemo.importers.lessons import MOST, lesson, time_of
from pgmnemo.importers.sources import ImportFile, damage_as_fault, sources

NAMES = r"(?s).*\.(md|markdown|txt)"
FENCE = "---"  # the line above and below front matter
FIELD = re.compile(r"[A-Za-z][\w -]*")
LINE_END = re.compile(r"\r\n?")
BLOCKS = MarkdownIt("commonmark").disable("inline")


def read(place: Path | str, *, options: ImportOptions) -> Iterator[ImportedLesson]:
    """Read Markdown and plain text, a folder or a file; a lesson for each section of Markdown."""
    for source in sources(place, NAMES, options):
        if options.first is not None and not re.fullmatch(NAMES, source.name, re.IGNORECASE):
            continue  # when the format is detected, only names of notes count
        for text in damage_as_fault(source, partial(_text, options=options), options):
            yield from _lessons(source, text, options)


def _text(file: BinaryIO, where: str, options: ImportOptions) -> Iterator[str]:
    """Yield the text of a file, with normalized line ends; nothing for a file longer than any lesson."""
    if len(data := file.read(MOST + 1)) > MOST:
        options.left.add("too long", f"{where} has more than {MOST:,} bytes")
    else:
        yield LINE_END.sub("\n", data.decode("utf-8-sig"))


def _lessons(source: ImportFile, text: str, options: ImportOptions) -> Iterator[ImportedLesson]:
    front, body = _front(text)
    metadata: dict[str, Any] = {**front, "source": "markdown", "path": source.name}
    if source.path is not None:
        changed = source.path.stat().st_mtime
        metadata["modified"] = datetime.fromtimestamp(changed, UTC).isoformat(timespec="seconds")
    at = time_of(options, source.where, front.get("date")) if options.dated else None
    title, seen = front.get("title"), Counter[str]()
    if options.whole or source.name.lower().endswith(".txt"):
        pieces: Iterator[tuple[list[str], str]] = iter([([], body)])
    else:
        pieces = sections(body)
    for headings, piece in pieces:
        if not piece.strip():
            options.left.add(
                "empty", f"{source.where}{''.join(f', {one}' for one in headings[-1:])} has no text"
            )
            continue
        name = nfc("/".join(headings))
        seen[name] += 1
        key = source.name + (f"#{name}" if name else "") + (f"~{seen[name]}" if seen[name] > 1 else "")
        topic = " > ".join(headings) or title
        yield from lesson(options, source.where, key, piece, topic=topic, metadata=metadata, at=at)


def sections(text: str) -> Iterator[tuple[list[str], str]]:
    """Yield each section: the headings that lead to it, and its text, empty if no word is below its
    heading.
    """
    lines, tokens = text.split("\n"), BLOCKS.parse(text)
    headings: list[tuple[int, str]] = []
    begun = below = 0
    for token, inner in pairwise(tokens):
        if token.type == "heading_open" and token.level == 0 and token.map:
            level = int(token.tag[1])
            leads = level > (headings[-1][0] if headings else 0)
            yield from _section(headings, lines, begun, below, token.map[0], leads)
            begun, below = token.map
            headings = [one for one in headings if one[0] < level] + [(level, inner.content.strip())]
    yield from _section(headings, lines, begun, below, len(lines), False)


def _section(
    headings: list[tuple[int, str]], lines: list[str], begun: int, below: int, end: int, leads: bool
) -> Iterator[tuple[list[str], str]]:
    """Yield the section, unless it has no text and its heading leads to a deeper heading."""
    held = bool("".join(lines[below:end]).strip())
    if held or not leads:
        yield [name for _, name in headings], "\n".join(lines[begun:end]).strip() if held else ""


def _front(text: str) -> tuple[dict[str, str], str]:
    """Return the fields of the front matter, and the text without it."""
    lines = text.split("\n")
    ends = (number for number, line in enumerate(lines[1:], start=1) if line.rstrip(" \t") == FENCE)
    if lines[0].rstrip(" \t") != FENCE or not (end := next(ends, 0)):
        return {}, text
    pairs = (line.partition(":") for line in lines[1:end])
    fields = {name: value.strip(" \t").strip("\"'") for name, _, value in pairs if FIELD.fullmatch(name)}
    return {name: value for name, value in fields.items() if value}, "\n".join(lines[end + 1 :])
