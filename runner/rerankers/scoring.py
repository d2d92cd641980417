"""Rerankers that score a text against a question: every passage is scored, the best stands for its lesson."""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Sequence
from contextlib import nullcontext
from math import isfinite

from runner.errors import ModelError
from runner.models.kept import key_of
from runner.models.torch_runtime import first_line
from runner.rerankers.kept import Keeper, packed, unpacked
from runner.rerankers.options import RerankOptions
from runner.rerankers.reranker import Pool, Reordered, by_score


class Scoring(Keeper):
    """`scores` is all that a kind of model adds. What was scored before is read from the cache.

    `alone`: one call at a time, as a model in this process wants it.
    """

    alone = True

    def __init__(self, options: RerankOptions) -> None:
        super().__init__(options)
        self._calling = threading.Lock()

    @abstractmethod
    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """A score for each text, higher for a better one; at most a batch of them."""

    def rerank(self, pool: Pool) -> Reordered:
        question, most = pool.query.text, self.identity.characters
        texts = [[text[:most] for text in one.texts] for one in pool.candidates]
        keys = {text: key_of(question, [text]) for some in texts for text in some}
        kept = self.read([*keys.values()])
        known = {text: unpacked(kept[key]) for text, key in keys.items() if key in kept}
        lacking, size = [text for text in keys if text not in known], self._options.rerank_batch
        batches = [lacking[start : start + size] for start in range(0, len(lacking), size)]
        for batch in batches:
            made = self._made(question, batch)
            self.write([keys[text] for text in batch], packed(made))
            known.update(zip(batch, made, strict=True))
        order, scores = by_score([max(known[text] for text in some) for some in texts])
        return Reordered(order, scores, len(batches), len(lacking), len(keys) - len(lacking))

    def _made(self, question: str, texts: Sequence[str]) -> list[float]:
        name = self.identity.name
        try:
            with self._calling if self.alone else nullcontext():
                made = self.scores(question, texts)
        except ModelError:
            raise
        except Exception as error:  # whatever a model library throws
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
