"""The vector leg is exact in a small scope, goes through HNSW in a large one, and never comes back short."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
import psycopg
import pytest

LARGE, SMALL, QUESTIONS = 2000, 20, 20


@pytest.fixture(scope="module")
def crowd(database: Any, tenant_class: Any) -> Iterator[Any]:
    """2,000 lessons of one tenant and 20 of another, all in the index, and questions of their kind."""
    chance = np.random.default_rng(7)
    centres = chance.standard_normal((30, 1024))
    count = LARGE + SMALL + QUESTIONS
    rows = centres[chance.integers(0, 30, count)] + 0.7 * chance.standard_normal((count, 1024))
    vectors = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    with ExitStack() as stack, database.admin() as owner:
        large, small = tenant_class(database, stack), tenant_class(database, stack)
        for tenant, part in ((large, vectors[:LARGE]), (small, vectors[LARGE : LARGE + SMALL])):
            tenant.set(exact_scan_limit=0, pool_depth=20, ef_search=40)
            tenant.store_many({f"l{n:04}": f"lesson {n}" for n in range(len(part))}, part)
        owner.execute("VACUUM (ANALYZE) pgmnemo.lesson, pgmnemo.posting")
        yield large, small, vectors[LARGE + SMALL :]
        for tenant in (large, small):
            tenant.value("SELECT pgmnemo.forget_tenant()")


def plan(tenant: Any, question: Any) -> str:
    """EXPLAIN of the statement that pgmnemo._nearest_indexed executes, taken from its source."""
    source = tenant.value("SELECT prosrc FROM pg_proc WHERE oid = 'pgmnemo._nearest_indexed'::regproc")
    found = re.search(r"EXECUTE\s+'(.+?)'\s+USING", source, re.DOTALL)
    assert found
    with tenant.client.transaction():
        tenant.client.execute("SET LOCAL enable_seqscan = off")
        tenant.client.execute("SET LOCAL hnsw.ef_search = 40")
        tenant.client.execute(
            "PREPARE leg (uuid, uuid, uuid, vector, int, text, timestamptz, text) AS " + found[1]
        )
        literal = "[" + ",".join(map(str, question)) + "]"
        scope = f"'{tenant.id}', '{tenant.project}', '{tenant.project}'"
        query = f"EXPLAIN EXECUTE leg ({scope}, '{literal}', 20, NULL, NULL, 'off')"
        lines = [row[0] for row in tenant.rows(query)]
        tenant.client.execute("DEALLOCATE leg")
        return "\n".join(lines)


def asked(tenant: Any, questions: Any, limit: int, **options: Any) -> list[list[str]]:
    tenant.set(exact_scan_limit=limit)
    return [tenant.ids(None, question, mode="vector", k=10, **options) for question in questions]


def test_the_index_serves_a_large_scope_and_finds_what_the_exact_scan_finds(crowd: Any) -> None:
    large, _, questions = crowd
    shown = plan(large, questions[0])
    assert "lesson_embedding_hnsw" in shown
    assert "lesson_unindexed" in shown
    assert "Seq Scan" not in shown
    used = "SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = 'lesson_embedding_hnsw'"

    def scans() -> int:
        large.client.execute("SELECT pg_stat_force_next_flush()")
        return int(large.value(used))

    before = scans()
    found = asked(large, questions, 0)
    between = scans()
    exact = asked(large, questions, 10_000)
    assert (between > before, scans()) == (True, between)
    share = np.mean([len(set(a) & set(b)) / 10 for a, b in zip(found, exact, strict=True)])
    assert share >= 0.9


def test_the_exact_answer_is_that_of_numpy(crowd: Any) -> None:
    large, _, questions = crowd
    rows = large.rows("SELECT external_id, embedding FROM pgmnemo.lesson ORDER BY external_id")
    matrix = np.array([row[1].to_numpy() for row in rows], dtype=np.float32)
    for question, found in zip(questions, asked(large, questions, 10_000), strict=True):
        best = np.argsort(-(matrix @ question), kind="stable")[:10]
        assert found == [rows[place][0] for place in best]


def test_a_tenant_of_one_percent_gets_all_it_asks_for(crowd: Any) -> None:
    _, small, questions = crowd
    assert asked(small, questions, 0) == asked(small, questions, 10_000)
    assert all(len(ids) == 10 for ids in asked(small, questions, 0))


def test_a_filter_that_the_index_cannot_answer_is_answered_exactly(crowd: Any) -> None:
    large, _, questions = crowd
    with large.client.transaction(force_rollback=True):
        large.client.execute("UPDATE pgmnemo.lesson SET role = 'rare' WHERE external_id LIKE 'l00%'")
        assert asked(large, questions[:3], 0, role="rare") == asked(large, questions[:3], 10_000, role="rare")


def test_the_callers_own_index_settings_come_back(crowd: Any) -> None:
    large, _, questions = crowd
    large.client.execute("SET hnsw.ef_search = 33")
    asked(large, questions[:1], 0)
    assert large.value("SHOW hnsw.ef_search") == "33"
    assert large.value("SHOW hnsw.iterative_scan") == "off"


def test_lessons_enter_the_index_when_their_scope_grows_large(tenant: Any, unit: Any) -> None:
    indexed = "SELECT count(*) FROM pgmnemo.lesson WHERE indexed"
    tenant.set(exact_scan_limit=10)
    tenant.store_many({f"a{n}": "x" for n in range(10)}, [unit(1, n) for n in range(10)])
    assert tenant.value(indexed) == 0
    tenant.store_many({f"b{n}": "x" for n in range(5)}, [unit(2, n) for n in range(5)])
    assert tenant.value(indexed) == 5
    whole = tenant.recall(None, unit(1), mode="vector", k=15)
    tenant.set(exact_scan_limit=100)
    assert [row["external_id"] for row in whole] == tenant.ids(None, unit(1), mode="vector", k=15)
    assert tenant.value("SELECT pgmnemo.index_lessons()") == 0
    tenant.set(exact_scan_limit=10)
    assert tenant.value("SELECT pgmnemo.index_lessons()") == 10
    assert tenant.value(indexed) == 15


def test_the_protocols_call_works_word_for_word_with_either_type(tenant: Any, unit: Any) -> None:
    tenant.store("a", "river", embedding=unit(1))
    for kind in ("float4[]", "vector", "vector(1024)"):
        query = ("SELECT * FROM pgmnemo.recall_lessons(embedding := %s::text::" + kind + ", k := 10, "
                 "query_text := %s, project_id := %s) ORDER BY score DESC")  # fmt: skip
        numbers = ",".join(str(number) for number in unit(1))
        literal = "{" + numbers + "}" if kind == "float4[]" else "[" + numbers + "]"
        assert len(tenant.rows(query, literal, "river", tenant.project)) == 1


@pytest.mark.parametrize(("numbers", "sentence"), [
    ([1.0, 2.0], "embedding has 2 numbers in 1 dimension(s), but must have 1024 in one"),
    ([], "embedding has 0 numbers in 1 dimension(s), but must have 1024 in one"),
    ([[1.0] * 1024], "embedding has 1024 numbers in 2 dimension(s), but must have 1024 in one"),
    ([0.0] * 1024, "embedding has norm 0, but must have one from 1e-15 to 1e15"),
    ([1e30] * 1024, "but must have one from 1e-15 to 1e15"),
    ([float("nan")] * 1024, "NaN not allowed in vector"),
    ([float("inf")] * 1024, "infinite value not allowed in vector"),
    ([None] * 1024, "array must not contain nulls"),
])  # fmt: skip
def test_an_embedding_that_is_none_is_refused(tenant: Any, numbers: Any, sentence: str) -> None:
    for call in ("recall_lessons(%s::real[])", "store_lesson(gen_random_uuid(), 'a', 'b', %s::real[])"):
        with pytest.raises(psycopg.Error, match=re.escape(sentence)):
            tenant.rows(f"SELECT * FROM pgmnemo.{call}", numbers)
    direct = (
        "INSERT INTO pgmnemo.lesson (tenant_id, project_id, external_id, content, embedding) "
        "VALUES (%s, %s, 'a', 'b', array_fill(0, '{1024}'))"
    )
    with pytest.raises(psycopg.Error, match="embedding_check"):
        tenant.client.execute(direct, (tenant.id, tenant.id))


def test_a_cancel_works_at_once(crowd: Any) -> None:
    large, _, questions = crowd
    with large.client.transaction(force_rollback=True):
        large.client.execute("SET LOCAL statement_timeout = 1")
        with pytest.raises(psycopg.errors.QueryCanceled):
            large.rows("SELECT pgmnemo.recall_lessons(query_text => 'lesson') FROM generate_series(1, 1000)")
    assert len(large.ids("lesson", questions[0])) == 10
