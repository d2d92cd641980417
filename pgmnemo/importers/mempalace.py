"""A palace of MemPalace: its folder, or the file of Chroma in it (`chroma.sqlite3`).

Each drawer is a lesson: the wing is the project, the room the topic, the drawer's id the key, and its time
when it was written, else when it was filed. The file is opened read-only, without Chroma.
Tested on a palace that mempalace 3.11 made.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from pgmnemo.errors import UsageError
from pgmnemo.escaping import escape_sentence
from pgmnemo.importers import ImportedLesson, ImportOptions
from pgmnemo.importers.lessons import lesson, time_of
from pgmnemo.importers.sources import rows

FILE, DOCUMENT = "chroma.sqlite3", "chroma:document"
DRAWERS = """
SELECT e.embedding_id, m.key, coalesce(m.string_value, m.int_value, m.float_value, m.bool_value)
  FROM collections c
  JOIN segments s ON s.collection = c.id
  JOIN embeddings e ON e.segment_id = s.id
  JOIN embedding_metadata m ON m.id = e.id
 WHERE c.name = 'mempalace_drawers'
 ORDER BY e.id
"""
TIMES = ("timestamp", "authored_at", "content_date", "filed_at")


def read(place: Path | str, *, options: ImportOptions) -> Iterator[ImportedLesson]:
    """Read a palace of MemPalace, given by its folder (tested with a palace of mempalace 3.11)."""
    file = Path(place).expanduser()
    file = file / FILE if os.path.isdir(file) else file  # Path's methods raise for a name that is too long
    if not os.path.isfile(file):
        raise UsageError(
            f"there is no palace at {escape_sentence(str(place))}; name the folder that holds {FILE}"
        )
    for identity, parts in groupby(rows(file, DRAWERS, options), lambda row: row[0]):
        metadata = {key: value for _, key, value in parts}
        text, where = str(metadata.pop(DOCUMENT, "")), f"{file}, drawer {identity}"
        yield from lesson(
            options, where, f"mempalace/{identity}", text,
            project=metadata.get("wing"), topic=metadata.get("room"), role=metadata.get("role"),
            at=time_of(options, where, *map(metadata.get, TIMES)),
            metadata={**metadata, "source": "mempalace"},
        )  # fmt: skip
