"""Codex's transcripts, `~/.codex/sessions/**/rollout-*.jsonl`: a lesson for each message.

The reader takes the messages of user and assistant as the model saw them (`response_item`), also in the older
form without `payload`. It leaves out tool calls and, without the option `tools`, their results; reasoning,
and the program's own text in user messages. The project is the folder in which the agent worked; messages
have no ids, so a message's key is the session, the hash of its text and its number among messages with that
text. Written from published shapes and notes, without a real file.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from pgmnemo.importers import ImportedLesson, ImportOptions
from pgmnemo.importers.lessons import Conversation, count_other_line, inner, message_text
from pgmnemo.importers.sources import LINES, objects, sources
from pgmnemo.importers.tool_output import ToolCalls

ROLES = ("user", "assistant")
SIGNS = {"payload", "record_type", "call_id", "encrypted_content", "instructions"}  # in lines without a role
CALLS = ("function_call", "custom_tool_call")
OUTPUTS = ("function_call_output", "custom_tool_call_output")
INJECTED = (
    "<environment_context>", "<user_instructions>", "# AGENTS.md instructions", "<permissions instructions>",
    "<INSTRUCTIONS>", "<turn_aborted>", "<user_shell_command>", "<skill>", "<subagent_notification>",
    "<recommended_plugins>",
)  # fmt: skip


def read(place: Path | str, *, options: ImportOptions) -> Iterator[ImportedLesson]:
    """Read transcripts of Codex, a lesson for each message (by their published format)."""
    for source in sources(place, LINES, options):
        talk, session = Conversation("codex", options), dict[str, Any]()
        calls = ToolCalls("codex", options)
        for _, where, line in objects(source, options, lines=True):
            body = inner(line, "payload") or line
            known = line.get("type") == "message" or not SIGNS.isdisjoint(line)
            if not session and line.get("type") in (None, "session_meta"):
                session = body  # only the first, because a fork also contains its ancestors' sessions
                count_other_line(options, where, known, "codex")
            elif body.get("type") == "message" and body.get("role") in ROLES:
                identity, text = session.get("id") or source.name, message_text(body.get("content"), INJECTED)
                yield from talk.message(
                    where, f"{identity}/{talk.name(text)}", text, body["role"],
                    line.get("timestamp"), project=session.get("cwd"), conversation=identity,
                    branch=inner(session, "git").get("branch"),
                )  # fmt: skip
            elif options.tools and body.get("type") in CALLS:
                calls.call(body.get("call_id"), body.get("name"), _arguments(body))
            elif options.tools and body.get("type") in OUTPUTS:
                identity, id = session.get("id") or source.name, body.get("call_id")
                yield from calls.output(
                    where, f"{identity}/{id}", id, _decoded(body.get("output")), line.get("timestamp"),
                    project=session.get("cwd"), conversation=identity,
                )  # fmt: skip
            else:
                count_other_line(options, where, known, "codex")


def _arguments(body: dict[str, Any]) -> object:
    """Return the arguments of a call, which are JSON in a text, or a text of the tool's own."""
    return _decoded(body.get("arguments") or body.get("input"))


def _decoded(text: object) -> object:
    """Return the object of a text of JSON; anything else unchanged."""
    if isinstance(text, str) and text.startswith("{"):
        try:
            return msgspec.json.decode(text)
        except msgspec.DecodeError:
            return text
    return text
