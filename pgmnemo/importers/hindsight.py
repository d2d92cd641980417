"""Hindsight's memories: the table `memory_units` of its PostgreSQL, by a DSN.

Each fact in force is a lesson: the bank is the project, the document the topic, and the time is when the fact
occurred, else when it was mentioned. Facts that were invalidated stay in their own table, and documents,
links, mental models and vectors are not read. A bank of another schema is read through an address with
`?options=-csearch_path%3DSCHEMA`. Tested on the tables that the migrations of hindsight-api 1.1 make.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pgmnemo.errors import UsageError
from pgmnemo.importers import ImportedLesson, ImportOptions
from pgmnemo.importers.lessons import lesson, time_of
from pgmnemo.importers.sources import database_rows, is_dsn

ROWS = """
SELECT to_jsonb(u) - '{embedding,search_vector}'::text[] FROM memory_units AS u
 ORDER BY u.bank_id, u.created_at, u.id
"""  # older versions lack columns
TIMES = ("occurred_start", "mentioned_at", "event_date", "created_at")
KEPT = (
    "bank_id", "document_id", "context", "fact_type", "tags", "occurred_start", "occurred_end",
    "mentioned_at",
)  # fmt: skip


def read(place: Path | str, *, options: ImportOptions) -> Iterator[ImportedLesson]:
    """Read Hindsight's facts, given by its database's DSN (tested with tables of hindsight-api 1.1)."""
    if not is_dsn(place):
        raise UsageError("Hindsight is read from its database; give its address, postgresql://host/database")
    for fact in database_rows(str(place), ROWS):
        where = f"bank {fact['bank_id']}, fact {fact['id']}"
        yield from lesson(
            options, where, f"hindsight/{fact['id']}", fact["text"],
            project=fact["bank_id"], topic=fact.get("document_id"),
            at=time_of(options, where, *map(fact.get, TIMES)),
            metadata={
                **(fact.get("metadata") or {}), **{name: fact.get(name) or None for name in KEPT},
                "source": "hindsight",
            },
        )  # fmt: skip
