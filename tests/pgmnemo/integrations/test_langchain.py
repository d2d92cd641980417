"""LangChain's store and retriever: the suites of langchain-tests whole, and what they do not ask."""

from __future__ import annotations

import asyncio
import inspect
import random
import threading
import warnings
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
import pytest_asyncio
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding, Embeddings
from langchain_core.indexing import InMemoryRecordManager, index
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import InMemoryVectorStore, VectorStore

from pgmnemo import AsyncMemory, Memory, Scope
from pgmnemo.errors import PgmnemoError, UsageError
from pgmnemo.integrations.documents import BLANK
from pgmnemo.integrations.langchain import TEXT, PgmnemoRetriever, PgmnemoVectorStore
from tests.pgmnemo.client.driving import Place

with warnings.catch_warnings(action="ignore"):  # it marks with `benchmark`, whose plugin is off here
    from langchain_tests.integration_tests import RetrieversIntegrationTests, VectorStoreIntegrationTests

SIX = DeterministicFakeEmbedding(size=6)
STRANGE = [
    "a", "a%", "a_", "a\\", "a'b", 'a"b', "a\nb", "a ", " ", "\uff41", "\u0430", "../a", "\U0001f701",
    "a" * 1000, "%", "$ne",
]  # fmt: skip
NO_KEYS, NO_TEXTS = ["", "a" * 10_000], ["a\0b", "\ud800"]

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


def ids(found: list[Document]) -> list[str | None]:
    return [document.id for document in found]


def test_what_langchains_own_store_answers(scope: Scope) -> None:
    """Order, scores, marginal relevance, replacement and deletion, in random sequences."""
    rolled = random.Random(5)
    ours, theirs = PgmnemoVectorStore(scope, SIX), InMemoryVectorStore(SIX)
    for step in range(25):
        some = [
            Document(id=f"{rolled.randrange(90)}", page_content=f"text {rolled.random()}")
            for _ in range(rolled.randrange(9))
        ]
        some = list({one.id: one for one in some}.values())
        gone = [f"{rolled.randrange(99)}" for _ in range(rolled.randrange(4))]
        for store in (ours, theirs):
            assert store.add_documents(some) == ids(some)
            assert store.delete(gone) in (True, None)
        wanted = theirs.similarity_search_with_score(f"question {step}", k=7)
        got = ours.similarity_search_with_score(f"question {step}", k=7)
        assert [score for _, score in got] == pytest.approx([score for _, score in wanted], abs=2e-3)
        assert {one.id for one, _ in got[:6]} <= {one.id for one, _ in wanted}
        assert ids(ours.get_by_ids(gone)) == []
        marginal = {
            "k": 4,
            "fetch_k": 90,
            "lambda_mult": 0.3,
        }  # all of them, so that none is left out by rounding
        assert ids(ours.max_marginal_relevance_search("q", **marginal)) == ids(
            theirs.max_marginal_relevance_search("q", **marginal)
        )
    vector = SIX.embed_query("q")
    assert ids(ours.similarity_search_by_vector(vector, k=3)) == ids(
        theirs.similarity_search_by_vector(vector, 3)
    )
    assert ids(ours.max_marginal_relevance_search_by_vector(vector, k=3)) == ids(
        ours.max_marginal_relevance_search("q", k=3)
    )


def test_langchains_indexing_keeps_it_up_to_date(scope: Scope) -> None:
    records = InMemoryRecordManager("pgmnemo")
    records.create_schema()
    store = PgmnemoVectorStore(scope, SIX)

    def told(*texts: str) -> dict[str, int]:
        documents = [Document(page_content=text, metadata={"source": "page"}) for text in texts]
        return dict(
            index(documents, records, store, cleanup="full", source_id_key="source", key_encoder="sha256")
        )

    assert told("one", "two", "three")["num_added"] == 3
    assert told("one", "two", "three")["num_skipped"] == 3
    assert told("one", "four") == {"num_added": 1, "num_updated": 0, "num_skipped": 1, "num_deleted": 2}
    assert {one.page_content for one in store.similarity_search("one", k=9)} == {"one", "four"}


FILTERS: list[tuple[dict[str, Any], str]] = [
    ({}, "abcd"), ({"lang": "de"}, "ac"), ({"lang": {"$eq": "de"}}, "ac"), ({"lang": {"$ne": "de"}}, "bd"),
    ({"year": {"$gt": 2024}}, "bc"), ({"year": {"$gte": 2024, "$lt": 2026}}, "ab"),
    ({"year": {"$between": [2024, 2025]}}, "ab"), ({"lang": {"$in": ["en", "fr"]}}, "b"),
    ({"lang": {"$in": [f"x{number}" for number in range(150)] + ["en"]}}, "b"), ({"lang": {"$in": []}}, ""),
    ({"lang": {"$nin": ["en", "fr"]}}, "acd"), ({"lang": {"$nin": []}}, "abcd"),
    ({"lang": {"$exists": False}}, "d"), ({"lang": None}, ""), ({"place.town": "Porto"}, "d"),
    ({"tag": "red"}, "ab"), ({"tag": {"$prefix": "re"}}, "ab"), ({"and": 1}, "d"),
    ({"$or": [{"lang": "en"}, {"$not": {"year": {"$exists": True}}}]}, "bd"),
    ({"lang": "de", "year": {"$lt": 2026}}, "a"),
    ({"$and": [{"lang": "de"}, {"lang": {"$prefix": "d"}}], "$or": [{"year": 2024}, {"year": 2026}]}, "ac"),
    ({"lang": "' OR 1=1 --"}, ""), ({"lang": {"$ne": '" || true || "'}, "year": {"$gt": 0}}, "abc"),
]  # fmt: skip


@pytest.fixture(scope="module")
def filtered(open_memory: Callable[..., Memory], place: Place) -> PgmnemoVectorStore:
    store = PgmnemoVectorStore(open_memory().tenant(place.tenant()).project("filters"), SIX)
    metadatas: list[dict[str, Any]] = [
        {"lang": "de", "year": 2024, "tag": ["red", "blue"]}, {"lang": "en", "year": 2025, "tag": "red"},
        {"lang": "de", "year": 2026, "tag": []}, {"place": {"town": "Porto"}, "and": 1},
    ]  # fmt: skip
    store.add_texts(["w", "x", "y", "z"], metadatas, ids=list("abcd"))
    return store


@pytest.mark.parametrize(("given", "wanted"), FILTERS)
def test_filters_of_metadata(filtered: PgmnemoVectorStore, given: dict[str, Any], wanted: str) -> None:
    found = filtered.similarity_search("w", k=9, filter=given)
    assert "".join(sorted(str(one.id) for one in found)) == wanted


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"lang": {"$like": "d%"}}, "no operator"), ({"lang": ["de"]}, "must be compared with a text"),
        ({"lang": {"$in": "de"}}, "takes a list"), ({"lang": {"$between": [1]}}, "no operator"),
        ({"lang": {}, "year": 2024}, "no operator"), ({1: "de"}, "there is no"),
        ({"year": float("nan")}, "JSON"), ({"$nor": []}, "there is no"),
        ({"$or": {"lang": "de"}}, "takes a list"), ({"$or": [{}]}, "empty filter"),
        ({"$not": {}}, "empty filter"), ({"": 1}, "empty key"),
        ({"lang": "a\0b"}, "NUL|0x00|\\\\u0000|unsupported"), (["lang"], "a mapping"),
        ({"lang": {"$in": list(range(300))}}, "values"),
    ],
)  # fmt: skip
def test_a_filter_that_cannot_be_meant_is_a_sentence(
    filtered: PgmnemoVectorStore, given: Any, said: str
) -> None:
    with pytest.raises(PgmnemoError, match=said):
        filtered.similarity_search("w", filter=given)
    with pytest.raises(PgmnemoError, match=said):
        filtered.delete(filter=given)


def test_what_is_deleted(scope: Scope) -> None:
    store = PgmnemoVectorStore(scope, SIX)
    store.add_texts(list("abcd"), [{"n": number} for number in range(4)], ids=list("abcd"))
    scope.add("said elsewhere", key="e")
    assert store.delete([]) is True
    assert store.delete(filter={"n": {"$gte": 2}}) is True
    assert ids(store.get_by_ids(list("dcba"))) == ["a", "b"] or ids(store.get_by_ids(list("dcba"))) == [
        "b",
        "a",
    ]
    for wrong in ({"filter": {}}, {"fliter": {"n": 1}}, {"ids": ["a"], "filter": {"n": 0}}):
        with pytest.raises((UsageError, TypeError, PgmnemoError)):
            store.delete(**wrong)  # type: ignore[arg-type]
    assert scope.count(include_inactive=True).lessons == 3
    assert store.delete() is True
    assert scope.count(include_inactive=True).lessons == 0


def test_scores_and_relevance(scope: Scope) -> None:
    store = PgmnemoVectorStore(scope, SIX)
    store.add_texts([f"text {number}" for number in range(30)])
    scores = [score for _, score in store.similarity_search_with_score("text 3", k=30)]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] == pytest.approx(1, abs=1e-3)
    assert scores[-1] < 0
    for mode in ("vector", "hybrid", "keyword"):
        told = store.similarity_search_with_relevance_scores("text 3", k=30, mode=mode)
        assert all(0 <= relevance <= 1 for _, relevance in told)
        assert told[0][0].page_content == "text 3"
    few = store.as_retriever(search_type="similarity_score_threshold", search_kwargs={"score_threshold": 0.9})
    assert [one.page_content for one in few.invoke("text 3")] == ["text 3"]


def test_hybrid_finds_what_vectors_do_not(scope: Scope) -> None:
    store = PgmnemoVectorStore(scope, SIX)
    texts = [f"The ferry number {number} leaves at noon." for number in range(200)]
    store.add_texts([*texts, "The ferry TX-4071 is late."], ids=[*map(str, range(200)), "late"])
    question = "TX-4071?"
    assert "late" in ids(store.similarity_search(question, k=3, mode="hybrid"))
    assert ids(store.similarity_search(question, mode="keyword")) == ["late"]
    assert ids(PgmnemoRetriever(scope=scope, embedding=SIX, k=3).invoke(question))[0] == "late"
    assert ids(PgmnemoVectorStore(scope, SIX, mode="keyword").similarity_search(question)) == ["late"]
    wanted = PgmnemoRetriever(scope=scope, mode="keyword", filter={"n": 1}, asked={"role": "user"})
    assert wanted.invoke(question) == []
    assert store.similarity_search(question, k=0) == []


def test_a_memory_embeds_by_itself_or_not_at_all(open_memory: Callable[..., Memory], place: Place) -> None:
    own = PgmnemoVectorStore(open_memory(embedder=SIX.embed_documents).tenant(place.tenant()).project("p"))
    own.add_texts(["one\ntwo\nthree", "four"], ids=["a", "b"])
    assert own.similarity_search_with_score("four", k=1)[0][1] == pytest.approx(1, abs=1e-3)
    assert ids(own.max_marginal_relevance_search("four", k=1)) == ["b"]
    words = PgmnemoVectorStore(open_memory().tenant(place.tenant()).project("p"))
    words.add_texts(["four"])
    assert len(words.similarity_search("four", mode="hybrid")) == 1
    for ask in (words.similarity_search, words.max_marginal_relevance_search):
        with pytest.raises(PgmnemoError, match="embed"):
            ask("four")


def test_a_tenant_keeps_to_one_embedder(open_memory: Callable[..., Memory], place: Place) -> None:
    tenant = place.tenant()
    project = open_memory().tenant(tenant).project("p")
    store = PgmnemoVectorStore(project, SIX)
    store.add_texts(["one"])
    other = DeterministicFakeEmbedding(size=7)
    embedded = open_memory(embedder=SIX.embed_documents).tenant(tenant).project("p")
    for wrong in (PgmnemoVectorStore(project, other), PgmnemoVectorStore(embedded)):
        for ask in (wrong.add_texts, wrong.similarity_search):
            with pytest.raises(UsageError, match="vectors of the tenant"):
                ask(["two"] if ask == wrong.add_texts else "two")
    assert len(store.similarity_search("one", k=9)) == 1


def test_a_text_without_a_word_is_kept_in_ascii_and_read_as_older_versions_kept_it(scope: Scope) -> None:
    store = PgmnemoVectorStore(scope)
    store.add_texts([" "], ids=["new"])
    assert all(one.text.isascii() for one in scope.list())
    scope.add("\u2205", key="old", metadata={TEXT: "\t"})
    assert [one.page_content for one in store.get_by_ids(["new", "old"])] == [" ", "\t"]


def test_ids_and_texts_of_any_kind_come_back(scope: Scope) -> None:
    store = PgmnemoVectorStore(scope, SIX)
    texts = ["", " ", "\u200b", BLANK, "\u2205", "1\n\n2 ", "a\u2028b", "🜁", "user: hi\nai: ho", *STRANGE]
    texts = [*texts, *["x"] * (len(STRANGE) - len(texts))][: len(STRANGE)]
    metadatas = [{"n": number, "a.b": [1, None, {"": 2.5}]} for number in range(len(texts))]
    assert store.add_texts(texts, metadatas, ids=list(STRANGE)) == STRANGE
    found = {one.id: one for one in store.get_by_ids([*STRANGE, *NO_KEYS, "a", "nowhere"])}
    assert [found[key].page_content for key in STRANGE] == texts
    assert [found[key].metadata for key in STRANGE] == metadatas
    for key in STRANGE[:6]:
        store.delete([key, *NO_KEYS])
        assert key not in ids(store.similarity_search("x", k=99))
    assert len(store.similarity_search("x", k=99)) == len(STRANGE) - 6
    assert len(store.add_texts(["p", "q"], ids=["1", None])) == 2  # type: ignore[list-item]
    for wrong in [*NO_KEYS, *NO_TEXTS]:
        with pytest.raises(PgmnemoError):
            store.add_texts(["x"], ids=[wrong])
    for wrong in NO_TEXTS:
        for ask in (store.get_by_ids, store.delete):
            with pytest.raises(UsageError):
                ask([wrong])
    words = PgmnemoVectorStore(scope)
    for text in NO_TEXTS:
        with pytest.raises(PgmnemoError):
            words.add_texts([text])
        with pytest.raises(PgmnemoError):
            words.similarity_search(text, mode="hybrid")
    for ask in (store.delete, store.get_by_ids):
        with pytest.raises(UsageError, match="ids is of type str, but must be a list"):
            ask("a%")
    with pytest.raises(ValueError, match="one for each"):
        store.add_texts(["x"], ids=["1", "2"])


def test_projects_and_tenants_never_see_each_other(open_memory: Callable[..., Memory], place: Place) -> None:
    memory, tenant = open_memory(), place.tenant()
    mine = PgmnemoVectorStore(memory.tenant(tenant).project("p"), SIX)
    others = [
        PgmnemoVectorStore(memory.tenant(owner).project(project), SIX)
        for owner, project in ((tenant, "p2"), (tenant, "p%"), (tenant, "p_"), (place.tenant(), "p"))
    ]
    for number, store in enumerate([mine, *others]):
        store.add_texts([f"{number} {key}" for key in STRANGE], [{"n": number}] * len(STRANGE), ids=STRANGE)
    for given in ({"n": {"$gte": 1}}, {"n": 4}, {"$not": {"n": 0}}, {"projects": "p2"}, {"n": {"$ne": 0}}):
        assert mine.similarity_search("1 a", k=99, filter=given) == []
        mine.delete(filter=given)
    assert {one.page_content[0] for one in mine.similarity_search("1 a", k=999)} == {"0"}
    mine.delete(STRANGE)
    mine.delete(filter={"n": {"$exists": True}})
    mine.delete()
    for number, store in enumerate(others, 1):
        assert {one.page_content[:2] for one in store.get_by_ids(STRANGE)} == {f"{number} "}
        assert len(store.similarity_search("x", k=999, mode="hybrid")) == len(STRANGE)
    with pytest.raises(UsageError, match="project"):
        PgmnemoVectorStore(memory.tenant(tenant), SIX)
    everywhere = PgmnemoRetriever(scope=memory.tenant(tenant), k=999, mode="keyword").invoke("1 2 3 4")
    assert {one.metadata["n"] for one in everywhere} == {1, 2, 3}


@pytest.mark.asyncio
async def test_a_scope_of_a_memory_does_not_hold_up_the_loop(scope: Scope) -> None:
    threads: list[threading.Thread] = []

    class Slow(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            threads.append(threading.current_thread())
            return SIX.embed_documents(texts)

        def embed_query(self, text: str) -> list[float]:
            return self.embed_documents([text])[0]

    store = PgmnemoVectorStore.from_texts(["one"], Slow(), scope=scope)
    await asyncio.gather(*(store.aadd_texts([f"text {number}"]) for number in range(20)))
    assert len(await store.asimilarity_search("text 3", k=99)) == 21
    assert threading.current_thread() not in threads[1:]


def test_wrong_things_handed_in() -> None:
    for make in (
        lambda: PgmnemoVectorStore("ada", SIX),  # type: ignore[arg-type]
        lambda: PgmnemoRetriever(scope=None),
        lambda: PgmnemoVectorStore.from_texts(["x"], SIX),
    ):
        with pytest.raises(UsageError, match="scope"):
            make()
