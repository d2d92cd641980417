"""Vectors on disk: one file of a models' store for each embedder identity."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from runner.models.store import Keeping, Store, cache_dir
from runner.progress import QUIET, Progress
from runner.records import EmbedderIdentity, Passage, Vectors

if TYPE_CHECKING:
    from runner.records import Matrix

VECTORS = Keeping(
    name="embedding cache",
    table="vectors",
    column="vector",
    made="vectors made now",
    again="embedded again",
    before="what was embedded before",
)


def default_cache_dir(environ: Mapping[str, str] = os.environ) -> Path:
    """Where vectors are kept: `embeddings` in the cache of this user."""
    return cache_dir("embeddings", environ)


def text_key(kind: str, text: str) -> bytes:
    """SHA-256 over the kind (`document` or `query`) and the text: 32 bytes."""
    return sha256(f"{kind}\0{text}".encode("utf-8", "surrogatepass")).digest()


def rows_of(vectors: Vectors, passages: Sequence[Passage]) -> Matrix | None:
    """The rows of some passages, in their order; None where passages were not embedded, or there are none."""
    if vectors.passages is None or not passages:
        return None
    return vectors.passages[[vectors.places[text_key("document", one.embedded)] for one in passages]]


def file_name(identity: EmbedderIdentity) -> str:
    """Another one for whatever a vector depends on. The note is left out: its wording may change."""
    settings = {name: value for name, value in asdict(identity).items() if name != "note"}
    return f"{identity.name}-{sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:16]}.sqlite"


class VectorStore(Store):
    """The file of one identity in `folder`; `folder` None keeps nothing.

    `read` and `write` take keys of 32 bytes. OutputError when the disk is full.
    """

    def __init__(self, folder: Path | None, identity: EmbedderIdentity, progress: Progress = QUIET) -> None:
        self._bytes = 4 * identity.dimensions
        super().__init__(folder / file_name(identity) if folder is not None else None, VECTORS, progress)

    def whole(self, value: bytes) -> bool:
        return len(value) == self._bytes

    def read(self, keys: Sequence[bytes]) -> dict[bytes, Matrix]:
        """The vectors of those `keys` that the file holds; none at all if any of them is damaged."""
        found = self.read_bytes(keys)
        return {key: np.frombuffer(found[key], dtype="<f4") for key in keys if key in found}

    def write(self, keys: Sequence[bytes], matrix: Matrix) -> None:
        """Add one vector for each key; all or none of them."""
        self.write_bytes(keys, [row.tobytes() for row in np.ascontiguousarray(matrix, dtype="<f4")])
