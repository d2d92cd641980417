"""PgmnemoStore against LangGraph's own stores, and what it holds that they do not."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypedDict

import pytest
from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime
from langgraph.store.base import (
    ListNamespacesOp,
    MatchCondition,
    PutOp,
)
from langgraph.store.memory import InMemoryStore
from langgraph.store.postgres import PostgresStore
from psycopg.conninfo import make_conninfo

from pgmnemo import AsyncMemory, Memory, Scope
from pgmnemo.errors import GrantError, PgmnemoError
from pgmnemo.integrations import langgraph as integration
from pgmnemo.integrations.langgraph import PgmnemoStore
from pgmnemo.integrations.langgraph_filter import StoreError
from pgmnemo.integrations.langgraph_items import key_of, topic_of
from tests.pgmnemo.client.driving import Place
from tests.pgmnemo.integrations.langgraph_sequences import (
    NAMESPACES,
    PREFIXES,
    Sequences,
    acall,
    aopened,
    embed,
    opened,
    postgres_store,
)

SEQUENCES = int(os.environ.get("PGMNEMO_SEQUENCES", "24"))
HOME = ("users", "ada")


@pytest.fixture(scope="session")
def theirs(place: Place) -> Iterator[PostgresStore]:
    """LangGraph's PostgresStore in a database of its own on the same server."""
    place.server.create("oracle")
    with postgres_store(make_conninfo(**{**place.server.conninfo, "dbname": "oracle"})) as store:
        yield store


@pytest.fixture
def empty(theirs: PostgresStore) -> PostgresStore:
    theirs.conn.execute("TRUNCATE store CASCADE")
    return theirs


@pytest.fixture
def memory_store() -> InMemoryStore:
    return InMemoryStore(index={"dims": 8, "embed": embed})


@pytest.fixture
def store(scope: Scope) -> PgmnemoStore:
    return PgmnemoStore(scope)


def keys(found: Any) -> list[str]:
    return [one.key for one in found]


# Against LangGraph's own


def test_random_sequences_answer_as_the_stores_of_langgraph(
    open_memory: Callable[..., Memory], place: Place, theirs: PostgresStore
) -> None:
    run = Sequences(lambda name: opened(open_memory(), place, name), theirs)
    for seed in range(SEQUENCES):
        run.run(seed)
    assert run.done == 20 * SEQUENCES


def test_random_sequences_that_are_awaited_answer_as_well(place: Place, theirs: PostgresStore) -> None:
    with asyncio.Runner() as runner:
        memory = runner.run(AsyncMemory.open(place.dsn(), embedder=None))
        run = Sequences(
            lambda name: runner.run(aopened(memory, place, name)), theirs, acall(runner), runner.run
        )
        for seed in range(SEQUENCES, SEQUENCES + SEQUENCES // 6):
            run.run(seed)
        assert run.done == 20 * (SEQUENCES // 6)
        runner.run(memory.close())


def test_of_a_batch_with_a_value_that_cannot_be_stored_nothing_is(store: PgmnemoStore) -> None:
    store.put(HOME, "old", {"n": 0})
    for bad in ({"n": {1, 2}}, {"n": 1e308 * 1.5}):
        with pytest.raises(PgmnemoError):
            store.batch([PutOp(HOME, "a", {"n": 1}), PutOp(HOME, "old", None), PutOp(HOME, "b", bad)])
    assert keys(store.search(())) == ["old"]


def test_times_are_those_of_the_first_and_the_last_put(store: PgmnemoStore) -> None:
    store.put(HOME, "k", {"n": 1})
    first = store.get(HOME, "k")
    store.put(HOME, "k", {"n": 1})
    second, [found] = store.get(HOME, "k"), store.search(HOME)
    assert first is not None
    assert second is not None
    assert first.created_at == second.created_at == found.created_at <= first.updated_at
    assert first.updated_at < second.updated_at == found.updated_at
    store.delete(HOME, "k")
    store.put(HOME, "k", {"n": 1})
    assert store.get(HOME, "k").created_at > second.updated_at - timedelta(seconds=5)  # type: ignore[union-attr]
    assert store.get(HOME, "k").created_at != first.created_at  # type: ignore[union-attr]


# Where we differ on purpose: the rows of docs/integrations/langgraph.md


def test_a_score_is_the_fit_of_a_hit_best_first(store: PgmnemoStore) -> None:
    for number, text in enumerate(["the violin is out of tune", "a kettle", "violin, violin", "rain"]):
        store.put(HOME, str(number), {"text": text})
    found = store.search((), query="violin")
    scores = [one.score or 0.0 for one in found]
    assert {found[0].key, found[1].key} == {"0", "2"}
    assert scores == sorted(scores, reverse=True)
    assert 0 <= scores[-1] < scores[0] <= 1
    assert [one.score for one in store.search(())] == [None] * 4


def test_what_is_no_longer_indexed_is_no_longer_found(
    store: PgmnemoStore, empty: PostgresStore, memory_store: InMemoryStore
) -> None:
    found = {}
    for name, one in {"ours": store, "postgres": empty, "memory": memory_store}.items():
        one.put(HOME, "k", {"text": "violin"})
        one.put(HOME, "k", {"text": "violin"}, index=False)
        found[name] = [hit.score for hit in one.search((), query="violin")]
    assert found["ours"] == []
    assert found["postgres"][0] is not None
    assert found["memory"][0] is not None


def test_without_a_question_what_was_stored_last_is_first(store: PgmnemoStore, empty: PostgresStore) -> None:
    for one in (store, empty):
        for key in "abc":
            one.put(HOME, key, {"n": 1})
        one.put(HOME, "a", {"n": 2})
    assert keys(store.search(())) == ["c", "b", "a"]
    assert keys(empty.search(())) == ["a", "c", "b"]


FILTERS: list[tuple[Any, str, Any, Any]] = [  # filter; the keys we find, PostgresStore, InMemoryStore
    ({"n": {"$gt": 9}}, "ten big", "big", "ten big"),
    ({"n": {"$lt": 10}}, "nine", "", "nine"),
    ({"o": {"p": 1}}, "nine", ValueError, "nine"),
    ({"a": None}, "big", "big", "nine ten big"),
    ({"a": {"$ne": 1}}, "big", "big", "nine ten big"),
    ({"t": 1}, "nine", "nine", "nine ten"),
    ({"t": True}, "ten", "ten", "nine ten"),
    ({"missing": {"$gt": 1}}, "", "", TypeError),
    ({"s": {"$gte": "b"}}, "ten", "ten", ValueError),
    ({"l": "a"}, "ten", "ten", "ten"),
    ({"l": [{"x": 1}]}, "big", "big", "nine big"),
]


@pytest.mark.parametrize(
    ("wanted", "ours", "postgres", "memory"), FILTERS, ids=[str(one[0]) for one in FILTERS]
)
def test_filters_answer_by_kind(
    wanted: Any, ours: str, postgres: Any, memory: Any, store: PgmnemoStore, empty: PostgresStore
) -> None:
    values: dict[str, dict[str, Any]] = {
        "nine": {"n": 9, "o": {"p": 1, "q": 2}, "t": 1, "s": "a", "l": [{"x": 1, "y": 2}]},
        "ten": {"n": 10, "o": {"p": 2}, "t": True, "s": "b", "l": "a"},
        "big": {"n": 95, "o": 1, "a": None, "s": "a", "l": [{"x": 1}]},
    }
    for one, expected in ((store, ours), (empty, postgres), (InMemoryStore(), memory)):
        for key, value in values.items():
            one.put(HOME, key, value)
        if isinstance(expected, str):
            assert set(keys(one.search((), filter=wanted))) == set(expected.split())
        else:
            with pytest.raises(expected):
                one.search((), filter=wanted)


def test_what_has_expired_is_never_read(scope: Scope, empty: PostgresStore) -> None:
    plain = PostgresStore(empty.conn)
    plain.put(HOME, "k", {"n": 1}, ttl=0)
    assert plain.get(HOME, "k") is not None
    store = PgmnemoStore(scope)
    store.put(HOME, "k", {"text": "violin"}, ttl=0)
    store.put(HOME, "stays", {"text": "violin"}, ttl=5)
    assert store.get(HOME, "k") is None
    assert keys(store.search(())) == keys(store.search((), query="violin")) == ["stays"]
    store.delete(HOME, "stays")
    assert store.list_namespaces() == []
    assert (store.sweep_ttl(), store.sweep_ttl()) == (1, 0)


def test_a_fraction_of_a_minute_is_kept(scope: Scope, empty: PostgresStore) -> None:
    store = PgmnemoStore(scope, ttl={"default_ttl": 0.4})
    for one in (store, empty):
        one.put(HOME, "k", {"n": 1}, ttl=0.4)
        one.get(HOME, "k")
    assert store.get(HOME, "k") is not None
    assert empty.get(HOME, "k") is None


@pytest.mark.parametrize(
    "value", [2**70, 1e22, -0.0, 5e-324, 1.5e300, 0.1, 2**53 + 1, "-0.0 and 1e+5", "\\u0000"]
)
def test_numbers_come_back_as_they_were(value: Any, store: PgmnemoStore, empty: PostgresStore) -> None:
    store.put(HOME, "k", {"v": [value, {"w": value}]})
    [found], got = store.search((), filter={"v": [value, {"w": value}]}), store.get(HOME, "k")
    assert got is not None
    assert repr(got.value) == repr(found.value) == repr({"v": [value, {"w": value}]})
    empty.put(HOME, "k", {"v": value})
    changed = repr(empty.get(HOME, "k").value["v"]) != repr(value)  # type: ignore[union-attr]
    assert changed == (value in (0.0, 1e22, 1.5e300))


def test_a_namespace_without_items_is_gone(store: PgmnemoStore, empty: PostgresStore) -> None:
    memory = InMemoryStore()
    for one in (store, empty, memory):
        one.put(HOME, "k", {"n": 1})
        one.delete(HOME, "k")
        one.get(("never",), "k")
    assert store.list_namespaces() == empty.list_namespaces() == []
    assert memory.list_namespaces() == [("never",), HOME]


def nested(levels: int) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for _ in range(levels - 1):
        made = {"a": made}
    return made


REFUSED: list[tuple[Callable[[PgmnemoStore], Any], str]] = [
    (lambda store: store.put(HOME, "k", [1]), "value is of type list, but must be a mapping"),  # type: ignore[arg-type]
    (lambda store: store.put(HOME, "k", {"a": datetime.now(UTC)}), "datetime is not JSON serializable"),
    (lambda store: store.put(HOME, "k", {"a": float("nan")}), "not JSON compliant"),
    (lambda store: store.put(HOME, "k", {"a": "x\0"}), "a value has a NUL character"),
    (lambda store: store.put(HOME, "k", {"\0": 1}), "a value has a NUL character"),
    (lambda store: store.put(HOME, "k", {"a": "\ud800"}), "surrogates not allowed"),
    (lambda store: store.put(HOME, "a\0", {"a": 1}), "key has a NUL character"),
    (lambda store: store.put(HOME, "\ud800", {"a": 1}), "key holds"),
    (lambda store: store.put(HOME, "k", nested(251)), "deeper than 250 levels"),
    (lambda store: store.put(HOME, "k", nested(100_000)), "cannot be written as JSON"),
    (lambda store: store.put(HOME, "k", {"a": [0] * 10_001}), "more than 10,000 values"),
    (lambda store: store.put(HOME, "k", {"a": "x" * 1_000_001}), "more than 1,000,000 bytes"),
    (lambda store: store.put(HOME, "k", {"a": 10**400}), "beyond 1e308"),
    (lambda store: store.put(("x" * 12_000,), "k", {"a": 1}), "more than 10,000 bytes"),
    (lambda store: store.put(HOME, "k", {"a": 1}, ttl=float("inf")), "ttl is inf, but must be a number"),
    (lambda store: store.put(HOME, "k", {"a": 1}, ttl="soon"), "ttl is of type str, but must be a number"),  # type: ignore[arg-type]
    (lambda store: store.put(HOME, "k", {"a": 1}, index=5), "index is False or a list"),  # type: ignore[arg-type]
    (lambda store: store.search((), limit=-1), "limit and offset are 0 or more"),
    (lambda store: store.list_namespaces(offset=-1), "limit and offset are 0 or more"),
    (lambda store: store.search((), filter={"a": {"$in": [1]}}), "Unsupported operator: $in"),
    (lambda store: store.search((), filter={"a": {"b": {"$gt": 1, "c": 2}}}), "Unsupported operator: c"),
    (lambda store: store.search((), filter={"a": {"$gt": [1]}}), "$gt compares with a number or a text"),
    (lambda store: store.search((), filter=[1]), "filter is of type list, but must be a mapping"),  # type: ignore[arg-type]
    (lambda store: store.search((), filter={"a": "x" * 30_000}), "bytes, but may have"),
    (lambda store: store.search((), query="x" * 100_001), "ask a shorter one"),
    (lambda store: store.batch(["get"]), "Unknown operation type: str"),  # type: ignore[list-item]
    (lambda store: store.batch([ListNamespacesOp((MatchCondition("infix", ("a",)),))]), "match type: infix"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("call", "sentence"), REFUSED, ids=[sentence for _, sentence in REFUSED])
def test_what_cannot_be_taken_is_one_sentence_and_changes_nothing(
    call: Callable[[PgmnemoStore], Any], sentence: str, store: PgmnemoStore
) -> None:
    store.put(HOME, "k", {"kept": True})
    with pytest.raises(PgmnemoError) as refused:
        call(store)
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)
    assert [one.value for one in store.search(())] == [{"kept": True}]


def test_what_is_large_but_allowed_comes_back(store: PgmnemoStore) -> None:
    for key, value in {
        "deep": nested(250),
        "many": {"a": [0] * 9_000},
        "long": {"a": "ab " * 300_000},
        "": {},
    }.items():
        store.put(HOME, key, value, index=False if key == "long" else None)
        assert store.get(HOME, key).value == value  # type: ignore[union-attr]


# Walls


def test_two_tenants_and_two_projects_never_see_each_other(
    open_memory: Callable[..., Memory], place: Place
) -> None:
    acme, other = place.tenant("alice"), place.tenant("bob")
    stores = {
        name: PgmnemoStore(open_memory(role).tenant(tenant).project(project))
        for name, role, tenant, project in (
            ("mine", "alice", acme, "agent"), ("project", "alice", acme, "agent-2"),
            ("tenant", "bob", other, "agent"),
        )
    }  # fmt: skip
    for space in NAMESPACES:
        stores["mine"].put(space, "k", {"text": "violin"}, ttl=5)
    for name in ("project", "tenant"):
        assert stores[name].search(()) == stores[name].search((), query="violin") == []
        assert stores[name].list_namespaces() == []
        for space in NAMESPACES:
            assert stores[name].get(space, "k") is None
            stores[name].delete(space, "k")
        stores[name].put(HOME, "theirs", {"text": "violin"})
        assert keys(stores[name].search((), query="violin")) == ["theirs"]
    assert len(stores["mine"].search((), limit=1000)) == len(NAMESPACES)
    with pytest.raises(GrantError):
        PgmnemoStore(open_memory("bob").tenant(acme).project("agent")).search(())


def test_a_prefix_finds_what_lies_below_it_and_nothing_else(store: PgmnemoStore) -> None:
    spaces = [*NAMESPACES, ("acme", "corp", "x"), ("acm",), ("langgraph",), ("x" * 9_000,)]
    store.batch([PutOp(space, "k", {"text": "violin"}) for space in spaces])
    for prefix in {*spaces, *PREFIXES}:
        below = {space for space in spaces if space[: len(prefix)] == prefix}
        for query in (None, "violin"):
            found = store.search(prefix, query=query, limit=1000)
            assert {one.namespace for one in found} == below, (prefix, query)
        assert set(store.list_namespaces(prefix=prefix or None)) == {
            space for space in spaces
            if len(space) >= len(prefix) and all(a in ("*", b) for a, b in zip(prefix, space, strict=False))
        }  # fmt: skip


def test_other_lessons_of_the_project_are_none_of_its_items(store: PgmnemoStore, scope: Scope) -> None:
    scope.add("A violin of mine.", key="plain", metadata={"key": "k", "value": {"a": 1}})
    scope.add("A violin.", key=key_of(HOME, "k"), topic="home")
    scope.add("A violin.", key="topic", topic=topic_of(HOME), metadata={"value": 1})
    assert store.get(HOME, "k") is None
    assert store.search(()) == store.search((), query="violin") == []
    store.put(HOME, "k", {"a": 1})
    assert keys(store.search(())) == ["k"]
    scope.forget(key_of(HOME, "k"))
    assert store.get(HOME, "k") is None
    assert store.search(()) == []


# Search


@pytest.mark.parametrize(
    ("index", "fields", "found"),
    [
        (None, None, "violin kettle rain tune 7"), (None, ["text"], "violin"),
        (["tags[*]"], None, "kettle rain"), (["inner.name", "text"], ["tags[*]"], "violin tune"),
        (["$"], ["missing"], "violin kettle rain tune 7"), (["missing", "blank"], None, ""), ([], None, ""),
        (False, None, ""),
    ],
)  # fmt: skip
def test_a_question_finds_an_item_by_its_index_fields(
    index: Any, fields: Any, found: str, scope: Scope
) -> None:
    store = PgmnemoStore(scope, index={"fields": fields} if fields else None)
    value = {"text": "violin", "tags": ["kettle", "rain"], "inner": {"name": "tune", "n": 7}, "blank": " "}
    store.put(HOME, "k", value, index=index)
    hits = {
        word
        for word in ("violin", "kettle", "rain", "tune", "7", "Lisbon")
        if any(hit.components["bm25"] for hit in scope.recall(word, k=1))
    }
    assert hits == set(found.split())
    assert bool(store.search((), query="anything")) == bool(found)
    assert store.get(HOME, "k").value == value  # type: ignore[union-attr]


def test_each_text_of_an_index_is_embedded_by_itself(
    open_memory: Callable[..., Memory], place: Place
) -> None:
    scope = open_memory(embedder=by_subject).tenant(place.tenant()).project("agent")
    store = PgmnemoStore(scope, index={"fields": ["notes[*]"]})
    store.put(HOME, "both", {"notes": ["the violin is out of tune", "a kettle that leaks"]})
    store.put(HOME, "rain", {"notes": ["rain all day"]})
    store.put(HOME, "raw", {"notes": ["fiddle"]}, index=False)
    assert keys(store.search((), query="fiddle")) == ["both", "rain"]
    assert scope.recall("fiddle", k=1)[0].passage == "the violin is out of tune"
    assert keys(store.search((), query="drizzle", limit=1)) == ["rain"]


def by_subject(texts: list[str]) -> list[list[float]]:
    """Vectors of three subjects."""
    subjects = [("violin", "fiddle", "tune"), ("kettle", "tea"), ("rain", "drizzle")]
    return [[0.01 + sum(word in text for word in words) for words in subjects] for text in texts]


def test_pages_of_a_question_are_the_whole_in_order(
    store: PgmnemoStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.batch([PutOp(HOME, f"list {n}", {"text": "violin", "tag": ["a"]}) for n in range(12)])
    store.batch([PutOp(HOME, f"one {n}", {"text": f"violin {n} and rain", "tag": "a"}) for n in range(5)])
    whole = keys(store.search((), query="violin", filter={"tag": "a"}, limit=50))
    assert sorted(whole) == [f"one {n}" for n in range(5)]
    pages = [store.search((), query="violin", filter={"tag": "a"}, limit=2, offset=n) for n in (0, 2, 4)]
    assert [key for page in pages for key in keys(page)] == whole
    assert keys(store.search((), filter={"tag": "a"}, limit=2, offset=1)) == ["one 3", "one 2"]
    monkeypatch.setattr(integration, "MOST", 10)
    assert len(store.search((), query="violin", limit=10)) == 10
    with pytest.raises(StoreError, match="at most"):
        store.search((), query="violin", limit=11)
    assert len(store.search((), limit=1_000_000)) == 17
    assert store.list_namespaces() == [HOME]


@pytest.mark.parametrize("index", [None, ["text"], ["text", "more[*]"]])
def test_a_block_of_context_is_kept_but_not_found_again(
    index: Any, store: PgmnemoStore, scope: Scope
) -> None:
    scope.add("I moved to Lisbon.", key="said")
    block = scope.context("Lisbon").text
    values = {"block": {"text": block}, "more": {"text": f"{block}\nand a violin", "more": [f"{block} rain"]}}
    for key, value in values.items():
        store.put(HOME, key, value, index=index)
        assert store.get(HOME, key).value == value  # type: ignore[union-attr]
    assert [hit.key for hit in scope.recall("Lisbon") if hit.components["bm25"]] == ["said"]
    assert store.search((), query="violin")[0].key == "more"


def test_what_somebody_superseded_or_forgot_holds_again_once_it_is_put(
    store: PgmnemoStore, scope: Scope
) -> None:
    for end in (scope.supersede, scope.forget):
        store.put(HOME, "k", {"text": "violin"})
        end(key_of(HOME, "k"))
        assert store.get(HOME, "k") is None
        store.put(HOME, "k", {"text": "kettle"})
        assert store.get(HOME, "k") is not None
        assert keys(store.search((), query="kettle")) == keys(store.search(())) == ["k"]


# Time to live


@pytest.mark.parametrize(
    ("config", "read", "refreshed"),
    [
        ({}, {}, True),
        ({"refresh_on_read": False}, {}, False),
        ({"refresh_on_read": False}, {"refresh_ttl": True}, True),
        ({"refresh_on_read": True}, {"refresh_ttl": False}, False),
    ],
)
@pytest.mark.parametrize("method", ["get", "search", "query"])
def test_reading_lets_a_ttl_begin_anew(
    method: str, config: Any, read: Any, refreshed: bool, scope: Scope
) -> None:
    store = PgmnemoStore(scope, ttl={"default_ttl": 30, **config})
    store.put(HOME, "k", {"text": "violin"})
    store.put(HOME, "for ever", {"text": "violin"}, ttl=None)
    scope.update(key_of(HOME, "k"), expires_at=datetime.now(UTC) + timedelta(minutes=1))
    if method == "get":
        store.get(HOME, "k", **read)
    else:
        store.search((), query="violin" if method == "query" else None, **read)
    left = scope.get(key_of(HOME, "k")).expires_at - datetime.now(UTC)  # type: ignore[union-attr, operator]
    assert (left > timedelta(minutes=20)) == refreshed
    assert scope.get(key_of(HOME, "for ever")).expires_at is None  # type: ignore[union-attr]


def test_a_read_takes_no_ttl_from_what_is_put_meanwhile(
    scope: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, update = PgmnemoStore(scope), scope.update
    store.put(HOME, "k", {"n": 1}, ttl=5)
    store.put(HOME, "gone", {"n": 1}, ttl=5)

    def late(key: str, **given: Any) -> str:
        monkeypatch.setattr(scope, "update", update)
        store.put(HOME, "k", {"n": 2})
        store.delete(HOME, "gone")
        return update(key, **given)

    monkeypatch.setattr(scope, "update", late)
    assert len(store.search(())) == 2
    assert scope.get(key_of(HOME, "k")).expires_at is None  # type: ignore[union-attr]
    assert keys(store.search(())) == ["k"]


# Threads and event loops


def test_a_store_of_a_synchronous_memory_is_awaited_in_any_loop(store: PgmnemoStore) -> None:
    async def used() -> Any:
        store.put(HOME, "plain", {"n": 0})
        await asyncio.gather(*(store.aput(HOME, str(n), {"n": n}) for n in range(20)))
        return await store.asearch((), limit=100)

    assert len(asyncio.run(used())) == len(asyncio.run(store.asearch((), limit=100))) == 21


def test_a_store_of_an_asynchronous_memory_serves_its_loop_and_other_threads(place: Place) -> None:
    async def used() -> PgmnemoStore:
        async with await AsyncMemory.open(place.dsn(), embedder=None) as memory:
            store = PgmnemoStore(memory.tenant(place.tenant()).project("agent"))
            await asyncio.gather(*(store.aput(HOME, str(n), {"n": n}) for n in range(20)))
            with pytest.raises(asyncio.InvalidStateError, match="await its aget"):
                store.get(HOME, "1")
            await asyncio.to_thread(store.put, HOME, "from a thread", {"n": 1})
            await asyncio.to_thread(asyncio.run, store.aput(HOME, "from a loop", {"n": 1}))
            assert len(await store.asearch((), limit=100)) == 22
            assert await store.asweep_ttl() == 0
            await store.adelete(HOME, "1")
            assert await store.aget(HOME, "1") is None
            assert await store.alist_namespaces(max_depth=1) == [("users",)]
            return store

    store = asyncio.run(used())
    for call in (lambda: store.get(HOME, "2"), lambda: asyncio.run(store.aget(HOME, "2"))):
        with pytest.raises(StoreError, match="event loop of this store has ended"):
            call()


class Said(TypedDict):
    said: str
    known: list[str]


async def aremember(state: Said, runtime: Runtime[None]) -> dict[str, Any]:
    """A node that recalls and stores by the store of its graph."""
    assert runtime.store is not None
    found = await runtime.store.asearch(HOME, query=state["said"])
    await runtime.store.aput(HOME, state["said"], {"text": state["said"]})
    return {"known": keys(found)}


def test_a_graph_awaits_the_store_that_it_was_compiled_with(place: Place) -> None:
    async def talked() -> list[str]:
        async with await AsyncMemory.open(place.dsn(), embedder=None) as memory:
            store = PgmnemoStore(memory.tenant(place.tenant()).project("agent"))
            graph = StateGraph(Said).add_node(aremember).add_edge(START, "aremember").compile(store=store)
            await graph.ainvoke({"said": "I moved to Lisbon.", "known": []})
            answer = await graph.ainvoke({"said": "Lisbon?", "known": []})
            return list(answer["known"])

    assert asyncio.run(talked()) == ["I moved to Lisbon."]


def test_threads_that_write_one_item_leave_one(store: PgmnemoStore) -> None:
    start = threading.Barrier(8)

    def write(number: int) -> None:
        start.wait()
        for n in range(5):
            store.put(HOME, "one", {"n": number})
            store.put(HOME, f"{number} {n}", {"n": number})

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(8)))
    assert len(store.search((), limit=100)) == 41


# Making one


def test_what_no_store_can_be_made_of_is_told(open_memory: Callable[..., Memory], place: Place) -> None:
    tenant = open_memory().tenant(place.tenant())
    with pytest.raises(StoreError, match="needs a project"):
        PgmnemoStore(tenant)
    with pytest.raises(StoreError, match="dims, embed, but the memory embeds"):
        PgmnemoStore(tenant.project("agent"), index={"dims": 3, "embed": embed, "fields": ["a"]})

    async def open_it() -> Any:
        return (await AsyncMemory.open(place.dsn(), embedder=None)).tenant("t").project("agent")

    with asyncio.Runner() as runner:
        scope = runner.run(open_it())
        with pytest.raises(StoreError, match="in its event loop"):
            PgmnemoStore(scope)
        runner.run(scope._memory.close())


def test_the_page_names_no_row_that_no_test_holds(page: Any) -> None:
    text = (Path(__file__).parents[3] / "docs/integrations/langgraph.md").read_text(encoding="utf-8")
    assert len([line for line in text.splitlines() if line.startswith("| ")]) == 13
