"""What rerankers said, kept on disk: by question and passage, or by question and all its candidates."""

from __future__ import annotations

import copy
import json
import struct
import threading
from collections.abc import Sequence
from dataclasses import asdict
from hashlib import sha256
from typing import Self

from runner.models.store import Keeping, Store
from runner.rerankers.options import RerankOptions
from runner.rerankers.reranker import Reranker

SAID = Keeping(name="rerank cache", made="answers of the reranker made now")
NOT_OF_A_PAIR = ("depth", "characters", "note")  # the text is cut before it becomes a key


def key_of(question: str, texts: Sequence[str]) -> bytes:
    """SHA-256 over the question and the texts, in their order: 32 bytes."""
    return sha256(json.dumps([question, *texts]).encode()).digest()


class Kept(Reranker):
    """A reranker that asks nothing twice: one file for each identity, opened when it is first needed."""

    def __init__(self, options: RerankOptions) -> None:
        self._options, self._caching = options, True
        self._store: Store | None = None
        self._opening = threading.Lock()

    def without_cache(self) -> Self:
        other = copy.copy(self)
        other._caching = False
        return other

    def close(self) -> None:
        if self._store is not None:
            self._store.close()

    def read(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """What is kept under those keys."""
        return self._file().read_bytes(keys) if self._caching else {}

    def write(self, keys: Sequence[bytes], values: Sequence[bytes]) -> None:
        """Keep one value for each key."""
        if self._caching:
            self._file().write_bytes(keys, values)

    def _file(self) -> Store:
        with self._opening:
            if self._store is None:
                settings = {k: v for k, v in asdict(self.identity).items() if k not in NOT_OF_A_PAIR}
                digest = sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:16]
                path = self._options.cache() / f"{self.identity.name}-{digest}.sqlite"
                self._store = Store(path, SAID)
            return self._store


def packed(scores: Sequence[float]) -> list[bytes]:
    """Each score as eight bytes."""
    return [struct.pack("<d", score) for score in scores]


def unpacked(value: bytes) -> float:
    """The score in eight bytes."""
    return float(struct.unpack("<d", value)[0])
