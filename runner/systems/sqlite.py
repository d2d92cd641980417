"""What the SQLite systems share: a file, a connection set up as PostgreSQL is, the words of a question.

Memory as PostgreSQL has it: the whole file may be mapped, and 1 GiB of pages is kept a connection.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

TERM = re.compile(r"[a-z0-9]{2,}")
PRAGMAS = (
    "busy_timeout = 60000", "journal_mode = WAL", "synchronous = FULL", "cache_size = -1048576",
    "mmap_size = 17179869184", "temp_store = MEMORY",
)  # fmt: skip
REMEDY = "pip install -c constraints.txt -e '.[peers]'"


def connect(path: Path, vectors: bool = False) -> Any:
    """A connection to the file; with `vectors` sqlite-vec is loaded."""
    connection = import_module("apsw").Connection(str(path))
    if vectors:
        connection.enable_load_extension(True)
        connection.load_extension(import_module("sqlite_vec").loadable_path())
        connection.enable_load_extension(False)
    for pragma in PRAGMAS:
        connection.execute(f"PRAGMA {pragma}").fetchall()
    return connection


def any_word(text: str) -> str:
    """The question's words of two letters and more, quoted and joined by OR, repeated ones kept."""
    return " OR ".join(f'"{term}"' for term in TERM.findall(text.lower()))


def sizes(path: Path) -> Mapping[str, int]:
    """Bytes of the file and of what stands beside it."""
    return {one.name: one.stat().st_size for one in sorted(path.parent.glob(f"{path.name}*"))}
