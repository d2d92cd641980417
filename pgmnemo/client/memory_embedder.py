"""A memory's embedder: a registered embedder, a callable, or nothing.

This module calls no embedder. The sync and async clients embed the `batches` of texts and pass the answers to
`vectors_by_text`, so a callable may be a coroutine function, and the client chooses the thread of a model.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from pgmnemo.client.embedder_forms import (
    embed_functions,
    is_coroutine_function,
    model_label,
    registered_embedder,
)
from pgmnemo.client.vectors import MAX_DIMENSIONS
from pgmnemo.errors import EmbedderError, UsageError

if TYPE_CHECKING:
    from pgmnemo.embedders import Embedder, TokenSpan

LOCAL, NONE = "local", "none"
LOCAL_NAME = "minilm-int8"
BATCH = 64
CALLER_VECTORS = "the caller's own vectors"
REMEDY = "open it with that one, change it by reembed, or keep this one's vectors in a tenant of their own"


class EmbedFunction(Protocol):
    """A function that returns one vector for each text, all of one width; it may be a coroutine function."""

    def __call__(self, texts: Sequence[str], /) -> Any: ...


Spans = Callable[[Sequence[str]], "list[list[TokenSpan]]"]


@dataclass(frozen=True, slots=True)
class EmbedderRecord:
    """The embedder that a tenant stores for its vectors: its name, its model and its dimensions."""

    embedder: str
    model: str
    dimensions: int


@dataclass(slots=True)
class MemoryEmbedder:
    """A memory's embedder: its functions, name and limits.

    `dimensions` is known after the first vectors, or for a registered embedder. `max_tokens` is the number of
    tokens that the embedder reads of a text; None if unknown.
    """

    name: str
    model: str
    documents: EmbedFunction
    queries: EmbedFunction
    batch: int = BATCH
    dimensions: int | None = None
    max_tokens: int | None = None  # including prefix and special tokens; None: unknown
    spans: Spans | None = None  # the tokens of texts; None: unknown
    prefixes: tuple[str, str] = ("", "")

    @property
    def documents_are_async(self) -> bool:
        """Return whether the document function is a coroutine function; see also `queries_are_async`."""
        return is_coroutine_function(self.documents)

    @property
    def queries_are_async(self) -> bool:
        """Return whether the question function is a coroutine function."""
        return is_coroutine_function(self.queries)

    def batches(self, texts: Sequence[str]) -> list[list[str]]:
        """Return distinct texts in batches of similar length."""
        ordered = sorted(dict.fromkeys(texts), key=len)
        return [ordered[start : start + self.batch] for start in range(0, len(ordered), self.batch)]

    def vectors_by_text(self, texts: Sequence[str], answer: Any) -> dict[str, Any]:
        """Return a mapping from each text to its vector; raise EmbedderError for an invalid answer."""
        rows = check_vectors(answer, len(texts), self.name)
        self._set_dimensions(rows.shape[1])
        return dict(zip(texts, rows, strict=True))

    def _set_dimensions(self, width: int) -> None:
        if self.dimensions not in (None, width):
            raise EmbedderError(
                f"{self.name} answered vectors of {width} numbers, and of {self.dimensions} before; "
                "one memory takes vectors of one width"
            )
        self.dimensions = width

    @property
    def record(self) -> EmbedderRecord:
        """Return the embedder's name, model and dimensions, as a tenant stores them."""
        assert self.dimensions is not None, "something was embedded"
        return EmbedderRecord(self.name, self.model, self.dimensions)


def memory_embedder(given: Any) -> MemoryEmbedder | None:
    """Return the memory's embedder for a value of `embedder=`, in any of the forms of `embedder_forms`.

    Raise UsageError for any other object, EmbedderError if the packages of a registered embedder are missing.
    """
    if given is None:
        return None
    if isinstance(given, str):
        name, _, options = given.partition(" ")
        if name == LOCAL:
            return _named_embedder(f"{LOCAL_NAME} {options}")
        return None if given == NONE else _named_embedder(given)
    if hasattr(given, "embed_documents") and hasattr(given, "identity"):
        identity = given.identity
        prefixes = identity.query_prefix, identity.document_prefix
        return _embedder(given, model_label(identity.model, *prefixes))
    own = embed_functions(given)
    return MemoryEmbedder(
        own.name, own.model, own.documents, own.queries, own.batch_size or BATCH, max_tokens=own.max_tokens
    )


def _named_embedder(text: str) -> MemoryEmbedder:
    from pgmnemo.embedders import EMBEDDERS

    if (name := text.partition(" ")[0]) not in EMBEDDERS:
        known = ", ".join([LOCAL, NONE, *EMBEDDERS])
        raise UsageError(f"there is no embedder named {name!r}; choose one of: {known}")
    embedder, model = registered_embedder(text)
    embedder.to_download()  # raises now if a package is missing
    return _embedder(embedder, model)


def _embedder(embedder: Embedder, model: str) -> MemoryEmbedder:
    identity = embedder.identity
    return MemoryEmbedder(
        identity.name, model, embedder.embed_documents, embedder.embed_queries,
        identity.batch_size, identity.dimensions, identity.max_tokens or None, _spans(embedder),
        (identity.query_prefix, identity.document_prefix),
    )  # fmt: skip


def _spans(embedder: Embedder) -> Spans | None:
    """Return the method that gives the tokens of texts; None if the embedder does not override it."""
    from pgmnemo.embedders import Embedder

    own = getattr(type(embedder), "token_spans", Embedder.token_spans)
    return None if own is Embedder.token_spans else embedder.token_spans  # type: ignore[return-value]


def check_vectors(answer: Any, count: int, name: str) -> Any:
    """Return an answer as a float32 matrix; raise EmbedderError unless it has a vector for each text."""
    rows, fault = _matrix(answer, count)
    if fault:
        raise EmbedderError(f"{name} answered {fault}; take another model")
    return rows


def _matrix(answer: Any, count: int) -> tuple[Any, str]:
    """Return vectors as a float32 matrix, and a description of their fault, empty if they are valid."""
    import numpy as np

    try:
        rows = np.asarray(answer, dtype=np.float32)
    except (ValueError, TypeError, OverflowError) as error:
        return None, f"no list of vectors ({error})"
    if rows.ndim != 2 or len(rows) != count:
        return rows, f"a matrix of {rows.shape} for {count} texts, not a row for each"
    if not 1 <= rows.shape[1] <= MAX_DIMENSIONS:
        return rows, f"vectors of {rows.shape[1]:,} numbers, and 1 to {MAX_DIMENSIONS:,} are stored"
    if not all(0 < np.dot(row, row) < math.inf for row in rows):
        return rows, "a vector without a length (zero or not finite)"
    return rows, ""


def check_same_embedder(remembered: EmbedderRecord | None, own: EmbedderRecord, tenant: str) -> None:
    """Raise UsageError if another embedder made a tenant's vectors."""
    if remembered is not None and remembered != own:
        raise UsageError(
            f"the vectors of the tenant {tenant} are of {_label(remembered)}, and this memory embeds with "
            f"{_label(own)}: their vectors cannot be compared; {REMEDY}"
        )


def _label(one: EmbedderRecord) -> str:
    told = ", ".join(part for part in (one.model, f"{one.dimensions} numbers") if part)
    return f"{one.embedder} ({told})"


def caller_vectors(vectors: Any, count: int) -> tuple[Any, EmbedderRecord]:
    """Return the caller's vectors as a matrix, and the embedder record to store for them.

    Raise UsageError for invalid vectors.
    """
    rows, fault = _matrix(vectors, count)
    if fault:
        raise UsageError(f"the given vectors will not do: {fault}; give numbers, as many in each")
    return rows, EmbedderRecord(CALLER_VECTORS, "", rows.shape[1])
