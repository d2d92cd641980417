"""BM25 equals an implementation that shares no code with it, whatever was written in between."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest

WORDS = [
    "river", "harbour", "lantern", "teacher", "garden", "violin", "winter", "market", "letter", "mountain",
    "kitchen", "engine", "painter", "bridge", "forest", "captain", "the", "running", "quietly",
]  # fmt: skip
QUESTIONS = [
    "Where is the river harbour?",
    "running engines and a violin in winter",
    "lantern lantern lantern",
    "letter",
    "quietly the captain painted bridges in the forest market",
]


def text(chance: random.Random) -> str:
    return " ".join(chance.choices(WORDS, weights=range(1, len(WORDS) + 1), k=chance.randint(0, 30)))


@pytest.fixture
def same(reference_bm25: Any) -> Any:
    """Assert that every score is that of the reference, to 1e-9."""

    def check(tenant: Any, **options: Any) -> None:
        for question in QUESTIONS:
            found = {
                row["external_id"]: row["bm25"] for row in tenant.recall(question, k=200, mode="keyword")
            }
            wanted = reference_bm25(tenant, question, **options)
            assert {name for name, value in found.items() if value > 0} == set(wanted)
            assert all(found[name] == pytest.approx(value, rel=0, abs=1e-9) for name, value in wanted.items())

    return check


def test_after_bulk_load_and_in_the_right_order(tenant: Any, same: Any) -> None:
    chance = random.Random(1)
    tenant.store_many({f"l{n}": text(chance) for n in range(150)})
    same(tenant)
    tenant.set(recency_weight=0, importance_weight=0, context_weight=0, passage_terms_weight=0)
    rows = tenant.recall(QUESTIONS[1], k=150, mode="keyword")
    keys = [(-row["score"], row["external_id"]) for row in rows]
    assert keys == sorted(keys)
    assert all(row["score"] == row["bm25"] for row in rows)


def test_after_single_writes_updates_and_forgetting(tenant: Any, same: Any) -> None:
    chance = random.Random(2)
    for n in range(30):
        tenant.store(f"l{n}", text(chance), topic="harbour" if n % 3 else None)
    same(tenant)
    for n in range(0, 30, 4):
        assert tenant.store(f"l{n}", text(chance) + " changed") == "updated"
    same(tenant)
    for n in range(0, 30, 5):
        assert tenant.value("SELECT pgmnemo.forget_lesson(%s, %s, %s)", tenant.project, f"l{n}", n % 2 == 0)
    same(tenant)
    assert tenant.store("l5", "river river bridge") == "restored"
    assert tenant.store("l0", "river winter") == "inserted"
    same(tenant)


def test_after_direct_statements(tenant: Any, same: Any) -> None:
    chance = random.Random(3)
    tenant.store_many({f"l{n}": text(chance) for n in range(40)})
    tenant.alter("UPDATE pgmnemo.lesson SET content = content || ' river', topic = 'engine' WHERE id % 3 = 0")
    same(tenant)
    tenant.alter("UPDATE pgmnemo.lesson SET id = DEFAULT, active = id % 2 = 0 WHERE id % 5 < 2")
    same(tenant)
    tenant.alter("UPDATE pgmnemo.lesson SET lexemes = 'forged:1', token_count = 9 WHERE active")
    same(tenant)
    tenant.alter("DELETE FROM pgmnemo.lesson WHERE id % 4 = 0")
    same(tenant)
    tenant.alter("UPDATE pgmnemo.lesson SET project_id = gen_random_uuid() WHERE id % 3 = 0")
    same(tenant)


def test_after_a_rollback(tenant: Any, same: Any) -> None:
    tenant.store_many({"a": "river bridge", "b": "winter market"})
    with tenant.client.transaction(force_rollback=True):
        tenant.store("c", "river river")
        tenant.store("a", "something else")
        tenant.value("SELECT pgmnemo.forget_lesson(%s, 'b', true)", tenant.project)
        same(tenant)
    same(tenant)


def test_after_compaction_which_leaves_fewer_blocks(tenant: Any, same: Any) -> None:
    chance = random.Random(4)
    for n in range(40):
        tenant.store(f"l{n}", text(chance))
    before = tenant.value("SELECT count(*) FROM pgmnemo.postings")
    removed = tenant.value("SELECT pgmnemo.compact_postings()")
    assert tenant.value("SELECT count(*) FROM pgmnemo.postings") == before - removed < before / 10
    same(tenant)
    assert tenant.value("SELECT pgmnemo.compact_postings()") == 0


def test_after_forgetting_a_project_and_a_tenant(tenant: Any, same: Any) -> None:
    tenant.store_many({"a": "river bridge", "b": "winter market"})
    tenant.store("x", "river river letter", project_id=tenant.id)
    assert tenant.value("SELECT pgmnemo.forget_project(%s)", tenant.id) == 1
    same(tenant)
    assert tenant.value("SELECT pgmnemo.forget_tenant()") == 2
    assert tenant.value("SELECT count(*) FROM pgmnemo.postings") == 0


def test_parameters_and_the_scope_of_statistics_are_settings(tenant: Any, same: Any) -> None:
    chance = random.Random(5)
    tenant.store_many({f"l{n}": text(chance) for n in range(30)})
    for n in range(30):
        tenant.store(f"o{n}", text(chance), project_id=tenant.id)
    tenant.set(bm25_k1=1.5, bm25_b=0.75)
    same(tenant, k1=1.5, b=0.75)
    for scope in ("project", "tenant", "both"):
        tenant.set(statistics_scope=scope, length_pivot=60)
        same(tenant, k1=1.5, b=0.75, scope=scope)
        tenant.set(length_pivot=1)
        same(tenant, k1=1.5, b=0.75, scope=scope, pivot=1)


def test_after_eight_writers_at_once(tenant: Any, same: Any) -> None:
    def write(number: int) -> None:
        chance = random.Random(number)
        connection = tenant.connect()
        for _ in range(15):
            name = f"l{chance.randint(0, 25)}"
            if chance.random() < 0.25:
                statement, parameters = (
                    "forget_lesson(%s, %s, %s)",
                    (tenant.project, name, chance.random() < 0.5),
                )
            elif chance.random() < 0.1:
                statement, parameters = "compact_postings()", ()
            else:
                statement, parameters = "store_lesson(%s, %s, %s)", (tenant.project, name, text(chance))
            connection.execute(f"SELECT pgmnemo.{statement}", parameters)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(8)))
    same(tenant)


def test_other_words_do_not_match_and_any_word_does(tenant: Any) -> None:
    tenant.store_many({"a": "the painter crossed a bridge", "b": "engines", "c": "nothing of the kind"})
    rows = tenant.recall("Which engine did painters like?", mode="keyword")
    assert {row["external_id"]: row["bm25"] > 0 for row in rows} == {"a": True, "b": True, "c": False}


@pytest.mark.parametrize("question", [
    "", "the of and", "!!! ''' \" & | ! <-> :* ( )", "\u2603 \U0001f600", "' OR 1=1 --",
    "word " * 10_000, " ".join(f"w{n}" for n in range(10_000)),
])  # fmt: skip
def test_every_question_has_an_answer(tenant: Any, question: str) -> None:
    tenant.store_many({"a": "one", "b": "two"})
    assert tenant.ids(question) == ["a", "b"]


def test_the_text_search_configuration_is_a_setting(tenant: Any) -> None:
    tenant.set(text_config="simple")
    tenant.store("a", "the running")
    assert tenant.recall("the")[0]["bm25"] > 0
    tenant.set(text_config="english")
    assert tenant.recall("the run")[0]["bm25"] == 0
    assert tenant.value("SELECT text_config FROM pgmnemo.lessons") == "simple"


def test_a_nul_is_refused(tenant: Any) -> None:
    with pytest.raises(psycopg.Error):
        tenant.recall("a\0b")
