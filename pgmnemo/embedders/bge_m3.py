"""BAAI/bge-m3 through FlagEmbedding: the canonical embedder of LongMemEval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pgmnemo.embedders import Embedder, EmbedderOptions
from pgmnemo.models.hub import HubModel
from pgmnemo.models.runtime import demand, device, library, loading, silence
from pgmnemo.progress import QUIET, Progress
from pgmnemo.records import Matrix

BGE_M3 = HubModel(
    repository="BAAI/bge-m3",
    revision="5617a9f61b028005a4858fdac845db406aefb181",
    weights="pytorch_model.bin",
    files=(
        "config.json", "pytorch_model.bin", "colbert_linear.pt", "sparse_linear.pt",
        "sentencepiece.bpe.model", "special_tokens_map.json", "tokenizer.json", "tokenizer_config.json",
    ),
    sha256={
        "pytorch_model.bin": "b5e0ce3470abf5ef3831aa1bd5553b486803e83251590ab7ff35a117cf6aad38",
        "tokenizer.json": "21106b6d7dab2952c1d496fb21d5dc9db75c28ed361a05f5020bbba27810dd08",
    },
    width=1024,
)  # fmt: skip

WHO = "the embedder bge-m3"


class BgeM3(Embedder):
    """Embed texts by the dense vector of bge-m3: CLS pooling, unit length, 1,024 dimensions
    (arXiv:2402.03216).

    It computes in float32 on every device, where the library would use half precision by default: the device
    is not part of the identity, so it must not decide the number format.
    """

    def __init__(self, options: EmbedderOptions) -> None:
        self._folder = options.folder
        self._model: Any = None
        revision, width = BGE_M3.known(self._folder, options.tokens)
        self.identity = options.identity(
            "bge-m3",
            BGE_M3.repository,
            revision,
            width,
            tokens=options.tokens,
            note="dense vector, CLS pooling, normalised, float32",
        )

    def to_download(self) -> int:
        demand("FlagEmbedding", WHO)
        return 0 if self._folder else BGE_M3.to_download(WHO)

    def load(self, progress: Progress = QUIET) -> None:
        """Load the model; raise EmbedderError if a library is missing or the model cannot be had."""
        if self._model is not None:
            return
        demand("FlagEmbedding", WHO)
        with silence():
            folder = self._folder or BGE_M3.fetch(WHO, progress)
        with loading(folder):
            library("transformers", WHO)
            flag_embedding = library("FlagEmbedding", WHO)
            self._model = flag_embedding.BGEM3FlagModel(
                str(folder), use_fp16=False, normalize_embeddings=True, devices=[device(WHO)]
            )

    def rows(self, texts: Sequence[str]) -> Matrix:
        self.load()
        with silence():
            rows = self._model.encode(
                list(texts),
                batch_size=len(texts) + 1,  # one pass; the library draws progress bars for several
                max_length=self.identity.max_tokens,
                return_dense=True,
                return_sparse=False,
                return_colbert_vecs=False,
            )["dense_vecs"]
        return np.asarray(rows, dtype=np.float32)
