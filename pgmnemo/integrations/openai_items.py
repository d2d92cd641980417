"""Items of a session of the OpenAI Agents SDK as lessons. This module imports no framework."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from pgmnemo.client.blank import is_blank
from pgmnemo.client.records import Item, Lesson
from pgmnemo.errors import UsageError
from pgmnemo.integrations.documents import BLANK
from pgmnemo.integrations.scopes import spoken_text

ITEM, SILENT = "pgmnemo:item", "pgmnemo:silent"  # metadata: an item's JSON; the mark of an item to forget
LONGEST_ITEM = 900_000  # characters of an item's JSON; the extension takes 1,000,000 bytes of metadata
SPEAKERS = ("user", "assistant")


def lesson_of(item: Any, key: str, mark: str, *, metadata: Mapping[str, Any], **given: Any) -> Item:
    """Return an item as a lesson; an item without words gets `mark`, which selects it for forgetting."""
    text = _message_text(item)
    try:
        told = json.dumps(item)
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"an item of a session is an object of JSON: {error}") from None
    if len(told) > LONGEST_ITEM:
        raise UsageError(
            f"an item has {len(told):,} characters of JSON, and {LONGEST_ITEM:,} are stored at most; name "
            "files by their id or URL"
        )
    more = {**metadata, ITEM: told, **({} if text else {SILENT: mark})}
    role = item["role"] if text else "tool"
    return Item(text or BLANK, key, role, metadata=more, at=datetime.now(UTC), **given)


def is_item(lesson: Lesson) -> bool:
    """Return whether a lesson is an item that the session has: not forgotten by others, nor expired."""
    return ITEM in lesson.metadata and (lesson.is_current() or SILENT in lesson.metadata)


def item_of(lesson: Lesson) -> Any:
    """Return the item of a lesson."""
    return json.loads(lesson.metadata[ITEM])


def _message_text(item: Any) -> str:
    """Return the words of a message of a user or an assistant, as they are stored; "" for any other item."""
    if not isinstance(item, dict) or item.get("role") not in SPEAKERS:
        return ""
    content = item.get("content")
    parts = [content] if isinstance(content, str) else []
    parts = [_part_text(part) for part in content] if isinstance(content, list) else parts
    text = spoken_text("\n".join(part for part in parts if part))
    return "" if is_blank(text) else text


def _part_text(part: Any) -> str:
    text = part.get("text") if isinstance(part, dict) else None
    return text if isinstance(text, str) else ""
