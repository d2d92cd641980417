"""LangGraph's store: what its own PostgresStore wrote where it is installed, and items as JSON."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from pgmnemo import Memory
from pgmnemo.errors import DatabaseError, UsageError
from pgmnemo.importers.run_import import detect_format
from tests.pgmnemo.importers.conftest import Read, Write

ITEM = {
    "namespace": ["memories", "ada"], "key": "k1", "value": {"text": "Sails on Fridays", "kind": "habit"},
    "created_at": "2024-05-08T13:56:00+00:00", "updated_at": "2024-05-09T13:56:00+00:00",
}  # fmt: skip


@pytest.fixture
def dsn(kept: tuple[Memory, str]) -> str:
    """A schema of its own."""
    schema = f"s{uuid4().hex}"
    with psycopg.connect(kept[1], autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {schema}".encode())
    return make_conninfo(kept[1], options=f"-c search_path={schema}")


def test_a_store_that_langgraph_made_is_read(dsn: str, read: Read, write: Write) -> None:
    postgres = pytest.importorskip("langgraph.store.postgres")
    with postgres.PostgresStore.from_conn_string(dsn) as store:
        store.setup()
        store.put(("memories", "ada"), "k1", {"text": "Sails on Fridays", "kind": "habit"}, ttl=60)
        store.put(("memories", "bob"), "k1", {"kind": "Memory", "content": {"content": "Likes tea"}})
        store.put(("profiles",), "bob", {"name": "Bob", "age": 7})
        items = [item.dict() for item in store.search(())]
    assert detect_format(dsn) == "langgraph"
    found = read("langgraph", dsn)
    assert [(one.project, one.item.key, one.item.text) for one in found] == [
        ("memories.ada", "langgraph/memories.ada/k1", "Sails on Fridays"),
        ("memories.bob", "langgraph/memories.bob/k1", "Likes tea"),
        ("profiles", "langgraph/profiles/bob", '{"age":7,"name":"Bob"}'),
    ]
    first = found[0].item
    assert dict(first.metadata or {})["kind"] == "habit"
    assert first.at is not None
    assert first.expires_at is not None
    assert 3590 < (first.expires_at - first.at).total_seconds() < 3610
    given = {one.item.key: one.item for one in read("langgraph", write("items.json", items))}
    for one in found:
        assert (given[one.item.key].text, given[one.item.key].at) == (one.item.text, one.item.at)


@pytest.mark.parametrize(
    ("value", "text", "rest"),
    [
        ({"content": "a", "b": 1}, "a", {"b": 1}),
        ({"data": "a"}, "a", {}),
        ({"kind": "Memory", "content": {"content": "a", "b": 1}}, "a", {"kind": "Memory", "b": 1}),
        ({"content": {"b": 1}}, '{"content":{"b":1}}', {}),
        ({"text": 5}, '{"text":5}', {}),
    ],
)
def test_the_text_of_a_value_is_found(write: Write, read: Read, value: Any, text: str, rest: Any) -> None:
    [found] = read("langgraph", write("x.json", [{**ITEM, "value": value}]))
    assert found.item.text == text
    times = {name: ITEM[name] for name in ("created_at", "updated_at", "namespace")}
    assert found.item.metadata == {**rest, **times, "source": "langgraph"}
    assert found.item.at == datetime(2024, 5, 9, 13, 56, tzinfo=UTC)


def test_what_is_no_item_or_no_store_is_one_sentence(dsn: str, write: Write, read: Read) -> None:
    with pytest.raises(UsageError, match="entry 1 is no item: it lacks `namespace`, `key` or `value`"):
        read("langgraph", write("x.json", [{**ITEM, "key": 1}]))
    with pytest.raises(DatabaseError, match=r'refused a statement: relation "store" does not exist'):
        read("langgraph", dsn)
    with pytest.raises(DatabaseError, match="cannot be reached"):
        read("langgraph", "postgresql://127.0.0.1:1/x")
    with pytest.raises(UsageError, match="this is no address of a database"):
        read("langgraph", "a=b=c")
