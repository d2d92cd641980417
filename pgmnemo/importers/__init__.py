"""Importers: readers of other programs' memories, which yield lessons.

Each reader has a module and an entry in IMPORTERS.

A reader yields lessons one by one and has at most one line of a file in memory, or one entry of a list. Keys
come from the source, so a second import finds every lesson. Times without a zone are taken as UTC. Hidden
files and folders are left out, and symbolic links are not followed. A character that PostgreSQL does not
store (NUL, half a surrogate pair) becomes U+FFFD.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol
from uuid import UUID

from pgmnemo import escaping
from pgmnemo.client.records import Item
from pgmnemo.errors import UsageError
from pgmnemo.registry import Parts

NAMED = 20  # sentences that are kept for each reason
WAY_ON = "; skip_faults (--skip-faults) leaves out what is damaged"
UNKNOWN = "not recognised"  # the reason to leave out an entry of another format


@dataclass(frozen=True, slots=True)
class ImportedLesson:
    """A lesson, its project in the source (None: no project), and its place there, for messages."""

    project: str | UUID | None
    item: Item
    where: str


@dataclass(slots=True)
class LeftOut:
    """The number of entries left out for each reason, and a sentence about the first entries of each reason.

    `counts` is of messages, memories, items, sections and lines; together with the outcomes it is the number
    of entries read. `beside` is of other files, and of attachments and times of lessons that are stored.
    """

    counts: Counter[str] = field(default_factory=Counter)
    beside: Counter[str] = field(default_factory=Counter)
    named: list[str] = field(default_factory=list)

    def add(self, reason: str, sentence: str) -> None:
        """Count an entry that becomes no lesson, and describe it if it is among the first of its reason."""
        self._name(self.counts, reason, sentence)

    def aside(self, reason: str, sentence: str) -> None:
        """Count a file that is not read, or a part of a lesson, and describe it if it is among the first."""
        self._name(self.beside, reason, sentence)

    def _name(self, counted: Counter[str], reason: str, sentence: str) -> None:
        counted[reason] += 1
        if counted[reason] <= NAMED:
            self.named.append(escaping.escape_sentence(sentence))


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """The options of an import, and the entries that it left out.

    Args:
        skip_faults: leave out what is damaged, and go on
        dated: take the date in a Markdown file's front matter as the time of its lessons
        whole: make one lesson of a Markdown file, not one of each section
        tools: store the output of a coding agent's tools, too, as lessons of the role `tool`
        keep_secrets: leave keys, tokens and passwords in the texts
        first: read so many files, and so many lines or entries of each, to look at a place
        left: what was left out, added to while reading
    """

    skip_faults: bool = False
    dated: bool = False
    whole: bool = False
    tools: bool = False
    keep_secrets: bool = False
    first: int | None = None
    left: LeftOut = field(default_factory=LeftOut)

    def fault(self, sentence: str) -> None:
        """Raise UsageError for a damaged entry, or count it as left out."""
        if not self.skip_faults:
            raise UsageError(escaping.escape_sentence(f"{sentence.removesuffix(WAY_ON)}{WAY_ON}"))
        self.left.add("damaged", sentence)


class ImportReader(Protocol):
    """A reader of the lessons in a file or folder; raises UsageError for damaged input.

    Its docstring is the format's help.
    """

    def __call__(self, place: Path | str, *, options: ImportOptions) -> Iterator[ImportedLesson]: ...


IMPORTERS: Parts[ImportReader] = Parts(
    "format to import",
    {
        "jsonl": "pgmnemo.importers.jsonl:read",
        "claude-code": "pgmnemo.importers.claude_code:read",
        "codex": "pgmnemo.importers.codex:read",
        "chatgpt": "pgmnemo.importers.chatgpt:read",
        "claude": "pgmnemo.importers.claude:read",
        "mem0": "pgmnemo.importers.mem0:read",
        "mempalace": "pgmnemo.importers.mempalace:read",
        "langgraph": "pgmnemo.importers.langgraph:read",
        "hindsight": "pgmnemo.importers.hindsight:read",
        "markdown": "pgmnemo.importers.markdown:read",
    },
)
TABLES = {"langgraph": "store", "hindsight": "memory_units"}
"""The formats that are read from a database, and the table that shows each."""
