"""The vector leg is exact in a small scope, uses an HNSW index in a large one, and is never short."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.sql.test_hnsw import hnsw_table

LARGE, SMALL, QUESTIONS = 2000, 20, 20
DIMENSIONS = 300


@pytest.fixture(scope="module")
def crowd(database: Any, tenant_class: Any) -> Iterator[Any]:
    """2,000 lessons of one tenant and 20 of another, in an HNSW index each, and questions of their kind."""
    chance = np.random.default_rng(7)
    centres = chance.standard_normal((30, DIMENSIONS))
    count = LARGE + SMALL + QUESTIONS
    rows = centres[chance.integers(0, 30, count)] + 0.7 * chance.standard_normal((count, DIMENSIONS))
    vectors = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    with ExitStack() as stack, database.admin() as owner:
        large, small = tenant_class(database, stack), tenant_class(database, stack)
        for tenant, part in ((large, vectors[:LARGE]), (small, vectors[LARGE : LARGE + SMALL])):
            tenant.set(hnsw_min_vectors=0, pool_depth=20)
            tenant.store_many({f"l{n:04}": f"lesson {n}" for n in range(len(part))}, part)
            assert indexed(tenant) == len(part)
        owner.execute("VACUUM (ANALYZE) pgmnemo.lesson, pgmnemo.lesson_vector, pgmnemo.posting")
        yield large, small, vectors[LARGE + SMALL :]
        for tenant in (large, small):
            tenant.value("SELECT pgmnemo.forget_all(NULL)")


def indexed(tenant: Any) -> int:
    """How many vectors are in a tenant's HNSW index once all are brought in."""
    tenant.value("SELECT pgmnemo.index()")
    return int(tenant.value("SELECT count(*) FROM pgmnemo.vectors WHERE indexed"))


def scans(tenant: Any) -> int:
    """How often a tenant's HNSW index was searched."""
    tenant.client.execute("SELECT pg_stat_force_next_flush()")
    return int(tenant.value("SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = %s",
                            hnsw_table(tenant) + "_embedding"))  # fmt: skip


def half(vector: Any) -> Any:
    """The direction of a vector as half precision keeps it, in double precision."""
    return (vector / np.linalg.norm(vector)).astype(np.float16).astype(np.float64)


def asked(tenant: Any, questions: Any, limit: int, k: int = 10, **options: Any) -> list[list[str]]:
    tenant.set(hnsw_min_vectors=limit)
    return [tenant.ids(None, question, mode="vector", k=k, **options) for question in questions]


def test_the_hnsw_index_serves_a_large_scope_and_finds_what_the_exact_scan_finds(crowd: Any) -> None:
    large, _, questions = crowd
    before = scans(large)
    found = asked(large, questions, 0)
    between = scans(large)
    exact = asked(large, questions, 10_000)
    assert (between > before, scans(large)) == (True, between)
    share = np.mean([len(set(a) & set(b)) / 10 for a, b in zip(found, exact, strict=True)])
    assert share >= 0.9


def test_the_exact_scan_reads_no_table(database: Any, crowd: Any) -> None:
    large = crowd[0]
    with database.admin() as owner:  # what other tests stored since decides plans, too
        owner.execute("VACUUM (ANALYZE) pgmnemo.lesson_vector")
    source = large.value("SELECT prosrc FROM pg_proc WHERE oid = 'pgmnemo._scanned_vectors'::regproc")
    places = {"(scope)": "$1", "projects": "$2", "_scanned_vectors.generation": "$3", "direction": "$4",
              "merged": "$5", "most": "$6"}  # fmt: skip
    for name, place in places.items():
        source = source.replace(name, place)
    with large.client.transaction(force_rollback=True), large.acting():
        for setting in ("plan_cache_mode = force_generic_plan", "enable_seqscan = off", "jit = off"):
            large.client.execute(f"SET LOCAL {setting}")
        large.client.execute(
            f"PREPARE leg (pgmnemo.scope, uuid[], smallint, halfvec, boolean, integer) AS {source}"
        )
        shown = "\n".join(
            row[0] for row in large.rows("EXPLAIN EXECUTE leg (NULL, NULL, NULL, NULL, NULL, NULL)")
        )
        large.client.execute("DEALLOCATE leg")
    assert "Index Only Scan using lesson_vector_scope on" in shown
    assert "using lesson_vector_scope_wide on" in shown
    assert "using lesson_vector_scope_indexed on" in shown


def test_the_exact_answer_is_that_of_numpy(crowd: Any) -> None:
    large, _, questions = crowd
    rows = large.rows(
        "SELECT l.external_id, v.embedding::vector FROM pgmnemo.lessons l "
        "JOIN pgmnemo.vectors v ON v.lesson_id = l.id AND v.number = 0 ORDER BY l.external_id")  # fmt: skip
    matrix = np.array([row[1].to_numpy() for row in rows], dtype=np.float64)
    assert len(rows) == LARGE
    for question, found in zip(questions, asked(large, questions, 10_000), strict=True):
        best = np.argsort(-(matrix @ half(question)), kind="stable")[:10]
        assert found == [rows[place][0] for place in best]


def test_a_tenant_of_one_percent_gets_all_it_asks_for(crowd: Any) -> None:
    _, small, questions = crowd
    assert asked(small, questions, 0) == asked(small, questions, 10_000)
    assert all(len(ids) == 10 for ids in asked(small, questions, 0))


def served(tenant: Any, owner: Any, inside: float, held: int, limit: int) -> Any:
    """The ef_search of a scope of so many lessons in an index of so many vectors; None: an exact scan."""
    question = {"held": held, "generation": 1, "hnsw_table": hnsw_table(tenant)}
    query = (
        "SELECT g.ef_search FROM pgmnemo._hnsw_for_scope(pgmnemo._scope(%s, NULL), "
        "jsonb_populate_record(NULL::pgmnemo.question, %s), 50, "
        "jsonb_populate_record(pgmnemo._settings(), %s)) g"
    )
    with owner.transaction(force_rollback=True):
        owner.execute(
            "UPDATE pg_class SET reltuples = %s WHERE relname = %s", (inside, question["hnsw_table"])
        )
        parameters = (tenant.id, Jsonb(question), Jsonb({"hnsw_min_vectors": limit}))
        return owner.execute(query, parameters).fetchone()[0]


def test_the_limit_of_the_exact_scan_grows_with_the_hnsw_index(
    crowd: Any, owner: psycopg.Connection[Any]
) -> None:
    for inside, limit in ((-1, 10_000), (0, 10_000), (90_000, 10_000), (900_000, 30_000)):
        assert served(crowd[0], owner, inside, limit, 10_000) is None
        assert served(crowd[0], owner, inside, limit + 1, 10_000) is not None
    assert served(crowd[0], owner, 900_000, 1, 0) == 237


@pytest.mark.parametrize(("vectors", "depth", "told", "searched"), [
    (100_000, 50, 0.95, 128), (10_000, 50, 0.95, 68), (100_000, 100, 0.95, 256), (100_000, 50, 0.99, 395),
    (1_000_000, 50, 0.95, 244), (1_000_000, 50, 0.999, 1000), (0, 50, 0.95, 6),
])  # fmt: skip
def test_an_hnsw_index_is_searched_the_farther_the_larger_it_is_and_the_more_is_wanted(
    tenant: Any, vectors: float, depth: int, told: float, searched: int
) -> None:
    ((found,),) = tenant.look("SELECT pgmnemo._ef_search(%s, %s, %s)", vectors, depth, told)
    assert found == searched


def test_a_told_recall_is_reached(crowd: Any) -> None:
    large, _, questions = crowd
    exact = asked(large, questions, 10_000, k=20)
    for told in (0.8, 0.95, 0.99):
        large.set(vector_recall=told)
        found = asked(large, questions, 0, k=20)
        assert np.mean([len(set(a) & set(b)) / 20 for a, b in zip(found, exact, strict=True)]) >= told - 0.01
    large.set(vector_recall="")


def test_what_waits_is_found_beside_the_hnsw_index(tenant: Any, unit: Any) -> None:
    tenant.set(hnsw_min_vectors=10)
    tenant.store_many({f"a{n:02}": "x" for n in range(30)}, np.array([unit(1, n + 1) for n in range(30)]))
    assert indexed(tenant) == 30
    tenant.store("waiting", "x", embedding=unit(1))
    before = scans(tenant)
    assert tenant.ids(None, unit(1), mode="vector", k=3) == ["waiting", "a00", "a01"]
    assert scans(tenant) > before
    tenant.value("SELECT pgmnemo.forget_all(NULL)")


def test_lessons_with_many_vectors_are_many_enough_for_the_hnsw_index(tenant: Any, unit: Any) -> None:
    tenant.set(hnsw_min_vectors=50)
    for n in range(10):
        parts = [unit(n + 1, 1, m) for m in range(9)]
        tenant.store(f"a{n}", "x", embedding=unit(n + 1), passages=["y"] * 9, passage_embeddings=parts)
    assert indexed(tenant) == 100
    before = scans(tenant)
    found = tenant.ids(None, unit(5), mode="vector", k=5)
    assert scans(tenant) > before
    tenant.set(hnsw_min_vectors=10_000)
    assert found == tenant.ids(None, unit(5), mode="vector", k=5)
    tenant.value("SELECT pgmnemo.forget_all(NULL)")


def test_an_hnsw_index_that_was_dropped_since_the_snapshot_is_not_missed(
    tenant: Any, owner: Any, unit: Any
) -> None:
    tenant.set(hnsw_min_vectors=10)
    tenant.store_many({f"a{n:02}": "x" for n in range(30)}, np.array([unit(1, n + 1) for n in range(30)]))
    tenant.value("SELECT pgmnemo.index()")
    expected = tenant.ids(None, unit(1), mode="vector", k=5)
    name = hnsw_table(tenant)
    with tenant.client.transaction():
        tenant.client.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        assert tenant.value("SELECT count(*) FROM pgmnemo.lessons") == 30
        owner.execute(f"DROP TABLE pgmnemo.{name}")
        assert tenant.ids(None, unit(1), mode="vector", k=5) == expected
    assert tenant.ids(None, unit(1), mode="vector", k=5) == expected
    tenant.value("SELECT pgmnemo.index()")
    assert tenant.ids(None, unit(1), mode="vector", k=5) == expected
    tenant.value("SELECT pgmnemo.forget_all(NULL)")


def test_more_ties_than_are_asked_for_at_first_are_broken_by_name(tenant: Any, unit: Any) -> None:
    names = [f"a{n:03}" for n in range(100)]
    tenant.store_many(dict.fromkeys(reversed(names), "x"), np.array([unit(1)] * 100))
    tenant.set(pool_depth=5)
    assert tenant.ids(None, unit(1), mode="vector", k=5) == names[:5]


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


def test_the_protocols_call_works_word_for_word_with_either_type(tenant: Any, unit: Any) -> None:
    tenant.store("a", "river", embedding=unit(1))
    for kind in ("float4[]", "vector", f"vector({len(unit(1))})"):
        query = ("SELECT * FROM pgmnemo.recall_lessons(embedding := %s::text::" + kind + ", k := 10, "
                 "query_text := %s, project_id := %s) ORDER BY score DESC")  # fmt: skip
        numbers = ",".join(str(number) for number in unit(1))
        literal = "{" + numbers + "}" if kind == "float4[]" else "[" + numbers + "]"
        assert len(tenant.rows(query, literal, "river", tenant.project)) == 1
