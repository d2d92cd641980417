"""LangChain's store and retriever: the suites of langchain-tests whole, and what they do not ask."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
import pytest_asyncio
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import VectorStore

from pgmnemo import AsyncMemory, Memory, Scope
from pgmnemo.adapters.langchain import PgmnemoRetriever, PgmnemoVectorStore
from tests.pgmnemo.client.driving import Place

with warnings.catch_warnings(action="ignore"):  # it marks with `benchmark`, whose plugin is off here
    from langchain_tests.integration_tests import RetrieversIntegrationTests, VectorStoreIntegrationTests

SIX = DeterministicFakeEmbedding(size=6)

for suite in (VectorStoreIntegrationTests, RetrieversIntegrationTests):
    for function in vars(suite).values():
        if inspect.iscoroutinefunction(function):
            pytest.mark.asyncio(function)  # the suites count on pytest-asyncio's mode `auto`


@pytest_asyncio.fixture
async def async_scope(place: Place) -> AsyncIterator[Any]:
    async with await AsyncMemory.open(place.dsn(), embedder=None) as memory:
        yield memory.tenant(place.tenant()).project("kitchen")


class TestStore(VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(self, scope: Scope) -> VectorStore:  # type: ignore[override]
        return PgmnemoVectorStore(scope, self.get_embeddings())


class TestAsyncStore(VectorStoreIntegrationTests):
    @property
    def has_sync(self) -> bool:
        return False  # an AsyncScope is awaited

    @pytest.fixture
    def vectorstore(self, async_scope: Any) -> VectorStore:  # type: ignore[override]
        return PgmnemoVectorStore(async_scope, self.get_embeddings())


class TestRetriever(RetrieversIntegrationTests):
    @pytest.fixture(autouse=True)
    def told(self, scope: Scope) -> None:
        self.scope = scope
        scope.add_many(["Ana sold the kite.", "Ben bought a kettle.", "The kite is red.", "It rains."])

    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        return PgmnemoRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"scope": self.scope}

    @property
    def retriever_query_example(self) -> str:
        return "Who sold the kite?"
