"""What a model said, kept on disk: one file for each identity, opened when it is first needed."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from runner.models.store import Keeping, Store


def kept_in(folder: Path, name: str, settings: Mapping[str, Any]) -> Path:
    """The file of a model: its name, and a hash of all that what it says depends on besides the question."""
    digest = sha256(json.dumps(dict(settings), sort_keys=True).encode()).hexdigest()[:16]
    return folder / f"{name}-{digest}.sqlite"


def key_of(question: str, texts: Sequence[str] = ()) -> bytes:
    """SHA-256 over the question and the texts, in their order: 32 bytes."""
    return sha256(json.dumps([question, *texts]).encode()).digest()


class Kept:
    """The file, whose `path` is asked for and which is made when it is first needed. Threads may share it."""

    def __init__(self, path: Callable[[], Path], keeping: Keeping) -> None:
        self._path, self._keeping = path, keeping
        self._store: Store | None = None
        self._opening = threading.Lock()

    def read(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """What is kept under those keys."""
        return self._file().read_bytes(keys)

    def write(self, keys: Sequence[bytes], values: Sequence[bytes]) -> None:
        """Keep one value for each key. OutputError on a full disk."""
        self._file().write_bytes(keys, values)

    def close(self) -> None:
        """Give the file back."""
        if self._store is not None:
            self._store.close()

    def _file(self) -> Store:
        with self._opening:
            if self._store is None:
                self._store = Store(self._path(), self._keeping)
            return self._store
