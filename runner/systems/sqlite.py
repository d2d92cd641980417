"""What the SQLite systems share: a file, a connection set up as PostgreSQL is, the words of a question.

Memory as PostgreSQL has it: the whole file may be mapped, and 1 GiB of pages is kept a connection.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

TERM = re.compile(r"[a-z0-9]{2,}")
PRAGMAS = (
    "busy_timeout = 60000", "journal_mode = WAL", "synchronous = FULL", "cache_size = -1048576",
    "mmap_size = 17179869184", "temp_store = MEMORY",
)  # fmt: skip


def set_up(connection: Any) -> Any:
    """A connection of Python's sqlite3 or of apsw, with the settings that both systems have."""
    for pragma in PRAGMAS:
        connection.execute(f"PRAGMA {pragma}").fetchall()
    return connection


def any_word(text: str) -> str:
    """The question's words of two letters and more, quoted and joined by OR, repeated ones kept."""
    return " OR ".join(f'"{term}"' for term in TERM.findall(text.lower()))


def sizes(path: Path) -> Mapping[str, int]:
    """Bytes of the file and of what stands beside it."""
    return {one.name: one.stat().st_size for one in sorted(path.parent.glob(f"{path.name}*"))}
