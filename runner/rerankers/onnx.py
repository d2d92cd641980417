"""A cross-encoder as an ONNX graph, run by onnxruntime: no torch is needed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from runner.errors import ModelError
from runner.models.torch_runtime import library
from runner.rerankers.local import Local


class Onnx(Local):
    """`model.onnx`, or the same in a folder `onnx`, beside a tokenizer.json. Scores are logits."""

    kind, package = "onnx", "onnxruntime"
    note = "onnxruntime, logits, as the graph computes them"
    weights = ("model.onnx", "onnx/model.onnx")
    _session: Any
    _tokenizer: Any

    def open(self, folder: Path) -> None:
        graph = next(folder / name for name in self.weights if (folder / name).is_file())
        tokenizer = folder / "tokenizer.json"
        if not tokenizer.is_file():
            raise ModelError(
                f"{folder} has no tokenizer.json; take a folder that holds it beside {graph.name}"
            )
        runtime = library("onnxruntime", self.who)
        try:
            self._session = runtime.InferenceSession(str(graph), providers=["CPUExecutionProvider"])
        except Exception as error:  # a tree of its own, which derives from nothing else
            raise ModelError(
                f"{graph} is no ONNX graph ({str(error).splitlines()[0]}); take another"
            ) from None
        self._tokenizer = library("tokenizers", self.who).Tokenizer.from_file(str(tokenizer))
        self._tokenizer.enable_truncation(self.identity.max_tokens)
        self._tokenizer.enable_padding()

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        made = self._tokenizer.encode_batch([(question, text) for text in texts])
        columns = {
            "input_ids": [one.ids for one in made],
            "attention_mask": [one.attention_mask for one in made],
            "token_type_ids": [one.type_ids for one in made],
        }
        wanted = [one.name for one in self._session.get_inputs()]
        if unknown := [name for name in wanted if name not in columns]:
            raise ModelError(f"the graph of the reranker wants {', '.join(unknown)}; take another model")
        given = {name: np.array(columns[name], dtype=np.int64) for name in wanted}
        logits = np.asarray(self._session.run(None, given)[0], dtype=np.float64)
        if logits.size != len(texts):
            raise ModelError(
                f"the graph answers {logits.shape}, and a reranker one score a text; take another"
            )
        return [float(score) for score in logits.reshape(-1)]
