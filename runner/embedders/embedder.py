"""What an embedder is, and the two operations on its rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from runner.errors import EmbedderError
from runner.progress import QUIET, Progress
from runner.records import EmbedderIdentity

if TYPE_CHECKING:
    from runner.records import Matrix


class Embedder(Protocol):
    """Texts to vectors.

    `identity` is known without importing torch. `to_download` says how many bytes `load` fetches first
    (ModelError if it could not), `load` brings the model into memory (EmbedderError if that is
    impossible). The two others take one batch and return float32 unit rows of
    `identity.dimensions`, in the order of the texts, and load the model if that was not done. One that has an
    attribute `concurrent` that is true may be asked by several threads at once.
    """

    @property
    def identity(self) -> EmbedderIdentity: ...

    def to_download(self) -> int: ...

    def load(self, progress: Progress = QUIET) -> None: ...

    def embed_documents(self, texts: Sequence[str]) -> Matrix: ...

    def embed_queries(self, texts: Sequence[str]) -> Matrix: ...


def pad(matrix: Matrix, width: int = 1024) -> Matrix:
    """Rows of any width up to `width`, filled up with zeros, which leaves every cosine as it was.

    EmbedderError if the rows are wider than what the database stores.
    """
    rows, native = matrix.shape
    if native > width:
        raise EmbedderError(
            f"the embedder answers {native} dimensions and {width} are stored; "
            f"ask it for {width} or fewer, or take another model"
        )
    padded = np.zeros((rows, width), dtype=np.float32)
    padded[:, :native] = matrix
    return padded


def unit_rows(matrix: Matrix) -> Matrix:
    """Each row divided by its Euclidean length; rows without one (zero, NaN) stay as they are."""
    lengths = np.linalg.norm(matrix.astype(np.float64), axis=1, keepdims=True)
    usable = np.isfinite(lengths) & (lengths > 0)
    return (matrix / np.where(usable, lengths, 1.0)).astype(np.float32)
