"""Small encoders of the Hugging Face hub through transformers; vectors are pooled states of unit length.

Each model is pinned by its commit, which fixes every file of the model. The hub was not reachable during
development: commits and hashes are those that several public projects record alike. A hash with fewer than
two such records is left out, and only the commit decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, Literal

import numpy as np

from pgmnemo.embedders import Embedder, EmbedderOptions
from pgmnemo.errors import ModelError, UsageError
from pgmnemo.models.hub import HubModel
from pgmnemo.models.runtime import demand, device, library, loading, silence
from pgmnemo.progress import QUIET, Progress
from pgmnemo.records import Matrix

WEIGHTS, TOKENIZER = "model.safetensors", "tokenizer.json"
FILES = ("config.json", WEIGHTS, TOKENIZER, "tokenizer_config.json", "special_tokens_map.json")
POSITIONS = 512
E5_PREFIXES = ("query: ", "passage: ")
SEARCH_PREFIXES = ("Represent this sentence for searching relevant passages: ", "")


def _small(repository: str, revision: str, weights: str = "", tokenizer: str = "") -> HubModel:
    """Return a model of 384 dimensions; `weights` and `tokenizer` are the hashes of these files."""
    if not weights:
        return HubModel(repository, revision, files=FILES, width=384)
    return HubModel(repository, revision, WEIGHTS, FILES, {WEIGHTS: weights, TOKENIZER: tokenizer}, 384)


class HubEncoder(Embedder):
    """An encoder with 512 positions, float32; `model` is a local folder with its files.

    A subclass names the model, its prefixes (question, document), the pooling, and, if there is an equivalent
    embedder that needs no hub, this embedder in `instead`.
    """

    name: ClassVar[str]
    hub: ClassVar[HubModel]
    prefixes: ClassVar[tuple[str, str]]
    pooling: ClassVar[Literal["mean", "CLS"]]
    instead: ClassVar[str] = ""

    def __init__(self, options: EmbedderOptions) -> None:
        if options.tokens > POSITIONS:
            raise UsageError(
                f"{self.name} takes at most {POSITIONS} tokens, not {options.tokens}; set fewer max_tokens"
            )
        self._folder = options.folder
        self._loaded: tuple[Any, Any] | None = None  # tokenizer and model
        revision, width = self.hub.known(self._folder, options.tokens)
        self.identity = options.identity(
            self.name,
            self.hub.repository,
            revision,
            width,
            tokens=options.tokens,
            note=f"{self.pooling} pooling, normalised, float32",
            prefixes=self.prefixes,
        )

    @property
    def _who(self) -> str:
        return f"the embedder {self.name}"

    def to_download(self) -> int:
        with self._or_instead():
            demand("transformers", self._who)
            return 0 if self._folder else self.hub.to_download(self._who)

    def load(self, progress: Progress = QUIET) -> None:
        """Load the model; raise ModelError if a library is missing or the model cannot be had."""
        if self._loaded is not None:
            return
        with silence(), self._or_instead():
            demand("transformers", self._who)
            folder = self._folder or self.hub.fetch(self._who, progress)
            transformers = library("transformers", self._who)
            place = device(self._who)
        with loading(folder):
            tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
            model = transformers.AutoModel.from_pretrained(str(folder), local_files_only=True)
            self._loaded = tokenizer, model.to(place).float().eval()

    def rows(self, texts: Sequence[str]) -> Matrix:
        self.load()
        assert self._loaded is not None, "loaded just now"
        if not texts:
            return np.empty((0, self.identity.dimensions), dtype=np.float32)
        torch = library("torch", self._who)
        tokenizer, model = self._loaded
        with silence(), torch.inference_mode():
            tokens = tokenizer(
                list(texts),
                padding=True,
                truncation=True,
                max_length=self.identity.max_tokens,
                return_tensors="pt",
            ).to(model.device)
            states = model(**tokens).last_hidden_state
            pooled = states[:, 0, :] if self.pooling == "CLS" else _mean(states, tokens["attention_mask"])
            rows = torch.nn.functional.normalize(pooled, dim=1).cpu().numpy()
        return np.asarray(rows, dtype=np.float32)

    @contextmanager
    def _or_instead(self) -> Iterator[None]:
        """Add the embedder `instead`, which needs no hub, to a ModelError raised in the block."""
        try:
            yield
        except ModelError as error:
            if not self.instead:
                raise
            raise type(error)(f"{error}; or take {self.instead}, whose weights are a package") from None


def _mean(states: Any, mask: Any) -> Any:
    """Return the mean of the token states of each text; `mask` excludes padding."""
    weights = mask.unsqueeze(-1).to(states.dtype)
    return (states * weights).sum(dim=1) / weights.sum(dim=1)


class MultilingualE5Small(HubEncoder):
    """multilingual-e5-small, for about a hundred languages (arXiv:2402.05672)."""

    name = "multilingual-e5-small"
    hub = _small(
        "intfloat/multilingual-e5-small",
        "fd1525a9fd15316a2d503bf26ab031a61d056e98",
        "1a55775f53449dac10a2bcbc312469fac40b96d53198c407081a831f81c98477",
        "0b44a9d7b51c3c62626640cda0e2c2f70fdacdc25bbbd68038369d14ebdf4c39",
    )
    prefixes, pooling = E5_PREFIXES, "mean"
    instead = "multilingual-e5-small-4bit"


class E5SmallV2(HubEncoder):
    """e5-small-v2, for English (arXiv:2212.03533)."""

    name = "e5-small-v2"
    hub = _small("intfloat/e5-small-v2", "ffb93f3bd4047442299a41ebb6fa998a38507c52")
    prefixes, pooling = E5_PREFIXES, "mean"


class ArcticEmbedS(HubEncoder):
    """arctic-embed-s, for English (arXiv:2405.05374)."""

    name = "arctic-embed-s"
    hub = _small("Snowflake/snowflake-arctic-embed-s", "e596f507467533e48a2e17c007f0e1dacc837b33")
    prefixes, pooling = SEARCH_PREFIXES, "CLS"


class BgeSmallEn(HubEncoder):
    """bge-small-en-v1.5, for English (arXiv:2309.07597)."""

    name = "bge-small-en"
    hub = _small(
        "BAAI/bge-small-en-v1.5",
        "5c38ec7c405ec4b44b94cc5a9bb96e735b38267a",
        "3c9f31665447c8911517620762200d2245a2518d6e7208acc78cd9db317e21ad",
        "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
    )
    prefixes, pooling = SEARCH_PREFIXES, "CLS"
