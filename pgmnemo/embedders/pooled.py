"""Embedders that take the mean of a graph's token states as the vector."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from threading import Lock

import numpy as np

from pgmnemo.embedders import Embedder, TokenSpan, unit_rows
from pgmnemo.embedders.spans import spans_of
from pgmnemo.models.runtime import Graph, Tokens
from pgmnemo.progress import QUIET, Progress
from pgmnemo.records import Matrix

AT_ONCE = 512  # tokens per run of the graph; more would cost more time and memory


class PooledEncoder(Embedder):
    """An embedder that takes the mean of a graph's token states as the vector, scaled to unit length.

    Threads may load and call it at once; the first opens the graph.
    """

    at_once = AT_ONCE  # 1: each text is a run of its own
    _graph: Graph | None = None

    def __init__(self) -> None:
        self._opening = Lock()

    @abstractmethod
    def open(self, progress: Progress) -> Graph:
        """Return the loaded graph; raise ModelError if a library, a package or the graph cannot be had."""

    def load(self, progress: Progress = QUIET) -> None:
        with self._opening:
            if self._graph is None:
                self._graph = self.open(progress)

    def rows(self, texts: Sequence[str]) -> Matrix:
        self.load()
        assert self._graph is not None, "loaded just now"
        if not texts:
            return np.empty((0, self.identity.dimensions), dtype=np.float32)
        given = self._graph.read(texts)
        texts_at_once = max(1, self.at_once // given["attention_mask"].shape[1])
        starts = range(0, len(texts), texts_at_once)
        parts = [{name: of[at : at + texts_at_once] for name, of in given.items()} for at in starts]
        return unit_rows(np.concatenate([_means(self._graph, _without_padding(part)) for part in parts]))

    def token_spans(self, texts: Sequence[str]) -> list[list[TokenSpan]] | None:
        self.load()
        assert self._graph is not None, "loaded just now"
        return spans_of(self._graph.uncut, texts)


def _without_padding(columns: Mapping[str, Tokens]) -> dict[str, Tokens]:
    """Return the columns without positions that are padding in every text."""
    longest = columns["attention_mask"].sum(axis=1).max()
    return {name: values[:, :longest] for name, values in columns.items()}


def _means(graph: Graph, given: Mapping[str, Tokens]) -> Matrix:
    """Return the mean of the token states of each text, without padding."""
    mask = given["attention_mask"][:, :, None].astype(np.float32)
    return np.asarray((graph.run(given) * mask).sum(axis=1) / mask.sum(axis=1))
