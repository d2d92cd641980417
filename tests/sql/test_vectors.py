"""The vector leg is exact in a small scope, goes through HNSW in a large one, and never comes back short."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
import psycopg
import pytest
from psycopg import errors

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
        owner.execute("VACUUM (ANALYZE) pgmnemo.lesson, pgmnemo.passage, pgmnemo.posting")
        yield large, small, vectors[LARGE + SMALL :]
        for tenant in (large, small):
            tenant.value("SELECT pgmnemo.forget_tenant()")


def plans(tenant: Any, function: str, settings: str) -> list[str]:
    """The generic plan of each statement of a function of the vector leg, taken from its source."""
    source = tenant.value("SELECT prosrc FROM pg_proc WHERE oid = %s::regproc", f"pgmnemo.{function}")
    statements = re.findall(r"RETURN QUERY\s+(SELECT.+?LIMIT most);", source, re.DOTALL)
    places = {"scope.tenant": 1, "scope.first_project": 2, "scope.last_project": 3, "narrow": 4, "middle": 4,
              "direction": 4, "most": 5, "flags": 6, "projects": 7}  # fmt: skip
    shown = []
    with tenant.client.transaction(force_rollback=True), tenant.acting():
        # a generic plan is one for the mean tenant: here one as large as those of this file
        tenant.client.execute("ALTER TABLE pgmnemo.passage ALTER tenant_id SET (n_distinct = 2)")
        tenant.client.execute("ANALYZE pgmnemo.passage (tenant_id)")
        for setting in ("plan_cache_mode = force_generic_plan", "enable_seqscan = off", *settings.split(";")):
            tenant.client.execute(f"SET LOCAL {setting}")
        for statement in statements:
            text = re.sub(rf"(?<![.\w])({'|'.join(places)})\b", lambda name: f"${places[name[0]]}", statement)
            tenant.client.execute(
                f"PREPARE leg (uuid, uuid, uuid, halfvec, int, boolean[], uuid[]) AS {text}"
            )
            rows = tenant.rows("EXPLAIN EXECUTE leg (NULL, NULL, NULL, NULL, NULL, NULL, NULL)")
            tenant.client.execute("DEALLOCATE leg")
            shown.append("\n".join(row[0] for row in rows))
    return shown


def half(vector: Any) -> Any:
    """The direction of a vector as half precision keeps it, in double precision."""
    return (vector / np.linalg.norm(vector)).astype(np.float16).astype(np.float64)


def asked(tenant: Any, questions: Any, limit: int, **options: Any) -> list[list[str]]:
    tenant.set(exact_scan_limit=limit)
    return [tenant.ids(None, question, mode="vector", k=10, **options) for question in questions]


def test_the_index_serves_a_large_scope_and_finds_what_the_exact_scan_finds(crowd: Any) -> None:
    large, _, questions = crowd
    used = "SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = 'passage_hnsw_1024'"

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


def test_every_width_has_its_index_and_the_exact_scan_reads_no_table(crowd: Any) -> None:
    large = crowd[0]
    through = plans(large, "_graph_rows", "enable_sort = off; enable_bitmapscan = off")
    for width, shown in zip((384, 768, 1024), through, strict=True):
        assert f"Index Scan using passage_hnsw_{width}" in shown
    (exact,) = plans(large, "_vector_rows", "jit = off")
    assert "Index Only Scan using passage_scope" in exact


def test_the_exact_answer_is_that_of_numpy(crowd: Any) -> None:
    large, _, questions = crowd
    rows = large.rows(
        "SELECT l.external_id, p.embedding::vector FROM pgmnemo.lessons l "
        "JOIN pgmnemo.passages p ON p.lesson_id = l.id AND p.number = 0 ORDER BY l.external_id")  # fmt: skip
    matrix = np.array([row[1].to_numpy() for row in rows], dtype=np.float64)
    assert len(rows) == LARGE
    for question, found in zip(questions, asked(large, questions, 10_000), strict=True):
        best = np.argsort(-(matrix @ half(question)), kind="stable")[:10]
        assert found == [rows[place][0] for place in best]


def test_a_tenant_of_one_percent_gets_all_it_asks_for(crowd: Any) -> None:
    _, small, questions = crowd
    assert asked(small, questions, 0) == asked(small, questions, 10_000)
    assert all(len(ids) == 10 for ids in asked(small, questions, 0))


def test_the_limit_of_the_exact_scan_grows_with_the_graphs(owner: psycopg.Connection[Any]) -> None:
    def limit(vectors: float, setting: float = 10_000) -> float:
        with owner.transaction(force_rollback=True):
            like, named = "relname LIKE 'passage_hnsw_%'", "relname = 'passage_hnsw_384'"
            owner.execute(
                f"UPDATE pg_class SET reltuples = CASE WHEN {named} THEN {vectors} ELSE 0 END WHERE {like}"
            )
            row = owner.execute("SELECT pgmnemo._exact_limit(gen_random_uuid(), %s)", (setting,)).fetchone()
            return float(row[0]) if row else -1

    assert [limit(vectors) for vectors in (-1, 0, 90_000)] == [10_000] * 3
    assert limit(900_000) == 30_000
    assert limit(900_000, 0) == 0


def test_a_filter_that_the_index_cannot_answer_is_answered_exactly(crowd: Any) -> None:
    large, _, questions = crowd
    with large.client.transaction(force_rollback=True):
        large.alter("UPDATE pgmnemo.lesson SET role = 'rare' WHERE external_id LIKE 'l00%'")
        assert asked(large, questions[:3], 0, role="rare") == asked(large, questions[:3], 10_000, role="rare")


def test_the_callers_own_index_settings_come_back(crowd: Any) -> None:
    large, _, questions = crowd
    large.client.execute("SET hnsw.ef_search = 33")
    asked(large, questions[:1], 0)
    assert large.value("SHOW hnsw.ef_search") == "33"
    assert large.value("SHOW hnsw.iterative_scan") == "off"


def test_lessons_enter_the_index_when_their_scope_grows_large(tenant: Any, unit: Any) -> None:
    indexed = "SELECT count(*) FROM pgmnemo.passages WHERE indexed"
    tenant.set(exact_scan_limit=10)
    tenant.store_many({f"a{n}": "x" for n in range(10)}, [unit(1, n) for n in range(10)])
    assert tenant.value(indexed) == 0
    for n in range(5):
        tenant.store(f"b{n}", "x", embedding=unit(2, n))
    assert tenant.value(indexed) == 5
    whole = tenant.recall(None, unit(1), mode="vector", k=15)
    tenant.set(exact_scan_limit=100)
    assert [row["external_id"] for row in whole] == tenant.ids(None, unit(1), mode="vector", k=15)
    assert tenant.value("SELECT pgmnemo.index_lessons()") == 0
    tenant.set(exact_scan_limit=10)
    assert tenant.value("SELECT pgmnemo.index_lessons()") == 10
    assert tenant.value(indexed) == 15
    tenant.store_many({f"c{n}": "x" for n in range(10)}, [unit(3, n) for n in range(10)])
    assert tenant.value(indexed) == 25


def test_the_protocols_call_works_word_for_word_with_either_type(tenant: Any, unit: Any) -> None:
    tenant.store("a", "river", embedding=unit(1))
    for kind in ("float4[]", "vector", "vector(1024)"):
        query = ("SELECT * FROM pgmnemo.recall_lessons(embedding := %s::text::" + kind + ", k := 10, "
                 "query_text := %s, project_id := %s) ORDER BY score DESC")  # fmt: skip
        numbers = ",".join(str(number) for number in unit(1))
        literal = "{" + numbers + "}" if kind == "float4[]" else "[" + numbers + "]"
        assert len(tenant.rows(query, literal, "river", tenant.project)) == 1


@pytest.mark.parametrize(("row", "constraint"), [
    ("1024, array_fill(0, '{1024}')", "norm"),
    ("1024, array_fill(1, '{1024}')", "norm"),
    ("384, array_fill(0.03125, '{1024}')", "check"),
    ("1, '{1}'", "width_check"),
    ("NULL::smallint, array_fill(0.03125, '{1024}')", "check"),
])  # fmt: skip
def test_a_vector_that_is_no_direction_of_its_width_cannot_be_written_past_the_verbs(
    tenant: Any, row: str, constraint: str
) -> None:
    tenant.store("a", "river")
    direct = (
        "INSERT INTO pgmnemo.passage (tenant_id, project_id, lesson_id, number, width, embedding) "
        f"SELECT tenant_id, project_id, id, 0, w, e::real[]::halfvec "
        f"FROM pgmnemo.lesson, (SELECT {row}) AS v (w, e)")  # fmt: skip
    with pytest.raises(errors.CheckViolation, match=constraint):
        tenant.alter(direct)
