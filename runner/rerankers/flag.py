"""FlagEmbedding's own reranker, such as BAAI/bge-reranker-v2-m3."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from runner.models.torch_runtime import device, library, silence
from runner.rerankers.local import Local


class Flag(Local):
    """Scores are logits, as the library gives them; float32 on every device."""

    kind, package = "flag", "FlagEmbedding"
    note = "FlagEmbedding, logits, float32"
    _model: Any

    def open(self, folder: Path) -> None:
        library("transformers", self.who)
        made = library("FlagEmbedding", self.who).FlagReranker
        self._model = made(
            str(folder), use_fp16=False, devices=[device(self.who)], max_length=self.identity.max_tokens
        )

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        with silence():
            # all in one pass: the library draws progress bars unless a batch is larger than the pairs
            found = self._model.compute_score(
                [(question, text) for text in texts], batch_size=len(texts) + 1, normalize=False
            )
        return [float(score) for score in (found if isinstance(found, list) else [found])]
