"""Codex's transcripts, `~/.codex/sessions/**/rollout-*.jsonl`: a lesson for each message.

The reader takes the messages of user and assistant as the model saw them (`response_item`), also in the older
form without `payload`. It leaves out tool calls and their results, reasoning, and the program's own text in
user messages. The project is the folder in which the agent worked; messages have no ids, so a message's key
is the session, the hash of its text and its number among messages with that text. Written from published
shapes and notes, without a real file.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pgmnemo.importers import ImportedLesson, ImportOptions
from pgmnemo.importers.lessons import Conversation, count_other_line, inner, message_text
from pgmnemo.importers.sources import LINES, objects, sources

ROLES = ("user", "assistant")
SIGNS = {"payload", "record_type", "call_id", "encrypted_content", "instructions"}  # in lines without a role
INJECTED = (
    "<environment_context>", "<user_instructions>", "# AGENTS.md instructions", "<permissions instructions>",
    "<INSTRUCTIONS>", "<turn_aborted>", "<user_shell_command>", "<skill>", "<subagent_notification>",
    "<recommended_plugins>",
)  # fmt: skip


def read(place: Path | str, *, options: ImportOptions) -> Iterator[ImportedLesson]:
    """Transcripts of Codex, a lesson a message (by published shapes: no real file was at hand)."""
    for source in sources(place, LINES, options):
        talk, session = Conversation("codex", options), dict[str, Any]()
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
            else:
                count_other_line(options, where, known, "codex")
