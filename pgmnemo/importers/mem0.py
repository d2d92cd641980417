"""mem0's memories: the answer of `get_all` as JSON, or the SQLite file of its history (`history.db`).

The JSON is the answer itself (`{"results": [...]}`) or a list or lines of memories; a folder may contain
several answers. The project is the `user_id`, else `agent_id` or `run_id`: memories of two users never share
a project. A history has no users: the last text of each memory that was not deleted is read. The time of a
lesson is the last change of its text. Tested on what mem0ai 2.2.1 wrote, stored without a model.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pgmnemo.importers import ImportedLesson, ImportOptions
from pgmnemo.importers.lessons import inner, lesson, time_of
from pgmnemo.importers.sources import JSON, MEND, all_objects, begins, rows

OWNERS = ("user_id", "agent_id", "run_id", "app_id")
KEPT = (*OWNERS, "actor_id", "hash", "categories", "created_at", "updated_at")
COLUMNS = ("id", "memory", "event", "created_at", "updated_at")
HISTORY = """
SELECT memory_id, new_memory, event, created_at, updated_at, max(rowid) FROM history
 GROUP BY memory_id ORDER BY max(rowid)
"""


def read(place: Path | str, *, options: ImportOptions) -> Iterator[ImportedLesson]:
    """Read mem0's memories: JSON of get_all, or its history.db (tested with files of mem0ai 2.2.1)."""
    file = Path(place).expanduser()
    kept = os.path.isfile(file) and begins(file, b"SQLite format 3")
    found = _history(file, options) if kept else all_objects(place, JSON, options)
    for where, memory in found:
        if isinstance(memory.get("memory"), str) and memory.get("id"):
            yield from _lesson(memory, where, options)
        else:
            options.fault(f"{where} is no memory: it has no `id` or no `memory`; {MEND}")


def _history(file: Path, options: ImportOptions) -> Iterator[tuple[str, dict[str, Any]]]:
    for row in rows(file, HISTORY, options):
        memory = dict(zip(COLUMNS, row, strict=False))
        if memory["event"] == "DELETE":
            options.left.counts["deleted"] += 1
        else:
            yield f"{file}, memory {memory['id']}", memory


def _lesson(memory: Mapping[str, Any], where: str, options: ImportOptions) -> Iterator[ImportedLesson]:
    return lesson(
        options, where, f"mem0/{memory['id']}", memory["memory"],
        project=next((str(memory[name]) for name in OWNERS if memory.get(name)), None),
        role=memory["role"] if isinstance(memory.get("role"), str) else None,
        at=time_of(options, where, memory.get("updated_at"), memory.get("created_at")),
        expires_at=time_of(options, where, memory.get("expiration_date")),
        metadata={**inner(memory, "metadata"), **{name: memory.get(name) for name in KEPT}, "source": "mem0"},
    )  # fmt: skip
