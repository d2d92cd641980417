"""LlamaIndex's store and memory block: against its own SimpleVectorStore, within an index and a Memory."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from typing import Any

import pytest
from llama_index.core import Document, MockEmbedding, StorageContext, VectorStoreIndex
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import Memory as ChatMemory
from llama_index.core.schema import ImageNode, IndexNode, NodeRelationship, RelatedNodeInfo, TextNode
from llama_index.core.vector_stores import SimpleVectorStore
from llama_index.core.vector_stores.types import (
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
    VectorStoreQuery,
    VectorStoreQueryMode,
)

from pgmnemo import AsyncMemory, Memory, Scope
from pgmnemo.adapters.llamaindex import PgmnemoMemoryBlock, PgmnemoVectorStore
from pgmnemo.errors import PgmnemoError, UsageError
from tests.pgmnemo.client.driving import Place

WIDTH = 8
DOCUMENTS = ["doc", "doc-1", "doc%", "doc_", "d\"o'c", "d\\oc", "ＤＯＣ", "None "]
WORDS = ["red", "Red", "blue", "a%b", "a_b", "", "tür", "x" * 3000]
OF_TEXT = ["color", "and", "not", "contains", "a.b", "%2E", "$.x", 'q"', "_node", ""]
OF_NUMBER = ["year", "or.x"]
OF_LISTS = ["tags", "prefix"]
FOR_ALL = [FilterOperator.EQ, FilterOperator.NE]
ORDERED = [FilterOperator.GT, FilterOperator.GTE, FilterOperator.LT, FilterOperator.LTE]
AMONG = [FilterOperator.IN, FilterOperator.NIN]
OF_ARRAYS = [FilterOperator.ANY, FilterOperator.ALL]
Rolled = random.Random


def filter_on(key: str, operator: FilterOperator, value: Any) -> MetadataFilters:
    return MetadataFilters(filters=[MetadataFilter(key=key, operator=operator, value=value)])


def vector(rolled: Rolled) -> list[float]:
    return [rolled.gauss(0, 1) for _ in range(WIDTH)]


def a_node(rolled: Rolled, number: int) -> TextNode:
    """With any of the metadata, of the kinds that the operators compare, and perhaps of a document."""
    metadata: dict[str, Any] = {}
    for keys, make in (
        (OF_TEXT, lambda: rolled.choice([*WORDS, None])),
        (OF_NUMBER, lambda: rolled.choice([1, 2, 3, 2.5, -7, 10**15, None])),
        (OF_LISTS, lambda: rolled.choice([[], ["red"], ["red", "blue"], ["a%b", "tür", "Red"], None])),
    ):
        metadata.update({key: make() for key in keys if rolled.random() < 0.6})
    node = TextNode(id_=f"node {number}", text=f"text {number}", metadata=metadata, embedding=vector(rolled))
    if rolled.random() < 0.8:
        source = RelatedNodeInfo(node_id=rolled.choice(DOCUMENTS))
        node.relationships[NodeRelationship.SOURCE] = source
    return node


def a_condition(rolled: Rolled) -> MetadataFilter:
    kind = rolled.randrange(6)
    if kind == 0:
        key = rolled.choice([*OF_TEXT, *OF_NUMBER, *OF_LISTS, "nowhere"])
        return MetadataFilter(key=key, value=None, operator=FilterOperator.IS_EMPTY)
    if kind == 1:
        key, value = rolled.choice(OF_NUMBER), rolled.choice([1, 2, 2.5, 3, 0])
        return MetadataFilter(key=key, value=value, operator=rolled.choice([*FOR_ALL, *ORDERED]))
    if kind == 2:
        values = rolled.sample(["red", "Red", "blue", "a%b", "tür", "no"], rolled.randrange(1, 4))
        return MetadataFilter(key=rolled.choice(OF_LISTS), value=values, operator=rolled.choice(OF_ARRAYS))
    if kind == 3:
        key, value = rolled.choice(OF_LISTS), rolled.choice(["red", "blue", "re"])
        return MetadataFilter(key=key, value=value, operator=FilterOperator.CONTAINS)
    if kind == 4:
        key, values = rolled.choice(OF_TEXT), rolled.sample(WORDS, rolled.randrange(4))
        return MetadataFilter(key=key, value=values, operator=rolled.choice(AMONG))
    key = rolled.choice([*OF_TEXT, "ref_doc_id", "doc_id"])
    value = rolled.choice(DOCUMENTS if "doc" in key else WORDS)
    return MetadataFilter(key=key, value=value, operator=rolled.choice([*FOR_ALL, *ORDERED]))


def some_filters(rolled: Rolled) -> MetadataFilters:
    told = [a_condition(rolled) for _ in range(rolled.randrange(1, 4))]
    return MetadataFilters(filters=told, condition=rolled.choice(list(FilterCondition)))


def answers(store: Any, rolled: Rolled, filters: MetadataFilters | None, k: int) -> dict[str, float]:
    """Ids with their similarities; the seed is the same for both stores."""
    node_ids = [f"node {number}" for number in range(0, 60, 2)] if rolled.random() < 0.2 else None
    asked = VectorStoreQuery(vector(rolled), similarity_top_k=k, filters=filters, node_ids=node_ids)
    found = store.query(asked)
    return dict(zip(found.ids, found.similarities, strict=True))


@pytest.mark.parametrize("seed", range(6))
def test_what_its_own_store_answers(scope: Scope, seed: int) -> None:
    """Filters, deletions, replacements and the order by cosine, in random sequences."""
    rolled = random.Random(seed)
    ours, theirs = PgmnemoVectorStore(scope), SimpleVectorStore()
    for step in range(40):
        nodes = [a_node(rolled, rolled.randrange(60)) for _ in range(rolled.randrange(5))]
        nodes = list({node.node_id: node for node in nodes}.values())
        assert ours.add(nodes) == theirs.add(nodes)
        filters, chance = some_filters(rolled), rolled.random()
        if chance < 0.1:
            document = rolled.choice(DOCUMENTS)
            ours.delete(document), theirs.delete(document)
        elif chance < 0.2:
            ids = [f"node {rolled.randrange(70)}" for _ in range(3)]
            ours.delete_nodes(ids), theirs.delete_nodes(ids)
        elif chance < 0.3:
            ids = [f"node {rolled.randrange(70)}" for _ in range(30)]
            ours.delete_nodes(ids, filters), theirs.delete_nodes(ids, filters)
        elif chance < 0.34:
            ours.delete_nodes(filters=filters), theirs.delete_nodes(filters=filters)
        again = rolled.randrange(1 << 30)
        got = answers(ours, random.Random(again), filters, 100)
        wanted = answers(theirs, random.Random(again), filters, 100)
        assert got == pytest.approx(wanted, abs=2e-3), (seed, step, filters)
        got = answers(ours, random.Random(again), None, 5)
        wanted = answers(theirs, random.Random(again), None, 5)
        assert sorted(got.values()) == pytest.approx(sorted(wanted.values()), abs=2e-3)
        assert {node.node_id for node in ours.get_nodes()} == set(theirs.data.embedding_dict)
