"""Deterministic feature hashing: vectors for tests, without a model."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from hashlib import blake2b

import numpy as np

from pgmnemo.embedders import Embedder, EmbedderOptions, unit_rows
from pgmnemo.errors import UsageError
from pgmnemo.records import Matrix

WORD = re.compile(r"\w+")


class FeatureHashing(Embedder):
    """Embed texts by signed hashing of lower-case words, weighted by the square root of their count.

    See Weinberger et al. 2009, arXiv:0902.2206.
    """

    def __init__(self, options: EmbedderOptions) -> None:
        if options.max_tokens is not None:
            raise UsageError("the embedder hash cuts no tokens; leave --max-tokens out, or take --max-chars")
        self.identity = options.identity(
            "hash",
            "signed feature hashing",
            "1",
            options.dimensions or 256,
            tokens=0,
            batch=64,
            note="tests only: feature hashing of words, not a language model; no text is cut",
        )

    def rows(self, texts: Sequence[str]) -> Matrix:
        width = self.identity.dimensions
        rows = [_row(text, width) for text in texts]
        return unit_rows(np.array(rows, dtype=np.float32).reshape(len(texts), width))


def _row(text: str, width: int) -> Matrix:
    row = np.zeros(width, dtype=np.float32)
    for word, count in Counter(WORD.findall(text.lower())).items():
        place, sign = _bucket(word)
        row[place % width] += sign * np.sqrt(count)
    if not row.any():
        row[0] = 1.0  # without words, or if words cancel out, still a unit vector
    return row


@cache
def _bucket(word: str) -> tuple[int, float]:
    number = int.from_bytes(blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
    return number >> 1, 1.0 if number & 1 else -1.0
