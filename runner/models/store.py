"""What models made, on disk: one SQLite file for each thing that it depends on, which processes may share.

A batch is written whole or not at all. Every value is checked against its crc32 before use. A damaged file
is renamed, never deleted, never used. Without a place to write, the run goes on without a cache and says so.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from platformdirs import user_cache_dir

from runner.errors import OutputError
from runner.progress import QUIET, Progress

KEYS = 500  # of one statement
PATIENCE = 60.0  # seconds that another process may hold the file
NOT_OURS = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM)


def cache_dir(kind: str, environ: Mapping[str, str] = os.environ) -> Path:
    """`PGMNEMO_CACHE_DIR`, else the user's cache folder for pgmnemo; in it, the folder of a kind."""
    base = environ.get("PGMNEMO_CACHE_DIR")
    return (Path(base).expanduser() if base else Path(user_cache_dir("pgmnemo"))) / kind


@dataclass(frozen=True, slots=True)
class Keeping:
    """What a file keeps: its name in sentences, its table and column, and what is done with what it lacks."""

    name: str = "cache"
    table: str = "kept"
    column: str = "value"
    made: str = "what is made now"
    again: str = "made again"
    before: str = "what was made before"


class Store:
    """The file at `path`; None keeps nothing. Keys are bytes, and so are the values. Threads may share it.

    OutputError when the disk is full.
    """

    def __init__(self, path: Path | None, keeping: Keeping = Keeping(), progress: Progress = QUIET) -> None:
        self.path, self._keeping, self._progress = path, keeping, progress
        self._file: sqlite3.Connection | None = None
        self._inode, self._writable = 0, True
        self._lock = threading.RLock()
        self._open()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def read_bytes(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The values of those `keys` that the file holds; none at all if any of them is damaged."""
        with self._lock:
            try:
                return dict(self._rows(keys))
            except sqlite3.DatabaseError as error:
                self._move_aside(str(error))
                return {}

    def write_bytes(self, keys: Sequence[bytes], values: Sequence[bytes]) -> None:
        """Add one value for each key; all or none of them."""
        rows = [(key, _crc(key, value), value) for key, value in zip(keys, values, strict=True)]
        with self._lock:
            if self._file is None or not self._writable:
                return
            try:
                with self._file:
                    self._file.executemany(
                        f"INSERT OR REPLACE INTO {self._keeping.table} VALUES (?, ?, ?)", rows
                    )
            except sqlite3.OperationalError as error:
                self._not_written(error)

    def close(self) -> None:
        """Give the file back."""
        with self._lock:
            if self._file is not None:
                self._file.close()
            self._file = None

    def whole(self, value: bytes) -> bool:
        """Whether a value whose checksum is right can be one of this file."""
        return True

    def _not_written(self, error: sqlite3.OperationalError) -> None:
        told = self._keeping
        if error.sqlite_errorcode & 0xFF not in NOT_OURS:
            raise OutputError(
                f"the {told.name} {self.path} cannot be extended ({error}); free some space, or set "
                f"PGMNEMO_CACHE_DIR to another disk; {told.before} is kept"
            ) from None
        self._writable = False
        self._progress.say(
            f"the {told.name} {self.path} cannot be written ({error}): {told.made} are not kept"
        )

    def _rows(self, keys: Sequence[bytes]) -> Iterator[tuple[bytes, bytes]]:
        """Each key that is there, with its value; DatabaseError for one that is damaged."""
        told = self._keeping
        for start in range(0, len(keys) if self._file is not None else 0, KEYS):
            some = keys[start : start + KEYS]
            marks = ",".join("?" * len(some))
            asked = f"SELECT key, crc, {told.column} FROM {told.table} WHERE key IN ({marks})"
            assert self._file is not None
            for key, crc, value in self._file.execute(asked, some):
                if crc != _crc(key, value) or not self.whole(value):
                    raise sqlite3.DatabaseError(f"{told.column} {key.hex()[:12]} does not match its checksum")
                yield key, value

    def _open(self) -> None:
        if self.path is None:
            return
        told = self._keeping
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = sqlite3.connect(self.path, timeout=PATIENCE, check_same_thread=False)
            with self._file:
                self._file.execute(
                    f"CREATE TABLE IF NOT EXISTS {told.table} (key BLOB PRIMARY KEY, crc INTEGER NOT NULL, "
                    f"{told.column} BLOB NOT NULL)"
                )
            self._inode = self.path.stat().st_ino
        except (OSError, sqlite3.OperationalError) as error:
            self.close()
            why = getattr(error, "strerror", None) or error
            self._progress.say(f"the {told.name} {self.path} cannot be opened ({why}): this run goes without")
        except sqlite3.DatabaseError as error:
            self._inode = self.path.stat().st_ino
            self._move_aside(str(error))

    def _move_aside(self, reason: str) -> None:
        """Rename the damaged file, unless another process has done so, and begin a new one."""
        assert self.path is not None
        self.close()
        said = f"the {self._keeping.name} {self.path} is damaged ({reason})"
        try:
            if self.path.exists() and self.path.stat().st_ino == self._inode:
                aside = _unused(self.path)
                self.path.rename(aside)
                said += f"; it is now called {aside.name}"
        except OSError:
            self._progress.say(f"{said} and cannot be renamed: this run goes without")
            return
        self._progress.say(f"{said}, and what it held is {self._keeping.again}")
        self._open()


def _crc(key: bytes, value: bytes) -> int:
    return zlib.crc32(value, zlib.crc32(key))


def _unused(path: Path) -> Path:
    number = 1
    while (aside := path.with_name(f"{path.name}.damaged-{number}")).exists():
        number += 1
    return aside
