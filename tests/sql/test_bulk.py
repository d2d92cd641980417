"""The HNSW indexes can be left out of a bulk load and are built from all rows at once; answers stay right."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import psycopg
import pytest

WIDTHS = (384, 768, 1024)
INDEXES = (
    "SELECT indexname, indexdef, tableowner FROM pg_indexes JOIN pg_tables USING (schemaname, tablename) "
    "WHERE schemaname = 'pgmnemo' AND indexname LIKE 'passage_hnsw%' ORDER BY indexname"
)


def vectors(seed: int, count: int) -> Any:
    """Unit vectors of all three widths in turn."""
    rows = np.random.default_rng(seed).standard_normal((count, 1024)).astype(np.float32)
    for place, row in enumerate(rows):
        row[WIDTHS[place % 3] :] = 0
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


@pytest.fixture
def suspended(tenant: Any, owner: psycopg.Connection[Any]) -> Iterator[psycopg.Connection[Any]]:
    """The owner, while the indexes are away; they are back afterwards. Every lesson is marked for them, and
    none of other tests: among thousands of other tenants' vectors a graph finds fewer.
    """
    tenant.set(exact_scan_limit=0, pool_depth=20)
    owner.execute("UPDATE pgmnemo.passage SET indexed = false WHERE indexed")
    assert owner.execute("SELECT pgmnemo.suspend_vector_index()").fetchone() == (True,)
    yield owner
    owner.execute("SELECT pgmnemo.build_vector_index()")


def built(owner: psycopg.Connection[Any]) -> int:
    row = owner.execute("SELECT pgmnemo.build_vector_index()").fetchone()
    assert row
    return int(row[0])


def answers(tenant: Any, questions: Any) -> list[list[str]]:
    return [tenant.ids(None, question, mode="vector", k=10) for question in questions]


def test_both_verbs_can_be_called_again(owner: psycopg.Connection[Any]) -> None:
    before = owner.execute(INDEXES).fetchall()
    assert len(before) == 3
    assert built(owner) == 0
    for expected in (True, False):
        assert owner.execute("SELECT pgmnemo.suspend_vector_index()").fetchone() == (expected,)
        assert owner.execute(INDEXES).fetchall() == []
    built(owner)
    assert owner.execute(INDEXES).fetchall() == before
    assert built(owner) == 0


def test_one_missing_index_is_made_alone(owner: psycopg.Connection[Any]) -> None:
    before = owner.execute(INDEXES).fetchall()
    owner.execute("DROP INDEX pgmnemo.passage_hnsw_768")
    assert owner.execute("SELECT pgmnemo._vector_index_built()").fetchone() == (False,)
    built(owner)
    assert owner.execute(INDEXES).fetchall() == before


def test_recall_is_exact_while_they_are_away_and_right_afterwards(tenant: Any, suspended: Any) -> None:
    tenant.store_many({f"l{n:03}": f"lesson {n}" for n in range(300)}, vectors(1, 300))
    assert tenant.value("SELECT count(*) FROM pgmnemo.passages WHERE indexed") == 300
    questions = vectors(2, 12)
    found = answers(tenant, questions)
    tenant.set(exact_scan_limit=10_000)
    assert found == answers(tenant, questions)
    tenant.set(exact_scan_limit=0)
    assert suspended.execute("SELECT count(*) FROM pgmnemo.passage WHERE indexed").fetchone() == (300,)
    assert built(suspended) == 300
    share = [len(set(a) & set(b)) / 10 for a, b in zip(answers(tenant, questions), found, strict=True)]
    assert np.mean(share) >= 0.95


def graph_scans(tenant: Any, owner: psycopg.Connection[Any]) -> int:
    """How often one recall asks the graphs. Only a superuser may count calls, who then acts as the tenant."""
    with owner.transaction(force_rollback=True):
        owner.execute("SET LOCAL track_functions = 'all'")
        owner.execute("SET LOCAL pgmnemo.exact_scan_limit = 0")
        owner.execute("SET LOCAL pgmnemo.gate_strict = off")
        owner.execute("SELECT set_config('pgmnemo.tenant_id', %s, true)", (str(tenant.id),))
        owner.execute(f"SET LOCAL ROLE {tenant.database.facts.role}")
        owner.execute("SELECT pgmnemo.recall_lessons(%s::real[])", (vectors(4, 1)[0].tolist(),))
        calls = "SELECT coalesce(pg_stat_get_xact_function_calls('pgmnemo._graph_rows'::regproc), 0)"
        row = owner.execute(calls).fetchone()
    assert row
    return int(row[0])


def test_while_they_are_away_no_graph_is_asked(tenant: Any, suspended: Any) -> None:
    tenant.store_many({f"l{n}": "x" for n in range(5)}, vectors(3, 5))
    assert graph_scans(tenant, suspended) == 0
    built(suspended)
    assert graph_scans(tenant, suspended) > 0


def test_a_load_between_the_two_can_be_one_transaction(tenant: Any, owner: psycopg.Connection[Any]) -> None:
    with owner.transaction():
        owner.execute("SELECT set_config('pgmnemo.tenant_id', %s, true)", (str(tenant.id),))
        owner.execute("SET LOCAL pgmnemo.gate_strict = off")
        owner.execute("SET LOCAL pgmnemo.exact_scan_limit = 0")
        owner.execute("SELECT pgmnemo.suspend_vector_index()")
        store = "SELECT pgmnemo.store_lesson(%s, %s, 'x', %s::real[])"
        for place, row in enumerate(vectors(5, 6)):
            owner.execute(store, (tenant.project, f"l{place}", row.tolist()))
        assert built(owner) >= 6
    tenant.set(exact_scan_limit=0)
    assert answers(tenant, vectors(5, 6))[2][0] == "l2"
