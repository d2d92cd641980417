"""LangChain: a vector store and a retriever over one project of a memory.

A document is a lesson: its id is the key, and its metadata are the lesson's. Vectors come from an
`Embeddings`, or without it from the memory's own embedder. Filters are documents of metadata: `{"lang": "de",
"year": {"$gte": 2020}, "$or": [{"tag": "a"}, {"tag": {"$exists": False}}]}`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Self
from uuid import uuid4

from pgmnemo import calls
from pgmnemo.client import scope_calls
from pgmnemo.client.aio.scope import AsyncScope
from pgmnemo.client.arguments import check, check_arguments
from pgmnemo.client.embed_plan import random_vector
from pgmnemo.client.records import Hit, Item, Lesson
from pgmnemo.client.sync.scope import Scope
from pgmnemo.errors import UsageError
from pgmnemo.integrations.documents import (
    BLANK,
    BLANKS,
    KEPT,
    DocumentStore,
    await_answer,
    is_blank,
    missing_package,
    sync_and_async,
)
from pgmnemo.integrations.langchain_filters import conditions

try:
    from langchain_core.documents import Document
    from langchain_core.embeddings import Embeddings
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.vectorstores import VectorStore
    from langchain_core.vectorstores.utils import maximal_marginal_relevance
    from pydantic import Field, PrivateAttr
except ModuleNotFoundError:
    raise missing_package("langchain-core", "langchain") from None

TEXT = "pgmnemo:text"  # the metadata key of a text without a word


@check_arguments
class PgmnemoVectorStore(VectorStore):
    """Documents in one project of a memory.

    scope: a scope of a `Memory`, for both kinds of methods, or of an `AsyncMemory`, for asynchronous methods.
    embedding: makes the vectors; None: the memory's embedder, if it has one.
    mode: the default ranking of searches: `vector` (cosine, the default of LangChain), `hybrid` (words,
        meaning and time: the memory's own score) or `keyword`.

    The methods raise PgmnemoErrors: UsageError for another embedder than the tenant's, an id over 1,000
    bytes, or an invalid filter.
    """

    def __init__(
        self, scope: Scope | AsyncScope, embedding: Embeddings | None = None, *, mode: str = "vector"
    ) -> None:
        self._documents, self._embedding, self._mode = DocumentStore(scope), embedding, mode
        scope._require_project()  # writes need a project

    @property
    def embeddings(self) -> Embeddings | None:
        """Return the embeddings that make the vectors; None if the memory makes them."""
        return self._embedding

    # Writing

    async def _add_texts(
        self,
        texts: Iterable[str],
        metadatas: Sequence[Mapping[str, Any] | None] | None = None,
        *,
        ids: Sequence[str | None] | None = None,
        **kwargs: Any,
    ) -> list[str]:
        """Store texts, each in place of the lesson with its id, and return the ids.

        A new id is made for each None. Other keywords, such as `batch_size`, are ignored.
        """
        told = list(texts)
        check("texts", told, list[str])
        for name, given in (("metadatas", metadatas), ("ids", ids)):
            if given and len(given) != len(told):
                raise ValueError(f"{len(told)} texts and {len(given)} {name} were given; give one for each")
        wanted: Sequence[str | None] = ids or [None] * len(told)
        keys = [uuid4().hex if key is None else key for key in wanted]
        own = self._embedding is None or not told
        vectors = [None] * len(told) if own else await self._vectors(told)
        rows = zip(told, metadatas or [{}] * len(told), keys, vectors, strict=True)
        await self._documents.add([_item(*row) for row in rows])
        return keys

    add_texts, aadd_texts = sync_and_async(_add_texts)

    async def _delete(
        self, ids: list[str] | None = None, *, filter: Mapping[str, Any] | None = None, **kwargs: Any
    ) -> bool | None:
        """Delete documents permanently by their ids, or all that match a filter; without both, all of the
        project.

        Unknown ids are ignored.
        """
        if kwargs:
            raise TypeError(f"delete takes ids or filter, not {', '.join(kwargs)}")
        if ids is not None and filter is not None:
            raise UsageError("delete takes ids or filter, not both")
        if filter is not None:
            await self._documents.delete_matching(conditions(filter))
        elif ids is not None:
            await self._documents.delete(ids)
        else:
            await self._documents.clear()
        return True

    delete, adelete = sync_and_async(_delete)

    # Reading

    async def _get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """Return the existing documents with these ids."""
        return [_document(lesson) for lesson in await self._documents.get(ids)]

    get_by_ids, aget_by_ids = sync_and_async(_get_by_ids)

    async def _similarity_search_with_score(
        self,
        query: str,
        k: int = 4,
        *,
        filter: Mapping[str, Any] | None = None,
        mode: str | None = None,
        **asked: Any,
    ) -> list[tuple[Document, float]]:
        """Return the k best documents with their scores; a higher score is better.

        In mode `vector` the score is the cosine, -1 to 1, else the hit's `fit`, 0 to 1. `asked` are arguments
        of recall: role, since, until, as_of, valid_at, known_at, min_fit, time_ranges.
        """
        mode = mode or self._mode
        vector = await self._question(query, mode)
        found = await self._documents.recall(query, vector, k, mode, conditions(filter), **asked)
        return [(_document(hit), score) for hit, score in found]

    similarity_search_with_score, asimilarity_search_with_score = sync_and_async(
        _similarity_search_with_score
    )

    async def _similarity_search(self, query: str, k: int = 4, **kwargs: Any) -> list[Document]:
        """Return the k best documents for a question; see `similarity_search_with_score`."""
        return [document for document, _ in await self._similarity_search_with_score(query, k, **kwargs)]

    similarity_search, asimilarity_search = sync_and_async(_similarity_search)

    async def _similarity_search_by_vector(
        self, embedding: list[float], k: int = 4, *, filter: Mapping[str, Any] | None = None, **asked: Any
    ) -> list[Document]:
        """Return the k documents nearest to a vector."""
        found = await self._documents.recall(None, embedding, k, "vector", conditions(filter), **asked)
        return [_document(hit) for hit, _ in found]

    similarity_search_by_vector, asimilarity_search_by_vector = sync_and_async(_similarity_search_by_vector)

    async def _mmr(
        self, query: str, k: int = 4, fetch_k: int = 20, lambda_mult: float = 0.5, **kwargs: Any
    ) -> list[Document]:
        """Return k of the fetch_k nearest documents that are near the question and unlike each other.

        `lambda_mult` 1 weighs only nearness, 0 only difference. The texts of the fetch_k documents are
        embedded again.
        """
        if (vector := await self._question(query, "vector")) is not None:
            return await self._mmr_by_vector(vector, k, fetch_k, lambda_mult, **kwargs)
        found = await self._similarity_search(query, fetch_k, mode="vector", **kwargs)
        return await self._marginal(
            (await self._memory_vectors([query], question=True))[0], found, k, lambda_mult
        )

    max_marginal_relevance_search, amax_marginal_relevance_search = sync_and_async(_mmr)

    async def _mmr_by_vector(
        self,
        embedding: list[float],
        k: int = 4,
        fetch_k: int = 20,
        lambda_mult: float = 0.5,
        **kwargs: Any,
    ) -> list[Document]:
        """Return the documents of `max_marginal_relevance_search` for a vector."""
        found = await self._similarity_search_by_vector(embedding, fetch_k, **kwargs)
        return await self._marginal(embedding, found, k, lambda_mult)

    max_marginal_relevance_search_by_vector, amax_marginal_relevance_search_by_vector = sync_and_async(
        _mmr_by_vector
    )

    def _select_relevance_score_fn(self) -> Callable[[float], float]:
        """Return a function that clips a score to 0 to 1, because a negative cosine is no relevance."""
        return lambda score: min(max(score, 0.0), 1.0)

    # Making

    @classmethod
    def from_texts(
        cls,
        texts: list[str],
        embedding: Embeddings | None = None,
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        scope: Scope | AsyncScope | None = None,
        mode: str = "vector",
        **kwargs: Any,
    ) -> Self:
        """Return a store over `scope` with the texts added; `mode` is as in the constructor."""
        made = cls(_checked_scope(scope), embedding, mode=mode, **kwargs)
        made.add_texts(texts, metadatas, ids=ids)
        return made

    @classmethod
    async def afrom_texts(
        cls,
        texts: list[str],
        embedding: Embeddings | None = None,
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        scope: Scope | AsyncScope | None = None,
        mode: str = "vector",
        **kwargs: Any,
    ) -> Self:
        """Run `from_texts` asynchronously."""
        made = cls(_checked_scope(scope), embedding, mode=mode, **kwargs)
        await made.aadd_texts(texts, metadatas, ids=ids)
        return made

    # Within

    async def _vectors(self, texts: list[str]) -> list[Any]:
        if self._embedding is None:
            return await self._memory_vectors(texts)
        native = self._documents.native
        return (
            await self._embedding.aembed_documents(texts)
            if native
            else self._embedding.embed_documents(texts)
        )

    async def _question(self, query: str, mode: str) -> list[float] | None:
        return await _question(self._documents, self._embedding, query, mode)

    async def _memory_vectors(self, texts: list[str], *, question: bool = False) -> list[Any]:
        """Return the vectors that the memory's embedder makes; raise UsageError without an embedder."""
        rows = await await_answer(self._documents.scope._memory._embed(texts, question=question))
        if not rows:
            raise UsageError(
                "this needs vectors: give the store an embedding, or open the memory with an embedder"
            )
        width = self._documents.scope._memory._embedder.dimensions
        return [random_vector(text, width) if rows[text] is None else rows[text] for text in texts]

    async def _marginal(
        self, vector: Any, found: list[Document], k: int, lambda_mult: float
    ) -> list[Document]:
        import numpy as np

        scope_calls.checked_int(k, "k", 0, calls.INT4)
        if not found:
            return []
        rows = await self._vectors([document.page_content for document in found])
        chosen = maximal_marginal_relevance(np.asarray(vector), [list(row) for row in rows], lambda_mult, k)
        return [found[number] for number in chosen]


class PgmnemoRetriever(BaseRetriever):
    """A retriever that recalls from a memory; `invoke` also takes `k`, `mode`, `filter` and `asked`'s fields.

    scope: a scope of a tenant or of one project.
    embedding, mode, filter: as in PgmnemoVectorStore; the default mode is hybrid.
    asked: arguments of recall: role, since, until, as_of, valid_at, known_at, min_fit, time_ranges.
    """

    scope: Any = Field(exclude=True)
    embedding: Any = Field(default=None, exclude=True)
    k: int = 4
    mode: str = "hybrid"
    filter: dict[str, Any] | None = None
    asked: dict[str, Any] = Field(default_factory=dict)
    _documents: DocumentStore = PrivateAttr()

    def model_post_init(self, context: Any, /) -> None:
        """Wrap `scope`; raise UsageError if it is not a scope."""
        self._documents = DocumentStore(self.scope)

    async def _relevant(self, query: str, *, run_manager: Any = None, **given: Any) -> list[Document]:
        k, mode, filter = (given.pop(name, getattr(self, name)) for name in ("k", "mode", "filter"))
        vector = await _question(self._documents, self.embedding, query, mode)
        found = await self._documents.recall(
            query, vector, k, mode, conditions(filter), **{**self.asked, **given}
        )
        return [_document(hit) for hit, _ in found]

    _get_relevant_documents, _aget_relevant_documents = sync_and_async(_relevant)


async def _question(
    documents: DocumentStore, embedding: Embeddings | None, query: str, mode: str
) -> list[float] | None:
    """Return the vector of a question by `embedding`; None without it, or for a keyword search."""
    if embedding is None or mode == "keyword":
        return None
    return await embedding.aembed_query(query) if documents.native else embedding.embed_query(query)


def _item(text: str, metadata: Mapping[str, Any] | None, key: str, vector: Any) -> Item:
    told = dict(metadata or {})
    if is_blank(text):
        return Item(BLANK, key, metadata={**told, TEXT: text}, vector=vector)
    return Item(text, key, metadata=told, vector=vector)


def _document(found: Hit | Lesson) -> Document:
    metadata = {key: value for key, value in found.metadata.items() if key != KEPT}
    text = metadata.pop(TEXT, found.text) if found.text in BLANKS else found.text
    return Document(id=found.key, page_content=text, metadata=metadata)


def _checked_scope(scope: Scope | AsyncScope | None) -> Scope | AsyncScope:
    if scope is None:
        raise UsageError("from_texts takes scope=…, as memory.tenant('ada').project('kitchen')")
    return scope
