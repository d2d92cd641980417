"""Deterministic feature hashing: vectors for tests, from no model at all."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from runner.embedders.embedder import unit_rows
from runner.embedders.options import EmbedderOptions
from runner.errors import UsageError
from runner.progress import QUIET, Progress
from runner.records import EmbedderIdentity

if TYPE_CHECKING:
    from runner.records import Matrix

WORD = re.compile(r"\w+")


class FeatureHashing:
    """Signed hashing of lower-case words, weight sqrt(tf) (Weinberger et al. 2009, arXiv:0902.2206)."""

    def __init__(self, options: EmbedderOptions) -> None:
        if options.max_tokens is not None:
            raise UsageError("the embedder hash cuts no tokens; leave --max-tokens out, or take --max-chars")
        self.identity = EmbedderIdentity(
            name="hash",
            model="signed feature hashing",
            revision="1",
            dimensions=options.dimensions or 256,
            max_tokens=0,
            batch_size=options.batch_size or 64,
            query_prefix=options.query_prefix,
            document_prefix=options.document_prefix,
            note="tests only: feature hashing of words, not a language model; no text is cut",
        )

    def to_download(self) -> int:
        return 0

    def load(self, progress: Progress = QUIET) -> None:
        """Nothing to load."""

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        return self._embed(self.identity.document_prefix, texts)

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        return self._embed(self.identity.query_prefix, texts)

    def _embed(self, prefix: str, texts: Sequence[str]) -> Matrix:
        width = self.identity.dimensions
        rows = [_row(prefix + text, width) for text in texts]
        return unit_rows(np.array(rows, dtype=np.float32).reshape(len(texts), width))


def _row(text: str, width: int) -> Matrix:
    row = np.zeros(width, dtype=np.float32)
    for word, count in Counter(WORD.findall(text.lower())).items():
        place, sign = _place(word)
        row[place % width] += sign * np.sqrt(count)
    if not row.any():
        row[0] = 1.0  # no word, or words that cancel out: a unit vector all the same
    return row


@cache
def _place(word: str) -> tuple[int, float]:
    number = int.from_bytes(blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
    return number >> 1, 1.0 if number & 1 else -1.0
