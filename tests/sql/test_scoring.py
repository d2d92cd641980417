"""Ranks: what moves them, ties, filters in every leg, and never fewer than k where the scope holds k."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

NOW = datetime(2025, 6, 30, tzinfo=UTC)


@pytest.fixture
def filled(tenant: Any, unit: Any) -> Any:
    """Lessons that differ in every component; "far" is linked to "near"."""
    days = {"near": 0, "month": 30, "far": 90, "later": -10}
    for place, (name, age) in enumerate(days.items()):
        tenant.store(name, f"river {name}", embedding=unit(1, place), importance=place + 1,
                     occurred_at=NOW - timedelta(days=age))  # fmt: skip
    tenant.store("words", "river river bank", occurred_at=NOW)
    tenant.link("far", "near", weight=0.5)
    return tenant


@pytest.mark.parametrize("component", ["recency", "importance", "graph"])
def test_each_other_component_moves_a_rank(tenant: Any, component: str) -> None:
    old = NOW - timedelta(days=60)
    tenant.store("a", "violin", occurred_at=old)
    tenant.store("b", "violin", occurred_at=NOW if component == "recency" else old,
                 importance=5 if component == "importance" else 3)  # fmt: skip
    tenant.store("c", "violin violin garden", occurred_at=old)
    if component == "graph":
        tenant.link("c", "b")
    ranks = tenant.ids("violin", as_of=NOW)
    assert ranks.index("b") < ranks.index("a")
    tenant.set(**{f"{component}_weight": 0})
    ranks = tenant.ids("violin", as_of=NOW)
    assert ranks.index("a") < ranks.index("b")


def test_as_of_filters_nothing_and_what_lies_after_it_has_age_nought(filled: Any) -> None:
    rows = filled.recall("river", as_of=NOW - timedelta(days=3650))
    assert len(rows) == 5
    assert {row["recency"] for row in rows} == {1.0}


def test_antiquity_is_no_error(tenant: Any) -> None:
    tenant.store("ides", "beware", occurred_at="0044-03-15 BC")
    query = "SELECT recency FROM pgmnemo.recall_lessons(query_text => 'beware', as_of => %s)"
    assert 0 < tenant.value(query, NOW) < 1e-300


def test_ties_are_broken_by_external_id_in_c_order(tenant: Any) -> None:
    for name in ("b", "é", "a", "B", "Z", "10", "9"):
        tenant.store(name, "same words", occurred_at=NOW)
    assert tenant.ids("words", as_of=NOW) == ["10", "9", "B", "Z", "a", "b", "é"]


@pytest.mark.parametrize("mode", ["hybrid", "vector", "keyword"])
def test_a_scope_that_holds_k_lessons_returns_k(tenant: Any, unit: Any, mode: str) -> None:
    tenant.store_many({f"l{n}": "nothing in common" for n in range(12)})
    tenant.store("v", "a vector", embedding=unit(1))
    assert len(tenant.recall("absent", unit(0, 1), k=10, mode=mode)) == 10
    assert len(tenant.recall("absent", unit(0, 1), k=50, mode=mode)) == 13
    assert len(tenant.recall("absent", unit(0, 1), k=10_000, mode=mode)) == 13


@pytest.mark.parametrize("limit", [0, 10_000])
def test_a_tenant_of_one_percent_gets_k_rows_in_every_mode(make_tenant: Any, unit: Any, limit: int) -> None:
    small, large = make_tenant(), make_tenant()
    for tenant, count in ((large, 700), (small, 7)):
        tenant.set(hnsw_min_vectors=limit, pool_depth=1)
        tenant.store_many(
            {f"l{n:03}": "a river" for n in range(count)}, [unit(1, n % 13) for n in range(count)]
        )
    for mode in ("hybrid", "vector", "keyword"):
        for project in (small.project, None):
            assert len(small.recall("river", unit(1, 2), k=7, mode=mode, project_id=project)) == 7
        for k in (5, 300):
            assert len(large.recall("river", unit(1, 2), k=k, mode=mode)) == k


def test_role_and_valid_at_filter_every_leg(tenant: Any, unit: Any) -> None:
    day = timedelta(days=1)
    tenant.store("past", "river", embedding=unit(1), occurred_at=NOW - 9 * day, expires_at=NOW - day)
    tenant.store(
        "present", "river", embedding=unit(1), occurred_at=NOW - day, expires_at=NOW + day, role="pilot"
    )
    tenant.store("future", "river", embedding=unit(1), occurred_at=NOW + day)
    for mode in ("hybrid", "vector", "keyword"):
        assert tenant.ids("river", unit(1), mode=mode, valid_at=NOW) == ["present"]
        assert tenant.ids("river", unit(1), mode=mode, valid_at=NOW - 2 * day) == ["past"]
        assert tenant.ids("river", unit(1), mode=mode, valid_at=NOW - day) == ["present"]
        assert tenant.ids("river", unit(1), mode=mode, role="pilot", as_of=NOW) == ["present"]
        assert len(tenant.ids("river", unit(1), mode=mode, as_of=NOW)) == 2  # what has expired is out
        assert len(tenant.ids("river", unit(1), mode=mode, as_of=NOW - 2 * day)) == 3


def test_validity_is_respected_by_every_leg(tenant: Any, unit: Any) -> None:
    """Each lesson is found by one leg alone, the graph of vectors among them, and holds from May to June."""
    tenant.set(hnsw_min_vectors=0, pool_depth=1)
    span = {"occurred_at": "2024-05-01 UTC", "expires_at": "2024-06-01 UTC"}
    tenant.store("words", "river", **span)
    tenant.store("vector", "x", embedding=unit(1), **span)
    tenant.store("passage", "x", passages=["lantern"], passage_embeddings=[unit(0, 1)], **span)
    tenant.store("linked", "x", **span)
    tenant.store("always", "river", embedding=unit(0, 0, 1), occurred_at="2000-01-01 UTC")
    tenant.link("always", "linked")
    for text, vector, k in (
        ("river", None, 5),
        (None, unit(1), 1),
        (None, unit(0, 1), 1),
        ("river", unit(1), 5),
    ):
        for moment in ("2024-04-30 UTC", "2024-06-01 UTC", "2090-01-01 UTC"):
            assert tenant.ids(text, vector, k=k, valid_at=moment) == ["always"]
        assert len(tenant.ids(text, vector, k=k, valid_at="2024-05-01 UTC")) == k
