"""Claude Code's transcripts, `~/.claude/projects/*/*.jsonl`: a lesson for each message of user and assistant.

The reader leaves out tool calls and, without the option `tools`, their results; thinking, subagents
(`isSidechain`), the program's own text (`isMeta`, summaries of compaction, echoes of commands) and lines of
other types. The project is the
folder in which the agent worked. A message's key is its uuid: a resumed session copies messages into a new
file, and each is one lesson. Written from published shapes and notes, without a real file.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pgmnemo.importers import ImportedLesson, ImportOptions
from pgmnemo.importers.lessons import Conversation, count_other_line, message_text
from pgmnemo.importers.sources import LINES, objects, sources
from pgmnemo.importers.tool_output import ToolCalls

ROLES = ("user", "assistant")
SIGNS = {"sessionId", "leafUuid", "messageId", "uuid"}  # each line of a transcript has one
OTHERS = ("isMeta", "isSidechain", "isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage")
INJECTED = (
    "<command-", "<local-command-", "<bash-", "<system-reminder>", "<task-notification>", "SessionStart:",
    "<user-prompt-submit-hook>", "[Request interrupted", "Caveat: The messages below were generated",
)  # fmt: skip


def read(place: Path | str, *, options: ImportOptions) -> Iterator[ImportedLesson]:
    """Read transcripts of Claude Code, a lesson for each message (by their published format)."""
    for source in sources(place, LINES, options):
        talk, calls = Conversation("claude-code", options), ToolCalls("claude-code", options)
        for _, where, line in objects(source, options, lines=True):
            message, session = line.get("message"), line.get("sessionId")
            if line.get("type") in ROLES and isinstance(message, dict) and not any(map(line.get, OTHERS)):
                text = message_text(message.get("content"), INJECTED)
                if options.tools and (found := [*_tool_outputs(calls, where, line)]):
                    yield from found
                    if not text:
                        continue
                yield from talk.message(
                    where, str(line.get("uuid") or f"{session}/{talk.name(text)}"), text, line["type"],
                    line.get("timestamp"), project=line.get("cwd"), conversation=session,
                    branch=line.get("gitBranch") or None, model=message.get("model"),
                )  # fmt: skip
            else:
                known = isinstance(line.get("type"), str) and not SIGNS.isdisjoint(line)
                count_other_line(options, where, known, "claude-code")


def _tool_outputs(calls: ToolCalls, where: str, line: dict[str, Any]) -> Iterator[ImportedLesson]:
    """Remember the calls of a line, and yield the lessons of its outputs."""
    content = line["message"].get("content")
    for block in content if isinstance(content, list) else ():
        kind = block.get("type") if isinstance(block, dict) else None
        if kind == "tool_use":
            calls.call(block.get("id"), block.get("name"), block.get("input"))
        elif kind == "tool_result":
            id = block.get("tool_use_id")
            yield from calls.output(
                where, f"{id}", id, block.get("content"), line.get("timestamp"),
                project=line.get("cwd"), conversation=line.get("sessionId"),
            )  # fmt: skip
