"""Vectors on disk: one append-only file for each embedder identity.

A header (the identity), then records of one size: key, crc32, vector. A record is appended whole under
a lock, so processes may share a file; a killed one leaves at most a cut tail, which the next writer
trims. Every vector is checked against its crc32 before use. A damaged file is renamed, never deleted,
never used. Without a place to write, the run goes on without a cache and says so.
"""

from __future__ import annotations

import fcntl
import json
import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from platformdirs import user_cache_dir

from runner.errors import OutputError
from runner.progress import QUIET, Progress
from runner.records import EmbedderIdentity

if TYPE_CHECKING:
    from runner.records import Matrix

KEY = 32  # bytes of SHA-256


def default_cache_dir(environ: Mapping[str, str] = os.environ) -> Path:
    """`PGMNEMO_CACHE_DIR`, else the user's cache folder for pgmnemo; in it, `embeddings`."""
    base = environ.get("PGMNEMO_CACHE_DIR")
    return (Path(base).expanduser() if base else Path(user_cache_dir("pgmnemo"))) / "embeddings"


def text_key(kind: str, text: str) -> bytes:
    """SHA-256 over the kind (`document` or `query`) and the text: 32 bytes."""
    return sha256(f"{kind}\0{text}".encode("utf-8", "surrogatepass")).digest()


def header(identity: EmbedderIdentity) -> bytes:
    """What a file of `identity` begins with: all that a vector depends on, padded to a multiple of 512 bytes.

    The note is left out: it explains, and its wording may change.
    """
    settings = {name: value for name, value in asdict(identity).items() if name != "note"}
    line = b"pgmnemo vectors 1 " + json.dumps(settings, sort_keys=True).encode() + b"\n"
    return line + b" " * (-len(line) % 512)


class VectorStore:
    """The file of one identity in `folder`; `folder` None keeps nothing.

    `read` and `write` take keys of 32 bytes. OutputError when the disk is full.
    """

    def __init__(self, folder: Path | None, identity: EmbedderIdentity, progress: Progress = QUIET) -> None:
        self._header = header(identity)
        self._progress = progress
        self._type = np.dtype([("key", f"V{KEY}"), ("crc", "<u4"), ("vector", "<f4", (identity.dimensions,))])
        self._file: int | None = None
        self._writable = True
        self.path: Path | None = None
        if folder is not None:
            self.path = folder / f"{identity.name}-{sha256(self._header).hexdigest()[:16]}.vectors"
            self._open(self.path)

    def __enter__(self) -> VectorStore:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def read(self, keys: Sequence[bytes]) -> dict[bytes, Matrix]:
        """The vectors of those `keys` that the file holds; none at all if any of them is damaged."""
        if self._file is None or self.path is None:
            return {}
        records = self._records(self.path, self._file)
        raw, vectors, checks = records["key"].tobytes(), records["vector"], records["crc"]
        places = {raw[start : start + KEY]: start // KEY for start in range(0, len(raw), KEY)}
        found: dict[bytes, Matrix] = {}
        for key in keys:
            place = places.get(key)
            if place is None:
                continue
            found[key] = vector = np.array(vectors[place])
            if _crc(key, vector) != checks[place]:
                self._move_aside(self.path, self._file, f"record {place + 1:,} does not match its checksum")
                return {}
        return found

    def write(self, keys: Sequence[bytes], matrix: Matrix) -> None:
        """Append one record for each key; all or none of them."""
        if not self._writable or self._file is None:
            return
        records = np.empty(len(keys), dtype=self._type)
        for place, key in enumerate(keys):
            records[place] = (np.void(key), _crc(key, matrix[place]), matrix[place])
        with _locked(self._file):
            self._append(self._file, records.tobytes())

    def _append(self, file: int, data: bytes) -> None:
        end = self._whole(os.fstat(file).st_size)
        try:
            os.ftruncate(file, end)  # the cut tail of a process that was killed while it wrote
            while data:
                data = data[os.write(file, data) :]
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(file, end)
            raise OutputError(
                f"the embedding cache {self.path} cannot be extended ({error.strerror}); free some "
                "space, or set PGMNEMO_CACHE_DIR to another disk; what was embedded before is kept"
            ) from None

    def _open(self, path: Path) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
            with _locked(self._file):
                whole = self._begins_well(self._file)
        except OSError as error:
            self._open_to_read(path, error)
            return
        if not whole:
            self._move_aside(path, self._file, "it does not begin as it should")

    def _open_to_read(self, path: Path, refusal: OSError) -> None:
        """A cache that may be read but not written is still of use, if it is whole."""
        self._close()
        self._writable = False
        with suppress(OSError):
            self._file = os.open(path, os.O_RDONLY)
        if self._file is not None and os.pread(self._file, len(self._header), 0) != self._header:
            self._close()
        use = "vectors made now are not kept" if self._file is not None else "this run goes without"
        self._progress.say(f"the embedding cache {path} cannot be written ({refusal.strerror}): {use}")

    def _begins_well(self, file: int) -> bool:
        """Whether the header is this identity's; a new file gets it."""
        start = os.pread(file, len(self._header), 0)
        if not start:
            self._append(file, self._header)
        return start in (b"", self._header)

    def _whole(self, size: int) -> int:
        """The largest size up to `size` at which a record ends."""
        rest = size - len(self._header)
        return len(self._header) + rest // self._type.itemsize * self._type.itemsize if rest >= 0 else 0

    def _records(self, path: Path, file: int) -> Any:
        with _locked(file, fcntl.LOCK_SH):
            size = os.fstat(file).st_size
        count = max(0, size - len(self._header)) // self._type.itemsize
        if self._whole(size) != size:
            self._progress.say(
                f"the embedding cache {path} ends in a record that was cut off, which is dropped; "
                f"its {count:,} whole ones are kept"
            )
        if count == 0:
            return np.empty(0, dtype=self._type)
        with open(file, "rb", closefd=False) as handle:
            return np.memmap(handle, dtype=self._type, mode="r", offset=len(self._header), shape=(count,))

    def _move_aside(self, path: Path, file: int, reason: str) -> None:
        """Rename the damaged file, unless another process has done so, and begin a new one."""
        told = f"the embedding cache {path} is damaged ({reason})"
        try:
            if path.exists() and path.stat().st_ino == os.fstat(file).st_ino:
                aside = _unused(path)
                path.rename(aside)
                told += f"; it is now called {aside.name}"
        except OSError:
            self._progress.say(f"{told} and cannot be renamed: this run goes without")
            self._close()
            return
        self._progress.say(f"{told}, and what it held is embedded again")
        self._close()
        self._open(path)

    def _close(self) -> None:
        if self._file is not None:
            os.close(self._file)
        self._file = None


def _crc(key: bytes, vector: Matrix) -> int:
    return zlib.crc32(np.ascontiguousarray(vector, dtype="<f4").tobytes(), zlib.crc32(key))


def _unused(path: Path) -> Path:
    number = 1
    while (aside := path.with_name(f"{path.name}.damaged-{number}")).exists():
        number += 1
    return aside


@contextmanager
def _locked(file: int, kind: int = fcntl.LOCK_EX) -> Iterator[None]:
    """Held among processes only while a batch is appended or the file is measured."""
    fcntl.flock(file, kind)
    try:
        yield
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)
