"""Model outputs on disk: one SQLite file for each set of settings, which processes may share.

A batch is written completely or not at all. Every value is checked against its crc32 before use. A damaged
file is renamed, never deleted and never used. If the file cannot be written, the run continues without a
cache and reports it.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any, Self

from platformdirs import user_cache_dir

from pgmnemo.errors import OutputError
from pgmnemo.progress import QUIET, Progress

KEYS = 500  # keys per statement
PATIENCE = 60.0  # seconds to wait for another process's lock on the file
NOT_OURS = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM)


def cache_dir(kind: str, environ: Mapping[str, str] = os.environ) -> Path:
    """Return the folder `kind` in `PGMNEMO_CACHE_DIR`, else in the user's cache folder for pgmnemo."""
    base = environ.get("PGMNEMO_CACHE_DIR")
    return (Path(base).expanduser() if base else Path(user_cache_dir("pgmnemo"))) / kind


def store_path(folder: Path, name: str, settings: Mapping[str, Any]) -> Path:
    """Return the path of a model's file: the model's name, and a hash of the settings that its output depends
    on.
    """
    digest = sha256(json.dumps(dict(settings), sort_keys=True).encode()).hexdigest()[:16]
    return folder / f"{name}-{digest}.sqlite"


def key_of(question: str, texts: Sequence[str] = ()) -> bytes:
    """Return the SHA-256 over the question and the texts, in their order: 32 bytes."""
    return sha256(json.dumps([question, *texts]).encode()).digest()


class Store:
    """A file of bytes under keys of bytes, opened at its first use. Threads may share it.

    `path` may be a function, for a path known later; None stores nothing. Messages call the file `name`; the
    values are in `column` of `table`, each of `size` bytes (0: of any size). Raise OutputError when the disk
    is full.
    """

    def __init__(
        self,
        path: Path | Callable[[], Path] | None,
        name: str,
        progress: Progress = QUIET,
        *,
        table: str = "kept",
        column: str = "value",
        size: int = 0,
    ) -> None:
        self._path, self._name, self._progress = path, name, progress
        self._table, self._column, self._size = table, column, size
        self._file: sqlite3.Connection | None = None
        self._inode, self._opened, self._writable = 0, False, True
        self._lock = threading.RLock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def path(self) -> Path | None:
        """Return the path of the file, which may not exist yet."""
        if callable(self._path):
            self._path = self._path()
        return self._path

    def read(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return the values of the `keys` in the file; no values if any of them is damaged."""
        with self._lock:
            try:
                return dict(self._rows(self._connection(), keys))
            except sqlite3.DatabaseError as error:
                self._move_aside(str(error))
                return {}

    def write(self, keys: Sequence[bytes], values: Sequence[bytes]) -> None:
        """Add one value for each key, all of them or none."""
        rows = [(key, _crc(key, value), value) for key, value in zip(keys, values, strict=True)]
        with self._lock:
            file = self._connection()
            if file is None or not self._writable:
                return
            try:
                with file:
                    file.executemany(f"INSERT OR REPLACE INTO {self._table} VALUES (?, ?, ?)", rows)
            except sqlite3.OperationalError as error:
                self._warn_not_written(error)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._file is not None:
                self._file.close()
            self._file = None

    def _warn_not_written(self, error: sqlite3.OperationalError) -> None:
        if error.sqlite_errorcode & 0xFF not in NOT_OURS:
            raise OutputError(
                f"the {self._name} {self.path} cannot be extended ({error}); free some space, or set "
                "PGMNEMO_CACHE_DIR to another disk; what was made before is kept"
            ) from None
        self._writable = False
        self._progress.say(f"the {self._name} {self.path} cannot be written ({error}): nothing more is kept")

    def _rows(self, file: sqlite3.Connection | None, keys: Sequence[bytes]) -> Iterator[tuple[bytes, bytes]]:
        """Yield each existing key with its value; raise DatabaseError for a damaged value."""
        for start in range(0, len(keys) if file is not None else 0, KEYS):
            some = keys[start : start + KEYS]
            marks = ",".join("?" * len(some))
            asked = f"SELECT key, crc, {self._column} FROM {self._table} WHERE key IN ({marks})"
            assert file is not None
            for key, crc, value in file.execute(asked, some):
                if crc != _crc(key, value) or (self._size and len(value) != self._size):
                    raise sqlite3.DatabaseError(f"the value {key.hex()[:12]} does not match its checksum")
                yield key, value

    def _connection(self) -> sqlite3.Connection | None:
        """Return the open file; None without a path, or after an error, which is reported once."""
        if self._opened or self.path is None:
            return self._file
        self._opened = True
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = sqlite3.connect(self.path, timeout=PATIENCE, check_same_thread=False)
            with self._file:
                self._file.execute(
                    f"CREATE TABLE IF NOT EXISTS {self._table} (key BLOB PRIMARY KEY, crc INTEGER NOT NULL, "
                    f"{self._column} BLOB NOT NULL)"
                )
            self._inode = self.path.stat().st_ino
        except (OSError, sqlite3.OperationalError) as error:
            self.close()
            why = getattr(error, "strerror", None) or error
            self._progress.say(
                f"the {self._name} {self.path} cannot be opened ({why}): this run goes without"
            )
        except sqlite3.DatabaseError as error:
            self._inode = self.path.stat().st_ino
            self._move_aside(str(error))
        return self._file

    def _move_aside(self, reason: str) -> None:
        """Rename the damaged file, unless another process has done so, and begin a new one."""
        assert self.path is not None
        self.close()
        said = f"the {self._name} {self.path} is damaged ({reason})"
        try:
            if self.path.exists() and self.path.stat().st_ino == self._inode:
                aside = _free_path(self.path)
                self.path.rename(aside)
                said += f"; it is now called {aside.name}"
        except OSError:
            self._progress.say(f"{said} and cannot be renamed: this run goes without")
            return
        self._progress.say(f"{said}, and what it held is made again")
        self._opened = False
        self._connection()


def _crc(key: bytes, value: bytes) -> int:
    return zlib.crc32(value, zlib.crc32(key))


def _free_path(path: Path) -> Path:
    named = (path.with_name(f"{path.name}.damaged-{number}") for number in count(1))
    return next(aside for aside in named if not aside.exists())
