"""A cross-encoder as an ONNX graph, run by onnxruntime: no torch is needed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from runner.errors import ModelError
from runner.models.onnx_runtime import EXTRA, INPUTS, Graph
from runner.rerankers.local import Local

MEND = "take another model"


class Onnx(Local):
    """`model.onnx`, or the same in a folder `onnx`, beside a tokenizer.json. Scores are logits."""

    kind, package, extra = "onnx", "onnxruntime", EXTRA
    note = "onnxruntime, logits, as the graph computes them"
    weights = ("model.onnx", "onnx/model.onnx")
    _graph: Graph

    def open(self, folder: Path) -> None:
        graph = next(folder / name for name in self.weights if (folder / name).is_file())
        tokenizer = folder / "tokenizer.json"
        if not tokenizer.is_file():
            raise ModelError(
                f"{folder} has no tokenizer.json; take a folder that holds it beside {graph.name}"
            )
        made = Graph(graph, tokenizer, self.identity.max_tokens, self.who, MEND)
        if unknown := [name for name in made.inputs if name not in INPUTS]:
            raise ModelError(f"the graph {graph} wants {', '.join(unknown)}; {MEND}")
        self._graph = made

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        columns = self._graph.read([(question, text) for text in texts])
        logits = self._graph.run(columns).astype(np.float64)
        if logits.size != len(texts):
            raise ModelError(
                f"the graph answers {logits.shape} for {len(texts)} texts, not one score each; {MEND}"
            )
        return [float(score) for score in logits.reshape(-1)]
