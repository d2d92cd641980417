"""DRAGON+ through transformers, a query and a context encoder: the canonical embedder of LoCoMo."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from runner.embedders.options import EmbedderOptions
from runner.errors import EmbedderError
from runner.models.hub import HubModel, fetch, folder_revision, folder_width, to_download
from runner.models.torch_runtime import demand, device, library, silence
from runner.progress import QUIET, Progress
from runner.records import EmbedderIdentity

if TYPE_CHECKING:
    from runner.records import Matrix

FILES = ("config.json", "pytorch_model.bin", "special_tokens_map.json", "tokenizer_config.json", "vocab.txt")
VOCABULARY = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"  # that of bert-base-uncased

QUERY = HubModel(
    repository="facebook/dragon-plus-query-encoder",
    revision="2d3808c087119b953f8494b7638c216c71712cee",
    weights="pytorch_model.bin",
    files=FILES,
    sha256={
        "pytorch_model.bin": "c6eb0b85010b03dd634fa2a035591f3d8c5bc6ac1188c50a7e3f811526d995f7",
        "vocab.txt": VOCABULARY,
    },
)
CONTEXT = HubModel(
    repository="facebook/dragon-plus-context-encoder",
    revision="3ff012a4e6cd08abb806dc890bc71e794d56265c",
    weights="pytorch_model.bin",
    files=FILES,
    sha256={
        "pytorch_model.bin": "9dce73ee03a6e99fc6442e789b2ace0b65057d509bfbc6042e71624692208266",
        "vocab.txt": VOCABULARY,
    },
)

WHO = "the embedder dragon-plus"


@dataclass(frozen=True, slots=True)
class Encoder:
    """One loaded half of DRAGON+."""

    tokenizer: Any
    model: Any
    device: str


class DragonPlus:
    """CLS vectors of 768 dimensions, divided by their length (arXiv:2302.07452).

    A local folder holds two, `dragon-plus-query-encoder` and `dragon-plus-context-encoder`.
    """

    def __init__(self, options: EmbedderOptions) -> None:
        self._folders = {half: _subfolder(options.folder, half) for half in (QUERY, CONTEXT)}
        self._encoders: dict[str, Encoder] = {}
        self.identity = EmbedderIdentity(
            name="dragon-plus",
            model=f"{QUERY.repository} + {CONTEXT.repository.split('/')[1]}",
            revision=" + ".join(_revision(half, folder) for half, folder in self._folders.items()),
            dimensions=_width(self._folders, options.tokens),
            max_tokens=options.tokens,
            batch_size=options.batch,
            query_prefix=options.query_prefix,
            document_prefix=options.document_prefix,
            note="CLS pooling, float32; trained for the dot product, here divided by its length, "
            "because the protocol ranks by cosine",
        )

    def to_download(self) -> int:
        demand("transformers", WHO)
        return sum(to_download(half, WHO) for half, folder in self._folders.items() if not folder)

    def load(self, progress: Progress = QUIET) -> None:
        """Load both encoders; EmbedderError if a library is missing or a model cannot be had."""
        if self._encoders:
            return
        with silence():
            demand("transformers", WHO)
            folders = {half: folder or fetch(half, WHO, progress) for half, folder in self._folders.items()}
            transformers = library("transformers", WHO)
            place = device(WHO)
            self._encoders = {
                half.repository: _encoder(transformers, folder, place) for half, folder in folders.items()
            }

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        return self._embed(CONTEXT, self.identity.document_prefix, texts)

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        return self._embed(QUERY, self.identity.query_prefix, texts)

    def _embed(self, half: HubModel, prefix: str, texts: Sequence[str]) -> Matrix:
        self.load()
        torch = library("torch", WHO)
        encoder = self._encoders[half.repository]
        with silence(), torch.inference_mode():
            tokens = encoder.tokenizer(
                [prefix + text for text in texts],
                padding=True,
                truncation=True,
                max_length=self.identity.max_tokens,
                return_tensors="pt",
            ).to(encoder.device)
            first = encoder.model(**tokens).last_hidden_state[:, 0, :]
            rows = torch.nn.functional.normalize(first, dim=1).cpu().numpy()
        return np.asarray(rows, dtype=np.float32)


def _encoder(transformers: Any, folder: Path, place: str) -> Encoder:
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
    model = transformers.AutoModel.from_pretrained(str(folder), local_files_only=True)
    return Encoder(tokenizer, model.to(place).float().eval(), place)


def _subfolder(folder: Path | None, half: HubModel) -> Path | None:
    if folder is None:
        return None
    place = folder / half.repository.split("/")[1]
    if not place.is_dir():
        raise EmbedderError(
            f"{folder} has no folder {place.name}; put {half.repository} there, beside its other half"
        )
    return place


def _revision(half: HubModel, folder: Path | None) -> str:
    return folder_revision(folder, half) if folder else half.revision


def _width(folders: dict[HubModel, Path | None], max_tokens: int) -> int:
    widths = {folder_width(folder, max_tokens) if folder else 768 for folder in folders.values()}
    if len(widths) > 1:
        raise EmbedderError(f"the two encoders of dragon-plus differ in width: {sorted(widths)}; give a pair")
    return widths.pop()
