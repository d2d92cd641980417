"""Claude's data export: `conversations.json`, or its .zip; a lesson for each message.

A message's text is its text blocks, or `text` without blocks; attachments are left out. The conversation's
name is the topic, the key `conversation/message`. Written from published shapes and other parsers, without a
real file.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pgmnemo.importers import ImportedLesson, ImportOptions
from pgmnemo.importers.lessons import Conversation, attachments, count_other_line, message_text
from pgmnemo.importers.sources import MEND, all_objects

NAMES = r"conversations(-\d+)?\.json"
ROLES = {"human": "user", "assistant": "assistant"}


def read(place: Path | str, *, options: ImportOptions) -> Iterator[ImportedLesson]:
    """Read Claude's export: conversations.json or its .zip (by its published format)."""
    for where, talk in all_objects(place, NAMES, options):
        if not isinstance(talk.get("chat_messages"), list):
            options.fault(f"{where} is no conversation: it has no `chat_messages`; {MEND}")
            continue
        if not talk["chat_messages"]:
            options.left.add("empty", f"{where} has no messages")
        told, identity = Conversation("claude", options), talk.get("uuid")
        for number, message in enumerate(talk["chat_messages"], start=1):
            place = f"{where}, message {number}"
            if not isinstance(message, dict):
                options.fault(f"{place} is no object; {MEND}")
                continue
            attachments(options, place, message.get("attachments"), message.get("files"))
            if role := ROLES.get(str(message.get("sender"))):
                yield from told.message(
                    place, f"{identity}/{message.get('uuid') or number}",
                    message_text(message.get("content")) or message_text(message.get("text")), role,
                    message.get("created_at"), topic=talk.get("name"), conversation=identity,
                )  # fmt: skip
            else:
                count_other_line(options, place, True, "claude")
