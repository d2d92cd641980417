"""Relevance flows along edges: halved at each, both ways, within its validity, to a bounded depth."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from psycopg import errors

NOW = datetime(2025, 6, 30, tzinfo=UTC)


def graph(tenant: Any, **options: Any) -> dict[str, float]:
    """The graph component of each lesson in units of the relevance of the only seed, "s"."""
    rows = {row["external_id"]: row for row in tenant.recall("seed", as_of=NOW, **options)}
    settings = dict(tenant.rows("SELECT name, value FROM pgmnemo.list_settings()"))
    relevance = sum(
        float(settings[f"pgmnemo.{part}_weight"]) * rows["s"][part] for part in ("bm25", "passage_terms")
    )
    return {name: row["graph"] / relevance for name, row in rows.items() if row["graph"]}


@pytest.fixture
def chain(tenant: Any) -> Any:
    """s → a ← b → c → s, a cycle of links in both directions."""
    for name in "sabc":
        tenant.store(name, "seed" if name == "s" else f"link {name}", occurred_at=NOW)
    for source, target, weight in (("s", "a", 1), ("b", "a", 0.5), ("b", "c", 1), ("c", "s", 0.2)):
        tenant.link(source, target, weight=weight)
    return tenant


def test_each_edge_passes_half_its_weight_on_the_best_path(chain: Any) -> None:
    assert graph(chain) == pytest.approx({"a": 0.5, "b": 0.125, "c": 0.1})


def test_depth_is_a_setting_and_cycles_are_safe(chain: Any) -> None:
    chain.set(graph_depth=1)
    assert graph(chain) == pytest.approx({"a": 0.5, "c": 0.1})
    chain.set(graph_depth=4)
    assert graph(chain) == pytest.approx({"a": 0.5, "b": 0.125, "c": 0.1})
    chain.set(graph_depth=0)
    assert graph(chain) == {}


def test_a_linked_lesson_that_no_leg_found_is_a_candidate(chain: Any) -> None:
    chain.set(pool_depth=1)
    assert chain.ids("seed", k=1) == ["s"]
    chain.set(graph_weight=100)
    assert chain.ids("seed", k=1) == ["a"]


def test_a_forgotten_lesson_passes_nothing_on(chain: Any) -> None:
    chain.value("SELECT pgmnemo.forget(NULL, %s, 'a')", chain.project)
    assert graph(chain) == pytest.approx({"c": 0.1, "b": 0.05})


def test_edges_hold_within_their_range_if_a_time_is_asked(chain: Any) -> None:
    day = timedelta(days=1)
    chain.link("s", "a", weight=1.0, valid_from=NOW, valid_to=NOW + day)
    assert graph(chain, valid_at=NOW) == pytest.approx({"a": 0.5, "b": 0.125, "c": 0.1})
    assert graph(chain, valid_at=NOW + day) == pytest.approx({"c": 0.1, "b": 0.05})
    assert graph(chain) == pytest.approx({"a": 0.5, "b": 0.125, "c": 0.1})


def test_a_hub_costs_no_more_than_the_pool(tenant: Any) -> None:
    tenant.store("s", "seed")
    tenant.store_many({f"l{n:03}": "spoke" for n in range(300)})
    tenant.alter(
        "INSERT INTO pgmnemo.lesson_edge (tenant_id, source_id, target_id, kind) "
        "SELECT tenant_id, (SELECT id FROM pgmnemo.lesson WHERE external_id = 's'), id, 'hub' "
        "FROM pgmnemo.lesson WHERE external_id <> 's'")  # fmt: skip
    tenant.set(pool_depth=20)
    rows = tenant.recall("seed", k=20)
    assert [row["external_id"] for row in rows[1:]] == [f"l{n:03}" for n in range(19)]
    assert all(row["graph"] > 0 for row in rows[1:])


def test_a_link_to_what_another_session_deletes_meanwhile_is_refused(tenant: Any) -> None:
    tenant.store("a", "one")
    tenant.store("b", "two")
    link = "SELECT pgmnemo.link(NULL, %s, 'a', 'b', 'x')"
    with ThreadPoolExecutor(1) as pool, tenant.connect() as other:
        with other.transaction():
            other.execute("SELECT pgmnemo.forget(NULL, %s, 'b', true)", (tenant.project,))
            linked = pool.submit(tenant.value, link, tenant.project)
            while not other.execute("SELECT FROM pg_locks WHERE NOT granted").rowcount:
                assert not linked.done()
        with pytest.raises(errors.NoDataFound, match="has no lesson 'b'"):
            linked.result()


def test_links_tell_what_became_of_them(tenant: Any) -> None:
    tenant.store("a", "one")
    tenant.store("b", "two", project_id=tenant.id)
    across = {"target_project": tenant.id}
    assert tenant.link("a", "b", **across) == "inserted"
    assert tenant.link("a", "b", **across) == "unchanged"
    assert tenant.link("a", "b", weight=0.5, **across) == "updated"
    assert tenant.link("a", "b", "explains", **across) == "inserted"
    query = "SELECT pgmnemo.unlink(NULL, %s, 'a', 'b', 'explains', %s)"
    assert tenant.value(query, tenant.project, tenant.id) is True
    assert tenant.value(query, tenant.project, tenant.id) is False
    assert tenant.value("SELECT pgmnemo.forget(NULL, %s, 'a', true)", tenant.project)
    assert tenant.value("SELECT count(*) FROM pgmnemo.edges") == 0
