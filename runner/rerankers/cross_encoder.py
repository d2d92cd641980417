"""Any cross-encoder that sentence-transformers loads, such as cross-encoder/ms-marco-MiniLM-L6-v2."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from runner.models.torch_runtime import device, library, silence
from runner.rerankers.local import Local


class CrossEncoder(Local):
    """Scores are the model's own, through its activation (for one label the logistic function)."""

    kind, package = "cross-encoder", "sentence_transformers"
    note = "sentence-transformers, float32"
    _model: Any

    def open(self, folder: Path) -> None:
        library("transformers", self.who)
        made = library("sentence_transformers", self.who).CrossEncoder
        self._model = made(
            str(folder), device=device(self.who), local_files_only=True, max_length=self.identity.max_tokens
        )

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        with silence():
            pairs = [(question, text) for text in texts]
            found = self._model.predict(pairs, batch_size=len(pairs), show_progress_bar=False)
        return [float(score) for score in found]
