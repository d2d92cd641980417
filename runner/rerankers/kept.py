"""What rerankers said, kept on disk: by question and passage, or by question and all its candidates."""

from __future__ import annotations

import copy
import struct
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Self

from runner.models.kept import Kept, kept_in
from runner.models.store import Keeping
from runner.rerankers.options import RerankOptions
from runner.rerankers.reranker import Reranker

SAID = Keeping(name="rerank cache", made="answers of the reranker made now")
NOT_OF_A_PAIR = ("depth", "characters", "note")  # the text is cut before it becomes a key


class Keeper(Reranker):
    """A reranker that asks nothing twice."""

    def __init__(self, options: RerankOptions) -> None:
        self._options, self._caching = options, True
        self._said = Kept(self._path, SAID)

    def without_cache(self) -> Self:
        other = copy.copy(self)
        other._caching = False
        return other

    def close(self) -> None:
        self._said.close()

    def read(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """What is kept under those keys."""
        return self._said.read(keys) if self._caching else {}

    def write(self, keys: Sequence[bytes], values: Sequence[bytes]) -> None:
        """Keep one value for each key."""
        if self._caching:
            self._said.write(keys, values)

    def _path(self) -> Path:
        """Known once the identity is, which a local model has when it is loaded."""
        settings = {k: v for k, v in asdict(self.identity).items() if k not in NOT_OF_A_PAIR}
        return kept_in(self._options.cache(), self.identity.name, settings)


def packed(scores: Sequence[float]) -> list[bytes]:
    """Each score as eight bytes."""
    return [struct.pack("<d", score) for score in scores]


def unpacked(value: bytes) -> float:
    """The score in eight bytes."""
    return float(struct.unpack("<d", value)[0])
