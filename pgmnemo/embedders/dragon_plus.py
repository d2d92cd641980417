"""DRAGON+ through transformers, a query and a context encoder: the canonical embedder of LoCoMo."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pgmnemo.embedders import Embedder, EmbedderOptions
from pgmnemo.errors import EmbedderError
from pgmnemo.models.hub import HubModel
from pgmnemo.models.runtime import demand, device, library, loading, silence
from pgmnemo.progress import QUIET, Progress
from pgmnemo.records import Matrix

FILES = ("config.json", "pytorch_model.bin", "special_tokens_map.json", "tokenizer_config.json", "vocab.txt")
VOCABULARY = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"  # that of bert-base-uncased


def _half(name: str, commit: str, weights: str) -> HubModel:
    hashes = {"pytorch_model.bin": weights, "vocab.txt": VOCABULARY}
    return HubModel(f"facebook/dragon-plus-{name}-encoder", commit, "pytorch_model.bin", FILES, hashes, 768)


QUERY = _half(
    "query",
    "2d3808c087119b953f8494b7638c216c71712cee",
    "c6eb0b85010b03dd634fa2a035591f3d8c5bc6ac1188c50a7e3f811526d995f7",
)
CONTEXT = _half(
    "context",
    "3ff012a4e6cd08abb806dc890bc71e794d56265c",
    "9dce73ee03a6e99fc6442e789b2ace0b65057d509bfbc6042e71624692208266",
)

WHO = "the embedder dragon-plus"


class DragonPlus(Embedder):
    """Embed texts by the CLS vectors of DRAGON+, scaled to unit length: 768 dimensions (arXiv:2302.07452).

    A local folder contains two models, `dragon-plus-query-encoder` and `dragon-plus-context-encoder`.
    """

    def __init__(self, options: EmbedderOptions) -> None:
        self._folders = {half: _subfolder(options.folder, half) for half in (QUERY, CONTEXT)}
        self._encoders: dict[HubModel, tuple[Any, Any]] = {}  # tokenizer and model of each half
        known = [half.known(folder, options.tokens) for half, folder in self._folders.items()]
        if len(widths := sorted({width for _, width in known})) > 1:
            raise EmbedderError(f"the two encoders of dragon-plus differ in width: {widths}; give a pair")
        self.identity = options.identity(
            "dragon-plus",
            f"{QUERY.repository} + {CONTEXT.repository.split('/')[1]}",
            " + ".join(revision for revision, _ in known),
            widths[0],
            tokens=options.tokens,
            note="CLS pooling, float32; trained for the dot product, here divided by its length, "
            "because the protocol ranks by cosine",
        )

    def to_download(self) -> int:
        demand("transformers", WHO)
        return sum(half.to_download(WHO) for half, folder in self._folders.items() if not folder)

    def load(self, progress: Progress = QUIET) -> None:
        """Load both encoders; raise EmbedderError if a library is missing or a model cannot be had."""
        if self._encoders:
            return
        with silence():
            demand("transformers", WHO)
            folders = {half: folder or half.fetch(WHO, progress) for half, folder in self._folders.items()}
            transformers = library("transformers", WHO)
            place, loaded = device(WHO), {}
        for half, folder in folders.items():
            with loading(folder):
                tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
                model = transformers.AutoModel.from_pretrained(str(folder), local_files_only=True)
                loaded[half] = tokenizer, model.to(place).float().eval()
        self._encoders = loaded

    def rows(self, texts: Sequence[str]) -> Matrix:
        return self._rows(CONTEXT, texts)

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        return self._rows(QUERY, [self.identity.query_prefix + text for text in texts])

    def _rows(self, half: HubModel, texts: Sequence[str]) -> Matrix:
        self.load()
        torch = library("torch", WHO)
        tokenizer, model = self._encoders[half]
        with silence(), torch.inference_mode():
            tokens = tokenizer(
                list(texts),
                padding=True,
                truncation=True,
                max_length=self.identity.max_tokens,
                return_tensors="pt",
            ).to(model.device)
            first = model(**tokens).last_hidden_state[:, 0, :]
            rows = torch.nn.functional.normalize(first, dim=1).cpu().numpy()
        return np.asarray(rows, dtype=np.float32)


def _subfolder(folder: Path | None, half: HubModel) -> Path | None:
    if folder is None:
        return None
    place = folder / half.repository.split("/")[1]
    if not place.is_dir():
        raise EmbedderError(
            f"{folder} has no folder {place.name}; put {half.repository} there, beside its other half"
        )
    return place
