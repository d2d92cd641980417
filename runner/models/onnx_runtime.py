"""A graph in the ONNX format and its tokenizer, run by onnxruntime on the processor: no torch is needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from runner.errors import ModelError
from runner.models.torch_runtime import first_line, library, usable_cores

INPUTS = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}
EXTRA = "onnx"

Tokens = NDArray[np.int64]


class Graph:
    """A loaded graph. `who` needs it, and reads at most so many `tokens` of a text.

    ModelError that ends in `mend` where the file is no graph, and where the tokenizer cannot be read.
    """

    def __init__(self, graph: Path, tokenizer: Path, tokens: int, who: str, mend: str) -> None:
        runtime, readers = library("onnxruntime", who, EXTRA), library("tokenizers", who, EXTRA)
        settings = runtime.SessionOptions()
        settings.intra_op_num_threads = usable_cores()
        settings.add_session_config_entry("session.intra_op.allow_spinning", "0")
        settings.log_severity_level = 4  # what goes wrong is told by the error
        try:
            self._session = runtime.InferenceSession(str(graph), settings, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime has a tree of its own
            raise ModelError(
                f"{graph} cannot be loaded by onnxruntime ({type(error).__name__}: {first_line(error)}); "
                f"{mend}"
            ) from error
        try:
            self._tokenizer = readers.Tokenizer.from_file(str(tokenizer))
        except Exception as error:  # a bare Exception, whatever is wrong with the file
            raise ModelError(f"{tokenizer} is no tokenizer ({first_line(error)}); {mend}") from None
        self._tokenizer.enable_truncation(tokens)
        self._tokenizer.enable_padding()

    @property
    def inputs(self) -> list[str]:
        """Names of what the graph takes."""
        return [one.name for one in self._session.get_inputs()]

    def read(self, texts: Sequence[Any]) -> dict[str, Tokens]:
        """The columns of texts, or of pairs of them: ids, mask and types, each (texts, longest)."""
        read = self._tokenizer.encode_batch(list(texts))
        return {
            name: np.array([getattr(one, attribute) for one in read], dtype=np.int64)
            for name, attribute in INPUTS.items()
        }

    def run(self, columns: Mapping[str, Tokens]) -> NDArray[Any]:
        """The first of the graph's answers."""
        wanted = {name: columns[name] for name in self.inputs if name in columns}
        return np.asarray(self._session.run(None, wanted)[0])
