"""Memories of Google ADK: as JSON in the metadata of a lesson, and made of a hit."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC, datetime

from google.adk.memory.memory_entry import MemoryEntry
from google.genai import types

from pgmnemo.client.records import Hit

EVENT, ENTRY = "pgmnemo:event", "pgmnemo:entry"  # metadata: an event's id, and the memory as JSON
LONGEST_CONTENT = 500_000  # characters of a memory's JSON; a longer memory keeps only its text


def entry_of(hit: Hit) -> MemoryEntry:
    """Return a hit as a memory; a lesson of another program is a memory of its text."""
    if ENTRY not in hit.metadata:
        content = types.Content(role=hit.role, parts=[types.Part(text=hit.text)])
        when = hit.at.isoformat() if hit.at else None
        return MemoryEntry(id=hit.key, content=content, author=hit.role, timestamp=when)
    entry = MemoryEntry.model_validate_json(hit.metadata[ENTRY])
    entry.custom_metadata = {name: one for name, one in hit.metadata.items() if name not in (EVENT, ENTRY)}
    return entry


def entry_json(entry: MemoryEntry, text: str) -> str:
    """Return a memory as JSON; only its text if the JSON is too long or cannot be written."""
    with suppress(ValueError):
        if len(told := entry.model_dump_json(exclude_none=True)) <= LONGEST_CONTENT:
            return json.dumps(json.loads(told))
    content = types.Content(role=entry.content.role, parts=[types.Part(text=text)])
    return str(entry.model_copy(update={"content": content}).model_dump_json(exclude_none=True))


def time_of(timestamp: float) -> datetime | None:
    """Return the time of an event; None for a number that is no time."""
    with suppress(ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(timestamp, UTC)
    return None
