"""Rerankers with a cache on disk; the best passage decides a lesson's score."""

from __future__ import annotations

import copy
import threading
from abc import abstractmethod
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import asdict
from math import isfinite
from pathlib import Path
from struct import Struct
from typing import Self

from pgmnemo.errors import ModelError
from pgmnemo.models.runtime import first_line
from pgmnemo.models.store import Store, key_of, store_path
from runner.stages.rerankers import Pool, Reordered, Reranker, RerankOptions, order_by_score

NOT_OF_A_PAIR = ("depth", "characters", "note")  # not part of the key: texts are cut before they are hashed
SCORE = Struct("<d")


class CachedReranker(Reranker):
    """A reranker that keeps its results on disk: by question and passage, or by question and candidates."""

    def __init__(self, options: RerankOptions) -> None:
        self._options, self._caching = options, True
        self._said = Store(self._path, "rerank cache")

    def without_cache(self) -> Self:
        other = copy.copy(self)
        other._caching = False
        return other

    def close(self) -> None:
        self._said.close()

    def read(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return the cached values of these keys."""
        return self._said.read(keys) if self._caching else {}

    def write(self, keys: Sequence[bytes], values: Sequence[bytes]) -> None:
        """Store one value for each key."""
        if self._caching:
            self._said.write(keys, values)

    def _path(self) -> Path:
        """Return the path of the cache, which depends on the identity.

        A local model has it once it is loaded.
        """
        settings = {k: v for k, v in asdict(self.identity).items() if k not in NOT_OF_A_PAIR}
        return store_path(self._options.cache(), self.identity.name, settings)


class ScoringReranker(CachedReranker):
    """A reranker by scores; a subclass adds only `scores`. Known scores are read from the cache.

    `alone`: one call at a time, as a model in this process requires.
    """

    alone = True

    def __init__(self, options: RerankOptions) -> None:
        super().__init__(options)
        self._calling = threading.Lock()

    @abstractmethod
    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return a score for each text, higher for a better one; at most a batch of them."""

    def rerank(self, pool: Pool) -> Reordered:
        question, most = pool.query.text, self.identity.characters
        texts = [[text[:most] for text in one.texts] for one in pool.candidates]
        keys = {text: key_of(question, [text]) for some in texts for text in some}
        kept = self.read([*keys.values()])
        known = {text: float(SCORE.unpack(kept[key])[0]) for text, key in keys.items() if key in kept}
        lacking, size = [text for text in keys if text not in known], self._options.rerank_batch
        batches = [lacking[start : start + size] for start in range(0, len(lacking), size)]
        for batch in batches:
            made = self._made(question, batch)
            self.write([keys[text] for text in batch], [SCORE.pack(score) for score in made])
            known.update(zip(batch, made, strict=True))
        order, scores = order_by_score([max(known[text] for text in some) for some in texts])
        return Reordered(order, scores, len(batches), len(lacking), len(keys) - len(lacking))

    def _made(self, question: str, texts: Sequence[str]) -> list[float]:
        name = self.identity.name
        try:
            with self._calling if self.alone else nullcontext():
                made = self.scores(question, texts)
        except ModelError:
            raise
        except Exception as error:  # a model library may raise anything
            raise ModelError(
                f"{name} failed on {len(texts)} texts ({type(error).__name__}: {first_line(error)}); try a "
                "smaller --rerank-batch"
            ) from error
        if len(made) != len(texts) or not all(map(isfinite, made)):
            raise ModelError(
                f"{name} gave {len(made)} scores for {len(texts)} texts, or one that is no number; take "
                "another model"
            )
        return made
