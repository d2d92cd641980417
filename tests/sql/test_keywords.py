"""BM25 equals an implementation that shares no code with it, whatever was written in between."""

from __future__ import annotations

import random
from typing import Any

from tests.sql.sound import QUESTIONS, sound, text


def test_after_bulk_load_and_in_the_right_order(tenant: Any) -> None:
    chance = random.Random(1)
    tenant.store_many({f"l{n}": text(chance) for n in range(150)})
    sound(tenant)
    tenant.set(
        recency_weight=0, importance_weight=0, context_weight=0, passage_terms_weight=0, full_coverage=0
    )
    rows = tenant.recall(QUESTIONS[1], k=150, mode="keyword")
    keys = [(-row["score"], row["external_id"]) for row in rows]
    assert keys == sorted(keys)
    assert all(row["score"] == row["bm25"] for row in rows)


def test_after_single_writes_updates_and_forgetting(tenant: Any) -> None:
    chance = random.Random(2)
    for n in range(30):
        tenant.store(f"l{n}", text(chance), topic="harbour" if n % 3 else None)
    sound(tenant)
    for n in range(0, 30, 4):
        assert tenant.store(f"l{n}", text(chance) + " changed") == "updated"
    sound(tenant)
    for n in range(0, 30, 5):
        assert tenant.value("SELECT pgmnemo.forget(NULL, %s, %s, %s)", tenant.project, f"l{n}", n % 2 == 0)
    sound(tenant)
    assert tenant.store("l5", "river river bridge") == "restored"
    assert tenant.store("l0", "river winter") == "inserted"
    sound(tenant)


def test_after_compaction_which_leaves_fewer_blocks(tenant: Any) -> None:
    chance = random.Random(4)
    for n in range(40):
        tenant.store(f"l{n}", text(chance))
    before = tenant.value("SELECT count(*) FROM pgmnemo.postings")
    removed = tenant.value("SELECT pgmnemo.merge_postings()")
    assert tenant.value("SELECT count(*) FROM pgmnemo.postings") == before - removed < before / 10
    sound(tenant)
    assert tenant.value("SELECT pgmnemo.merge_postings()") == 0


def test_after_forgetting_a_project_and_a_tenant(tenant: Any) -> None:
    tenant.store_many({"a": "river bridge", "b": "winter market"})
    tenant.store("x", "river river letter", project_id=tenant.id)
    assert tenant.value("SELECT pgmnemo.forget_all(NULL, %s)", tenant.id) == 1
    sound(tenant)
    assert tenant.value("SELECT pgmnemo.forget_all(NULL)") == 2
    assert tenant.value("SELECT count(*) FROM pgmnemo.postings") == 0


def test_parameters_and_the_scope_of_statistics_are_settings(tenant: Any) -> None:
    chance = random.Random(5)
    tenant.store_many({f"l{n}": text(chance) for n in range(30)})
    for n in range(30):
        tenant.store(f"o{n}", text(chance), project_id=tenant.id)
    tenant.set(bm25_k1=1.5, bm25_b=0.75)
    sound(tenant, bm25_k1=1.5, bm25_b=0.75)
    for scope in ("project", "tenant", "both"):
        for pivot in (60, 1):
            tenant.set(statistics_scope=scope, length_pivot=pivot)
            sound(tenant, bm25_k1=1.5, bm25_b=0.75, statistics_scope=scope, length_pivot=pivot)


def test_other_words_do_not_match_and_any_word_does(tenant: Any) -> None:
    tenant.store_many({"a": "the painter crossed a bridge", "b": "engines", "c": "nothing of the kind"})
    rows = tenant.recall("Which engine did painters like?", mode="keyword")
    assert {row["external_id"]: row["bm25"] > 0 for row in rows} == {"a": True, "b": True, "c": False}


def test_the_text_search_configuration_is_a_setting(tenant: Any) -> None:
    tenant.set(text_config="simple")
    tenant.store("a", "the running")
    assert tenant.recall("the")[0]["bm25"] > 0
    tenant.set(text_config="english")
    assert tenant.recall("the run")[0]["bm25"] > 0  # a question is cut as the lessons are
    assert tenant.value("SELECT text_config FROM pgmnemo.lessons") == "simple"
