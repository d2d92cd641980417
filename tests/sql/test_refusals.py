"""A wrong call ends in one sentence with its SQLSTATE and changes nothing; a new verb's are rows of CALLS."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import psycopg
import pytest

# {p} is the project, {v} a vector of ones, {0} one of noughts.
CALLS = [
    ("store(NULL, NULL, 'a', 'b')", "22023", "lesson 'a' lacks project_id, external_id or content"),
    ("store(NULL, '{p}', '', 'b')", "22023", "the lesson lacks project_id, external_id or content"),
    ("store(NULL, '{p}', 'a', NULL)", "22023", "lesson 'a' lacks project_id, external_id or content"),
    ("store(NULL, '{p}', repeat('é', 501), 'b')", "22023", "external_id of 1002 bytes, but may have 1"),
    ("store(NULL, '{p}', 'a', 'b', importance => 6)", "22023", "lesson 'a' must have an importance from"),
    ("store(NULL, '{p}', 'a', 'b', importance => -70000)", "22023", "must have an importance from 1 to 5"),
    ("store(NULL, '{p}', 'a', 'b', occurred_at => 'infinity')", "22023", "must have a finite occurred_at"),
    ("store(NULL, '{p}', 'a', 'b', passage_embeddings => '{}')", "22023", "0 passages, but 0 passage_em"),
    ("store(NULL, '{p}', 'a', 'b', passages => '{x,y}', passage_embeddings => ARRAY[{v}::vector])", "22023",
     "has 2 passages, but 1 passage_embeddings"),
    ("store(NULL, '{p}', 'a', 'b', passages => '{x,NULL}')", "22023", "has no text in passage 2"),
    ("store(NULL, '{p}', 'a', 'b', passages => array_fill('x'::text, '{10001}'))", "22023", "10001 passa"),
    ("store(NULL, '{p}', 'a', 'b', passages => '{x}', passage_embeddings => ARRAY['[1,2]'::vector])",
     "22023", "lesson 'a' has a vector of 2 dimensions, but those of tenant '{t}' have 1024"),
    ("store(NULL, '{p}', 'a', 'b', passages => '{x}', passage_embeddings => ARRAY[{0}::vector])", "22023",
     "must have passage_embeddings with a norm from 1e-15 to 1e15"),
    ("store_passages(NULL, -1, '{x}')", "P0002", "there is no lesson -1"),
    ("store_passages(NULL, -1, '{}')", "22023", "lesson -1 is given no passages"),
    ("store_passages(NULL, -1, NULL)", "22023", "lesson -1 is given no passages"),
    ("store_passages(NULL, -1, '{x}', ARRAY['[1,2]'::vector])", "P0002", "there is no lesson -1"),
    ("store_passages(NULL, -1, '{x}', ARRAY[array_fill(1::real, '{4001}')::vector])", "22023",
     "must have passage_embeddings of at most 4,000 dimensions"),
    ("recall_lessons('{1,2}')", "22023",
     "the question has an embedding of 2 dimensions, but the vectors of tenant '{t}' have 1024"),
    ("store_passages(NULL, -1, '{NULL}')", "22023", "lesson -1 has no text in passage 1"),
    ("store_staged()", "42P01", "role pgmnemo_runner has no staging table in this transaction"),
    ("recall_lessons(query_text => 'a', k => 0)", "22023", "k is 0, but must be from 1 to 10000"),
    ("recall_lessons(query_text => 'a', k => 10001)", "22023", "k is 10001, but must be from 1 to 10000"),
    ("recall_lessons(query_text => 'a', k => NULL)", "22023", "k is NULL, but must be from 1 to 10000"),
    ("recall_lessons()", "22023", "recall needs an embedding, a query_text or both"),
    ("recall_lessons(query_text => 'a', mode => 'fast')", "22023", "must be one of hybrid, vector, keyword"),
    ("recall_lessons(query_text => 'a', mode => 'vector')", "22023", "mode vector needs an embedding"),
    ("recall_lessons({v}, mode => 'keyword')", "22023", "mode keyword needs a query_text"),
    ("recall_lessons(query_text => 'a', as_of => 'infinity')", "22023", "as_of is infinity, but must be"),
    ("explain(NULL, '{p}', 'z', query_text => 'a')", "P0002", "has no lesson 'z'"),
    ("explain(NULL, NULL, 'x', query_text => 'a')", "22023", "in_project is NULL, but must name"),
    ("link(NULL, '{p}', 'x', 'x', 'k')", "22023", "a lesson cannot be linked to itself"),
    ("link(NULL, '{p}', 'x', 'y', 'k', 1.5)", "22023", "weight is 1.5, but must be from 1e-30 to 1"),
    ("link(NULL, '{p}', 'x', 'y', 'k', 'NaN')", "22023", "weight is NaN, but must be from 1e-30 to 1"),
    ("link(NULL, '{p}', 'x', 'y', '')", "22023", "kind has 0 bytes, but must have 1 to 1000"),
    ("link(NULL, '{p}', 'x', 'z', 'k')", "P0002", "project {p} has no lesson 'z'"),
    ("link(NULL, '{p}', 'x', 'y', 'k', 1, '2025-01-02', '2025-01-01')", "22023", "be after valid_from"),
    ("unlink(NULL, '{p}', 'z', 'y', 'k')", "P0002", "project {p} has no lesson 'z'"),
]  # fmt: skip
VECTOR = "embedding has 0 numbers in 1 dimension(s), but must have 1 to 4000 in one"
EMBEDDINGS = [
    ([1.0] * 4001, VECTOR.replace("0 numbers", "4001 numbers", 1)),
    ([], VECTOR),
    ([[1.0] * 1024], VECTOR.replace("0 numbers in 1 ", "1024 numbers in 2 ")),
    ([None] * 1024, "array must not contain nulls"),
    ([0.0] * 1024, "embedding has norm 0, but must have one from 1e-15 to 1e15"),
    ([float("nan")] * 1024, "NaN not allowed in vector"),
    ([float("-inf")] + [0.0] * 1023, "infinite value not allowed in vector"),
    ([3e38] * 1024, "but must have one from 1e-15 to 1e15"),
]
SETTINGS = [
    ("gate_strict", "on", "one of enforce, warn, off"),
    ("statistics_scope", "world", "one of tenant, project"),
    ("text_config", "klingon", "a text search configuration"),
    ("recency_weight", "1.01", "a number from 0 to 1"), ("recency_weight", "much", "a number from 0 to 1"),
    ("bm25_k1", "NaN", "a number from 0 to 10"), ("cosine_weight", "Infinity", "a number from 0 to 1000"),
    ("passage_terms_weight", "-1", "a number from 0 to 100"),
    ("recency_half_life", "0", "a number from 0.001 to 36500"),
    ("graph_depth", "5", "a whole number from 0 to 4"),
    ("pool_depth", "10.5", "a whole number from 1 to 10000"),
    ("hnsw_min_vectors", "-1", "a whole number from 0 to 10000000"),
]  # fmt: skip


@pytest.fixture(scope="module")
def held(database: Any, tenant_class: Any) -> Iterator[Any]:
    """A tenant with the lessons x and y."""
    with ExitStack() as stack:
        tenant = tenant_class(database, stack)
        tenant.store_many({"x": "one", "y": "two"})
        tenant.store("x", "one", embedding=[1.0] * 1024)
        yield tenant
        assert tenant.ids("one", k=9) == ["x", "y"]  # after all that was refused
        tenant.value("SELECT pgmnemo.forget_all(NULL)")


@pytest.mark.parametrize(("call", "state", "sentence"), CALLS)
def test_a_wrong_call_ends_in_one_sentence(held: Any, call: str, state: str, sentence: str) -> None:
    for name, value in {"{p}": str(held.project), "{t}": str(held.id), "{v}": "array_fill(1::real, '{1024}')",
                        "{0}": "array_fill(0::real, '{1024}')"}.items():  # fmt: skip
        call, sentence = call.replace(name, value), sentence.replace(name, value)
    with pytest.raises(psycopg.Error) as caught:
        held.rows(f"SELECT * FROM pgmnemo.{call}")
    assert sentence in (caught.value.diag.message_primary or "")
    assert caught.value.sqlstate == state


@pytest.mark.parametrize(("numbers", "sentence"), EMBEDDINGS, ids=range(len(EMBEDDINGS)))
def test_a_wrong_embedding_ends_in_one_sentence(held: Any, numbers: list[Any], sentence: str) -> None:
    for call in (
        "recall_lessons(%s::real[])", f"explain(NULL, '{held.project}', 'x', %s::real[])",
        f"store(NULL, '{held.project}', 'c', 'river', %s::real[])",
    ):  # fmt: skip
        with pytest.raises(psycopg.Error, match=re.escape(sentence)):
            held.rows(f"SELECT * FROM pgmnemo.{call}", numbers)


@pytest.mark.parametrize(("name", "value", "range_"), SETTINGS)
def test_a_setting_out_of_range_ends_in_a_sentence_that_names_the_range(
    held: Any, name: str, value: str, range_: str
) -> None:
    sentence = f"pgmnemo.{name} is '{value}', but must be {range_}"
    with held.client.transaction(force_rollback=True):
        held.set(**{name: value})
        for call in (lambda: held.recall("river"), lambda: held.store("a", "b")):
            with pytest.raises(psycopg.errors.InvalidParameterValue) as caught, held.client.transaction():
                call()
            assert sentence in str(caught.value)
        listed = dict(held.rows("SELECT name, warning FROM pgmnemo.list_settings()"))
        assert listed[f"pgmnemo.{name}"] == "value out of range: every use of it is an error"


def test_a_nul_is_refused_by_the_driver(held: Any) -> None:
    for call in (lambda: held.recall("a\0b"), lambda: held.store("c", "a\0b")):
        with pytest.raises(psycopg.DataError, match="NUL"):
            call()
