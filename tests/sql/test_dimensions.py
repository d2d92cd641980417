"""A tenant's vectors have the dimension of its first: any from 1 to 4,000, and no other."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import psycopg
import pytest
from psycopg import errors

DIMENSIONS = "SELECT DISTINCT vector_dims(embedding) FROM pgmnemo.vectors"
CHECK = "SELECT * FROM pgmnemo.check()"


def some(dimensions: int, count: int = 40) -> Any:
    return np.random.default_rng(dimensions).standard_normal((count, dimensions)).astype(np.float32)


def padded(row: Any, to: int) -> list[float]:
    return [*row.tolist(), *[0.0] * (to - len(row))]


@pytest.mark.parametrize("dimensions", [1, 3, 384, 1024, 1250, 1251, 2000, 4000])
def test_any_dimension_is_kept_found_and_indexed(tenant: Any, dimensions: int) -> None:
    tenant.set(hnsw_min_vectors=10)
    rows = some(dimensions)
    tenant.store_many({f"l{n:02}": f"lesson {n}" for n in range(40)}, rows)
    tenant.store("part", "x", embedding=rows[0].tolist(), passages=["a", "b"],
                 passage_embeddings=[rows[1], None])  # fmt: skip
    assert tenant.rows(DIMENSIONS) == [(dimensions,)]
    exact = [tenant.ids(None, row, mode="vector", k=5) for row in rows[:5]]
    tenant.value("SELECT pgmnemo.index()")
    assert tenant.value("SELECT bool_and(indexed) FROM pgmnemo.vectors") is True
    assert tenant.rows(CHECK) == []
    assert [tenant.ids(None, row, mode="vector", k=5)[0] for row in rows[:5]] == [one[0] for one in exact]
    assert tenant.store("part", "x", embedding=rows[0].tolist()) == "unchanged"
    assert tenant.value("SELECT pgmnemo.forget_all(NULL)") == 41
    assert tenant.store("other", "x", embedding=[1.0, 2.0]) == "inserted"


@pytest.mark.parametrize(("given", "kept"), [
    (padded(some(384)[0], 1024), 384), (padded(some(768)[0], 1024), 768), (padded(some(769)[0], 1024), 1024),
    (padded(some(384)[0], 1023), 1023), (padded(some(384)[0], 2000), 2000), (padded(some(100)[0], 1024), 384),
])  # fmt: skip
def test_the_first_vector_says_it_and_padding_to_1024_is_seen_through(
    tenant: Any, given: list[float], kept: int
) -> None:
    tenant.store("a", "x", embedding=given)
    assert tenant.rows(DIMENSIONS) == [(kept,)]
    assert tenant.store("a", "x", embedding=padded(np.array(given[:kept]), 4000)) == "unchanged"
    assert tenant.ids(None, padded(np.array(given[:kept]), 3000), mode="vector") == ["a"]


def test_of_a_set_the_longest_vector_says_it(tenant: Any) -> None:
    rows = np.zeros((3, 1024), dtype=np.float32)
    rows[0, :384], rows[1, :768], rows[2, :100] = some(384)[0], some(768)[0], some(100)[0]
    tenant.store_many({"a": "x", "b": "y", "c": "z"}, rows)
    assert tenant.rows(DIMENSIONS) == [(768,)]
    assert tenant.rows(CHECK) == []


@pytest.mark.parametrize("dimensions", [2, 4, 1024])
def test_another_dimension_is_refused_in_one_sentence(tenant: Any, dimensions: int) -> None:
    tenant.store("a", "x", embedding=[1.0, 2.0, 3.0])
    row = some(dimensions)[0]
    said = f"has a vector of {dimensions} dimensions, but those of tenant '{tenant.id}' have 3"
    for given in ({"embedding": row.tolist()}, {"passages": ["p"], "passage_embeddings": [row]}):
        with pytest.raises(errors.InvalidParameterValue, match=said) as caught:
            tenant.store("b", "y", **given)
        assert "pgmnemo.begin_reembedding" in str(caught.value.diag.message_hint)
    add = "SELECT pgmnemo.store_passages(NULL, id, '{p}', ARRAY[%s]::vector[]) FROM pgmnemo.lessons"
    with pytest.raises(errors.InvalidParameterValue, match=said):
        tenant.rows(add, str(row.tolist()))
    with pytest.raises(errors.InvalidParameterValue, match=f"{dimensions} dimensions, but the vectors of"):
        tenant.ids(None, row, mode="vector")
    assert tenant.rows("SELECT external_id FROM pgmnemo.lessons") == [("a",)]


def test_two_first_vectors_at_once_agree(make_tenant: Any) -> None:
    """One waits for the other's transaction and is refused, or fits."""
    for _ in range(5):
        tenant = make_tenant()

        def store(key: str, dimensions: int, tenant: Any = tenant) -> str:
            with tenant.connect() as connection:
                try:
                    row = some(dimensions)[0].tolist()
                    connection.execute("SELECT pgmnemo.store(NULL, %s, %s, 'x', %s::real[])",
                                       (tenant.project, key, row))  # fmt: skip
                except errors.InvalidParameterValue:
                    return "refused"
            return "stored"

        with ThreadPoolExecutor(4) as pool:
            outcomes = list(pool.map(store, "abcd", [3, 5, 3, 5]))
        assert sorted(outcomes) == ["refused", "refused", "stored", "stored"]
        assert len(tenant.rows(DIMENSIONS)) == 1
        assert tenant.rows(CHECK) == []


def test_who_writes_while_all_is_forgotten_keeps_the_dimension(tenant: Any) -> None:
    """Neither waits for the other, and no second dimension comes about."""
    tenant.store("a", "x", embedding=[1.0, 2.0, 3.0])
    other = tenant.connect()
    tenant.client.execute("SET statement_timeout = '10s'")
    with other.transaction():
        other.execute("SELECT pgmnemo.store(NULL, %s, 'b', 'y', '{1,2,3}')", (tenant.project,))
        tenant.value("SELECT pgmnemo.forget_all(NULL)")
    with pytest.raises(errors.InvalidParameterValue):
        tenant.store("c", "z", embedding=[1.0, 2.0])
    assert tenant.rows("SELECT external_id FROM pgmnemo.lessons") == [("b",)]
    with tenant.client.transaction():
        tenant.value("SELECT pgmnemo.forget_all(NULL)")
        other.execute("SET statement_timeout = '300ms'")
        with pytest.raises(errors.QueryCanceled):
            other.execute("SELECT pgmnemo.store(NULL, %s, 'b', 'y', '{1,2}')", (tenant.project,))
    other.execute("RESET statement_timeout")
    other.execute("SELECT pgmnemo.store(NULL, %s, 'b', 'y', '{1,2}')", (tenant.project,))
    assert tenant.rows(CHECK) == []


@pytest.mark.parametrize("vector", ["array_fill(0, '{8}')", "array_fill(1, '{8}')"])
def test_no_direction_cannot_be_written_past_the_verbs(tenant: Any, vector: str) -> None:
    tenant.store("a", "river")
    direct = (
        "INSERT INTO pgmnemo.lesson_vector (tenant_id, generation, project_id, lesson_id, number, embedding) "
        f"SELECT tenant_id, 1, project_id, id, 0, {vector}::real[]::halfvec FROM pgmnemo.lesson"
    )
    with pytest.raises(errors.CheckViolation, match="norm"):
        tenant.alter(direct)


def test_a_vector_that_fills_a_page_is_kept_in_it(tenant: Any, owner: psycopg.Connection[Any]) -> None:
    tenant.store("a", "x", embedding=some(4000)[0].tolist())
    rows = owner.execute(
        "SELECT reltoastrelid::int FROM pg_class WHERE oid = 'pgmnemo.lesson_vector'::regclass"
    ).fetchall()
    assert rows == [(0,)]
