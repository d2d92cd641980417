"""Embedders convert texts to unit vectors: their interface, their options and their table."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NamedTuple, Protocol

import numpy as np
from cyclopts import Parameter

from pgmnemo.errors import EmbedderError, UsageError
from pgmnemo.models import check_numbers
from pgmnemo.models.store import cache_dir
from pgmnemo.progress import QUIET, Progress
from pgmnemo.records import EmbedderIdentity, Matrix
from pgmnemo.registry import Parts

TOKENS, BATCH = 512, 8  # defaults: tokens of a text, and texts of a batch


@dataclass(frozen=True, slots=True)
class EmbedderOptions:
    """The settings of an embedder; raises UsageError for a number that is not positive.

    `usual_batch` and `usual_tokens` are used if `batch_size` and `max_tokens` are not set, unless the model
    has its own limit.

    Args:
        model: local folder of the embedder's model; for the embedder endpoint, the model's name
        endpoint_url: OpenAI-compatible service of the embedder endpoint
        dimensions: width of the vectors, for the embedders endpoint and hash
        query_prefix: put before every question before it is embedded (default: the model's own)
        document_prefix: put before every text before it is embedded (default: the model's own)
        batch_size: texts embedded at once (default: the protocol's, or the model's)
        max_tokens: tokens of a text that the embedder reads (default: its own limit)
    """

    model: str | None = None
    endpoint_url: str | None = None
    dimensions: int | None = None
    query_prefix: str | None = None
    document_prefix: str | None = None
    batch_size: int | None = None
    max_tokens: int | None = None
    usual_tokens: Annotated[int, Parameter(parse=False)] = TOKENS
    usual_batch: Annotated[int, Parameter(parse=False)] = BATCH

    def __post_init__(self) -> None:
        check_numbers(self, positive=("dimensions", "batch_size", "max_tokens"))

    @property
    def tokens(self) -> int:
        """Return the maximum number of tokens that the embedder reads of a text."""
        return self.max_tokens or self.usual_tokens

    @property
    def folder(self) -> Path | None:
        """Return the local model folder; raise UsageError if it is not a folder."""
        if self.model is None:
            return None
        folder = Path(self.model).expanduser()
        if not folder.is_dir():
            raise UsageError(
                f"{self.model} is not a folder; give the local folder that holds the model's files"
            )
        return folder

    def identity(
        self,
        name: str,
        model: str,
        revision: str,
        dimensions: int,
        *,
        tokens: int,
        note: str,
        batch: int = 0,
        prefixes: tuple[str, str] = ("", ""),
    ) -> EmbedderIdentity:
        """Return the identity of an embedder with these options.

        `batch` and `prefixes` (question, document) are the model's own values; options of the user replace
        them.
        """
        query, document = prefixes
        return EmbedderIdentity(
            name=name,
            model=model,
            revision=revision,
            dimensions=dimensions,
            max_tokens=tokens,
            batch_size=self.batch_size or batch or self.usual_batch,
            query_prefix=query if self.query_prefix is None else self.query_prefix,
            document_prefix=document if self.document_prefix is None else self.document_prefix,
            note=note,
        )


class TokenSpan(NamedTuple):
    """A token of a text: its first character, the character after its last, and whether it is known.

    The unknown token is not known, nor is a single letter into which WordPiece splits a longer word.
    """

    start: int
    end: int
    known: bool


class Embedder(Protocol):
    """A model that converts texts to vectors.

    `identity` is known without importing torch. `load` may be called twice. `rows` takes one batch of texts
    with their prefixes and returns a float32 matrix (texts, `identity.dimensions`) of unit vectors in the
    same order; it loads the model first if needed. Several threads may call a `concurrent` embedder at once.
    An embedder with a separate model for questions overrides `embed_queries`.
    """

    identity: EmbedderIdentity
    concurrent: bool = False

    def to_download(self) -> int:
        """Return the number of bytes that `load` downloads first; raise ModelError if they are
        unavailable.
        """
        return 0

    def load(self, progress: Progress = QUIET) -> None:
        """Load the model into memory; raise EmbedderError if that is impossible."""
        return

    @abstractmethod
    def rows(self, texts: Sequence[str]) -> Matrix: ...

    def token_spans(self, texts: Sequence[str]) -> list[list[TokenSpan]] | None:
        """Return the tokens of each text, without special tokens and uncut; None if they are unknown.

        `identity.max_tokens` counts them with the prefix and the special tokens.
        """
        return None

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        """Return the vectors of texts, one row for each, with the document prefix."""
        return self.rows([self.identity.document_prefix + text for text in texts])

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        """Return the vectors of questions, one row for each, with the query prefix."""
        return self.rows([self.identity.query_prefix + text for text in texts])


EMBEDDERS: Parts[Callable[[EmbedderOptions], Embedder]] = Parts(
    "embedder",
    {
        "bge-m3": "pgmnemo.embedders.bge_m3:BgeM3",
        "dragon-plus": "pgmnemo.embedders.dragon_plus:DragonPlus",
        "minilm": "pgmnemo.embedders.minilm:MiniLM",
        "minilm-int8": "pgmnemo.embedders.minilm_int8:MiniLMInt8",
        "minilm-onnx": "pgmnemo.embedders.minilm_onnx:MiniLMOnnx",
        "multilingual-e5-small": "pgmnemo.embedders.hub_encoder:MultilingualE5Small",
        "e5-small-v2": "pgmnemo.embedders.hub_encoder:E5SmallV2",
        "arctic-embed-s": "pgmnemo.embedders.hub_encoder:ArcticEmbedS",
        "bge-small-en": "pgmnemo.embedders.hub_encoder:BgeSmallEn",
        "multilingual-e5-small-4bit": "pgmnemo.embedders.multilingual_e5_4bit:MultilingualE5FourBit",
        "endpoint": "pgmnemo.embedders.endpoint:Endpoint",
        "hash": "pgmnemo.embedders.hashing:FeatureHashing",
    },
)
PACKAGED = "minilm"  # its model is a package, so it needs no hub


def default_cache_dir(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of cached vectors: `embeddings` in this user's cache."""
    return cache_dir("embeddings", environ)


def pad(matrix: Matrix, width: int = 1024) -> Matrix:
    """Return a vector, or a matrix of vectors, padded with zeros to `width`; cosines do not change.

    Raise EmbedderError if the vectors are wider than `width`.
    """
    native = matrix.shape[-1]
    if native > width:
        raise EmbedderError(
            f"the embedder answers {native} dimensions and {width} are stored; "
            f"ask it for {width} or fewer, or take another model"
        )
    padded = np.zeros((*matrix.shape[:-1], width), dtype=np.float32)
    padded[..., :native] = matrix
    return padded


def unit_rows(matrix: Matrix) -> Matrix:
    """Return each row divided by its Euclidean length; rows of zeros or NaN are unchanged."""
    lengths = np.linalg.norm(matrix.astype(np.float64), axis=1, keepdims=True)
    usable = np.isfinite(lengths) & (lengths > 0)
    return (matrix / np.where(usable, lengths, 1.0)).astype(np.float32)
