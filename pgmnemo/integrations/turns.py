"""What was said in one event of an agent whose transcripts are not read: Gemini CLI, opencode and Cursor.

Gemini's AfterAgent has `prompt` and `prompt_response`; Cursor's beforeSubmitPrompt has `prompt`, and its
afterAgentResponse `text`, as have the events of the plugin for opencode.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from pgmnemo.client.blank import is_blank
from pgmnemo.client.records import Item
from pgmnemo.client.rendering import without_blocks
from pgmnemo.errors import UsageError
from pgmnemo.importers.lessons import clean, moment

AGENTS = ("gemini", "opencode", "cursor")


def items_of_event(agent: str, event: Mapping[str, Any]) -> dict[str, Item]:
    """Return a lesson for each message of an event, by its key; raise UsageError if it has none."""
    at = moment(event.get("timestamp")) or datetime.now(UTC)
    session = str(event.get("session_id") or event.get("conversation_id") or "unknown")[:100]
    turn = str(event.get("generation_id") or f"{at:%Y%m%d%H%M%S}")[:100]
    items = {}
    for role, text in _messages(event):
        mark = sha256(text.encode()).hexdigest()[:16]
        key = f"{agent}/{clean(session)}/{clean(turn)}/{mark}"
        items[key] = Item(text, key, role, at=at, metadata={"source": agent, "conversation": clean(session)})
    if not items:
        raise UsageError("the event has neither prompt nor prompt_response nor text; nothing was saved")
    return items


def _messages(event: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield role and text of each message, without recalled blocks and commands of the agent."""
    for name, role in (("prompt", "user"), ("prompt_response", "assistant"), ("text", "assistant")):
        text = event.get(name)
        if isinstance(text, str) and not is_blank(text := clean(without_blocks(text)).strip()):
            yield role, text
