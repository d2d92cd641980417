"""A memory's embedder: a registered embedder, a callable, or nothing.

The sync and async clients take batches (`asks`) and hand the vectors back (`answered`); nothing here waits.
So a callable may be a coroutine function, and a model runs in any thread that the client provides.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from pgmnemo.client.embedder_forms import functions_of, is_coroutine_function, registered, remembered_model
from pgmnemo.client.vectors import WIDTH
from pgmnemo.errors import EmbedderError, UsageError

if TYPE_CHECKING:
    from pgmnemo.embedders import Embedder, TokenSpan

LOCAL = "local"
LOCAL_NAME = "minilm-int8"
BATCH = 64
OWN = "the caller's own vectors"
REMEDY = "open it with that one, change it by reembed, or keep this one's vectors in a tenant of their own"


class Called(Protocol):
    """Texts to vectors, one for each, all of one width; it may be a coroutine function."""

    def __call__(self, texts: Sequence[str], /) -> Any: ...


Spans = Callable[[Sequence[str]], "list[list[TokenSpan]]"]


@dataclass(frozen=True, slots=True)
class Remembered:
    """The embedder that a tenant remembers for its vectors: `dimensions` numbers each, by `model`."""

    embedder: str
    model: str
    dimensions: int


@dataclass(slots=True)
class Embedding:
    """A memory's embedder: its functions, name and limits.

    `dimensions` is known after the first vectors, or for a registered embedder. `max_tokens` is the number of
    tokens that the embedder reads of a text; None if unknown.
    """

    name: str
    model: str
    documents: Called
    queries: Called
    batch: int = BATCH
    dimensions: int | None = None
    max_tokens: int | None = None  # that the model reads, with prefix and special tokens; None: unknown
    spans: Spans | None = None  # the tokens of texts; None: unknown
    prefixes: tuple[str, str] = ("", "")

    @property
    def asynchronous(self) -> bool:
        """Return whether the document function is a coroutine function; see also `asks_asynchronously`."""
        return is_coroutine_function(self.documents)

    @property
    def asks_asynchronously(self) -> bool:
        """Return whether the question function is a coroutine function."""
        return is_coroutine_function(self.queries)

    def asks(self, texts: Sequence[str]) -> list[list[str]]:
        """Yield distinct texts in batches of similar length."""
        ordered = sorted(dict.fromkeys(texts), key=len)
        return [ordered[start : start + self.batch] for start in range(0, len(ordered), self.batch)]

    def answered(self, texts: Sequence[str], answer: Any) -> dict[str, Any]:
        """Return a mapping from each text to its vector; raise EmbedderError for an invalid answer."""
        rows = checked(answer, len(texts), self.name)
        self._hold(rows.shape[1])
        return dict(zip(texts, rows, strict=True))

    def _hold(self, width: int) -> None:
        if self.dimensions not in (None, width):
            raise EmbedderError(
                f"{self.name} answered vectors of {width} numbers, and of {self.dimensions} before; "
                "one memory takes vectors of one width"
            )
        self.dimensions = width

    @property
    def remembered(self) -> Remembered:
        """Return the embedder's name, model and dimensions, for the tenant to remember."""
        assert self.dimensions is not None, "something was embedded"
        return Remembered(self.name, self.model, self.dimensions)


def embedding_of(given: Any) -> Embedding | None:
    """Return the embedding for a value of `embedder=`, in any of the forms of `embedder_forms`.

    Raise UsageError for any other object, EmbedderError if the packages of a registered embedder are missing.
    """
    if given is None:
        return None
    if isinstance(given, str):
        name, _, options = given.partition(" ")
        return _registered(f"{LOCAL_NAME} {options}" if name == LOCAL else given)
    if hasattr(given, "embed_documents") and hasattr(given, "identity"):
        identity = given.identity
        prefixes = identity.query_prefix, identity.document_prefix
        return _embedder(given, remembered_model(identity.model, *prefixes))
    own = functions_of(given)
    return Embedding(
        own.name, own.model, own.documents, own.queries, own.batch_size or BATCH, max_tokens=own.max_tokens
    )


def _registered(text: str) -> Embedding:
    embedder, model = registered(text)
    embedder.to_download()  # a package that is missing is said now
    return _embedder(embedder, model)


def _embedder(embedder: Embedder, model: str) -> Embedding:
    identity = embedder.identity
    return Embedding(
        identity.name, model, embedder.embed_documents, embedder.embed_queries,
        identity.batch_size, identity.dimensions, identity.max_tokens or None, _spans(embedder),
        (identity.query_prefix, identity.document_prefix),
    )  # fmt: skip


def _spans(embedder: Embedder) -> Spans | None:
    """Return the tokens of texts, where a class of embedder has a way of its own to tell."""
    from pgmnemo.embedders import Embedder

    own = getattr(type(embedder), "token_spans", Embedder.token_spans)
    return None if own is Embedder.token_spans else embedder.token_spans  # type: ignore[return-value]


def checked(answer: Any, count: int, name: str) -> Any:
    """Return an answer as a float32 matrix; raise EmbedderError unless it has a vector for each text."""
    rows, fault = _matrix(answer, count)
    if fault:
        raise EmbedderError(f"{name} answered {fault}; take another model")
    return rows


def _matrix(answer: Any, count: int) -> tuple[Any, str]:
    """Return vectors as a float32 matrix, and their fault."""
    import numpy as np

    try:
        rows = np.asarray(answer, dtype=np.float32)
    except (ValueError, TypeError, OverflowError) as error:
        return None, f"no list of vectors ({error})"
    if rows.ndim != 2 or len(rows) != count:
        return rows, f"a matrix of {rows.shape} for {count} texts, not a row for each"
    if not 1 <= rows.shape[1] <= WIDTH:
        return rows, f"vectors of {rows.shape[1]:,} numbers, and 1 to {WIDTH:,} are stored"
    if not all(0 < np.dot(row, row) < math.inf for row in rows):
        return rows, "a vector without a length (zero or not finite)"
    return rows, ""


def check(remembered: Remembered | None, own: Remembered, tenant: str) -> None:
    """Refuse an embedder that did not make a tenant's vectors."""
    if remembered is not None and remembered != own:
        raise UsageError(
            f"the vectors of the tenant {tenant} are of {_named(remembered)}, and this memory embeds with "
            f"{_named(own)}: their vectors cannot be compared; {REMEDY}"
        )


def _named(one: Remembered) -> str:
    told = ", ".join(part for part in (one.model, f"{one.dimensions} numbers") if part)
    return f"{one.embedder} ({told})"


def given(vectors: Any, count: int) -> tuple[Any, Remembered]:
    """Return the caller's vectors as rows, and the embedder to remember for them; raise UsageError without
    vectors.
    """
    rows, fault = _matrix(vectors, count)
    if fault:
        raise UsageError(f"the given vectors will not do: {fault}; give numbers, as many in each")
    return rows, Remembered(OWN, "", rows.shape[1])
