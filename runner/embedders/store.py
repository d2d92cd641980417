"""Vectors on disk: one SQLite file for each embedder identity, which processes may share.

A batch is written whole or not at all. Every vector is checked against its crc32 before use. A damaged file
is renamed, never deleted, never used. Without a place to write, the run goes on without a cache and says so.
"""

from __future__ import annotations

import json
import os
import sqlite3
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from platformdirs import user_cache_dir

from runner.errors import OutputError
from runner.progress import QUIET, Progress
from runner.records import EmbedderIdentity

if TYPE_CHECKING:
    from runner.records import Matrix

TABLE = (
    "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, crc INTEGER NOT NULL, vector BLOB NOT NULL)"
)
KEYS = 500  # of one statement
PATIENCE = 60.0  # seconds that another process may hold the file
NOT_OURS = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM)


def default_cache_dir(environ: Mapping[str, str] = os.environ) -> Path:
    """`PGMNEMO_CACHE_DIR`, else the user's cache folder for pgmnemo; in it, `embeddings`."""
    base = environ.get("PGMNEMO_CACHE_DIR")
    return (Path(base).expanduser() if base else Path(user_cache_dir("pgmnemo"))) / "embeddings"


def text_key(kind: str, text: str) -> bytes:
    """SHA-256 over the kind (`document` or `query`) and the text: 32 bytes."""
    return sha256(f"{kind}\0{text}".encode("utf-8", "surrogatepass")).digest()


def file_name(identity: EmbedderIdentity) -> str:
    """Another one for whatever a vector depends on. The note is left out: its wording may change."""
    settings = {name: value for name, value in asdict(identity).items() if name != "note"}
    return f"{identity.name}-{sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:16]}.sqlite"


class VectorStore:
    """The file of one identity in `folder`; `folder` None keeps nothing.

    `read` and `write` take keys of 32 bytes. OutputError when the disk is full.
    """

    def __init__(self, folder: Path | None, identity: EmbedderIdentity, progress: Progress = QUIET) -> None:
        self._progress, self._bytes = progress, 4 * identity.dimensions
        self._file: sqlite3.Connection | None = None
        self._inode, self._writable = 0, True
        self.path = folder / file_name(identity) if folder is not None else None
        self._open()

    def __enter__(self) -> VectorStore:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def read(self, keys: Sequence[bytes]) -> dict[bytes, Matrix]:
        """The vectors of those `keys` that the file holds; none at all if any of them is damaged."""
        try:
            found = dict(self._rows(keys))
        except sqlite3.DatabaseError as error:
            self._move_aside(str(error))
            return {}
        return {key: np.frombuffer(found[key], dtype="<f4") for key in keys if key in found}

    def write(self, keys: Sequence[bytes], matrix: Matrix) -> None:
        """Add one vector for each key; all or none of them."""
        if self._file is None or not self._writable:
            return
        vectors = [row.tobytes() for row in np.ascontiguousarray(matrix, dtype="<f4")]
        rows = [(key, _crc(key, vector), vector) for key, vector in zip(keys, vectors, strict=True)]
        try:
            with self._file:
                self._file.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF not in NOT_OURS:
                raise OutputError(
                    f"the embedding cache {self.path} cannot be extended ({error}); free some space, or set "
                    "PGMNEMO_CACHE_DIR to another disk; what was embedded before is kept"
                ) from None
            self._writable = False
            self._progress.say(
                f"the embedding cache {self.path} cannot be written ({error}): vectors made now are not kept"
            )

    def _rows(self, keys: Sequence[bytes]) -> Iterator[tuple[bytes, bytes]]:
        """Each key that is there, with its vector; DatabaseError for one that is damaged."""
        for start in range(0, len(keys) if self._file is not None else 0, KEYS):
            some = keys[start : start + KEYS]
            asked = f"SELECT key, crc, vector FROM vectors WHERE key IN ({','.join('?' * len(some))})"
            assert self._file is not None
            for key, crc, vector in self._file.execute(asked, some):
                if crc != _crc(key, vector) or len(vector) != self._bytes:
                    raise sqlite3.DatabaseError(f"vector {key.hex()[:12]} does not match its checksum")
                yield key, vector

    def _open(self) -> None:
        if self.path is None:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = sqlite3.connect(self.path, timeout=PATIENCE)
            with self._file:
                self._file.execute(TABLE)
            self._inode = self.path.stat().st_ino
        except (OSError, sqlite3.OperationalError) as error:
            self._close()
            why = getattr(error, "strerror", None) or error
            self._progress.say(
                f"the embedding cache {self.path} cannot be opened ({why}): this run goes without"
            )
        except sqlite3.DatabaseError as error:
            self._inode = self.path.stat().st_ino
            self._move_aside(str(error))

    def _move_aside(self, reason: str) -> None:
        """Rename the damaged file, unless another process has done so, and begin a new one."""
        assert self.path is not None
        self._close()
        told = f"the embedding cache {self.path} is damaged ({reason})"
        try:
            if self.path.exists() and self.path.stat().st_ino == self._inode:
                aside = _unused(self.path)
                self.path.rename(aside)
                told += f"; it is now called {aside.name}"
        except OSError:
            self._progress.say(f"{told} and cannot be renamed: this run goes without")
            return
        self._progress.say(f"{told}, and what it held is embedded again")
        self._open()

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
        self._file = None


def _crc(key: bytes, vector: bytes) -> int:
    return zlib.crc32(vector, zlib.crc32(key))


def _unused(path: Path) -> Path:
    number = 1
    while (aside := path.with_name(f"{path.name}.damaged-{number}")).exists():
        number += 1
    return aside
