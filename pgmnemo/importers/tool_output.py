"""Output of tools in transcripts of coding agents: lessons of the role `tool`, beside what people said.

Each lesson begins with the call (`Bash: make staging`), and a long output keeps its beginning and its end.
They have no position, so that no message is lifted by the output next to it, and `from_tool` in their
metadata lets a recall leave them out. Output of a memory's own tools is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pgmnemo.client.blank import is_blank
from pgmnemo.client.rendering import without_blocks
from pgmnemo.importers import ImportedLesson, ImportOptions
from pgmnemo.importers.lessons import lesson, message_text, time_of

ROLE, MARK = "tool", "from_tool"
MOST, END = 4_000, 1_000  # characters of an output, and of them at its end
SUBJECTS = ("command", "cmd", "file_path", "path", "pattern", "query", "url")  # what a call is about
LONGEST_CALL = 200  # characters
OWN = "mnemo"  # in the names of a memory's own tools


class ToolCalls:
    """The calls of a conversation by their ids, and the lessons of their outputs."""

    def __init__(self, source: str, options: ImportOptions) -> None:
        self._source, self._options = source, options
        self._calls: dict[str, tuple[str, str]] = {}

    def call(self, id: object, name: object, arguments: object) -> None:
        """Remember a call for the output that follows."""
        if isinstance(id, str) and isinstance(name, str):
            self._calls[id] = name, f"{name}: {_subject(arguments)}".rstrip(": ")[:LONGEST_CALL]

    def output(
        self, where: str, key: str, id: object, output: object, time: object, *, project: object = None,
        **metadata: Any,
    ) -> Iterator[ImportedLesson]:  # fmt: skip
        """Yield the lesson of an output, if it has a text and does not come from a memory."""
        name, call = self._calls.get(str(id), ("unknown", "unknown"))
        text = _shorten(without_blocks(_output_text(output)).strip())
        if OWN in name or is_blank(text):
            self._options.left.add("without text", f"{where} has no output of its own")
            return iter(())
        return lesson(
            self._options, where, f"{self._source}/{key}", f"{call}\n{text}", project=project, role=ROLE,
            at=time_of(self._options, where, time), metadata={"source": self._source, MARK: name, **metadata},
        )  # fmt: skip


def _subject(arguments: object) -> str:
    """Return a line that describes what a call is about."""
    found = arguments
    if isinstance(arguments, dict):
        found = next((arguments[name] for name in SUBJECTS if arguments.get(name)), "")
    if isinstance(found, list):
        found = " ".join(map(str, found))
    return " ".join(found.split()) if isinstance(found, str) else ""


def _output_text(output: object) -> str:
    """Return the text of an output: a text, an object with one, or a message's blocks."""
    if isinstance(output, dict):
        output = output.get("output") or output.get("content")
    return message_text(output)


def _shorten(text: str) -> str:
    return text if len(text) <= MOST else f"{text[: MOST - END]}\n…\n{text[-END:]}"
