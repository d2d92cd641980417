"""Passages: what a lesson is found by part by part, and what becomes of them when it changes."""

from __future__ import annotations

import re
from typing import Any
from uuid import uuid4

import numpy as np
import psycopg
import pytest

KEPT = (
    "SELECT number, content, vector_dims(embedding) FROM pgmnemo.passages "
    "FULL JOIN pgmnemo.vectors USING (lesson_id, number) ORDER BY number"
)


def texts(tenant: Any) -> list[str]:
    return [row[0] for row in tenant.rows("SELECT content FROM pgmnemo.passages ORDER BY number")]


def best(tenant: Any, *asked: Any, **options: Any) -> dict[str, str | None]:
    return {row["external_id"]: row["passage"] for row in tenant.recall(*asked, **options)}


def test_a_vector_is_kept_as_a_direction(tenant: Any, unit: Any) -> None:
    given = [np.eye(1, 384, place)[0] * 7 + unit(1, 2) for place in (3, 200, 383)]
    tenant.store("a", "x", embedding=[float(n) for n in unit(3, 4) * 1e-9], passages=list("abcd"),
                 passage_embeddings=[*given, None])  # fmt: skip
    assert tenant.rows(KEPT) == [(0, None, 384), (1, "a", 384), (2, "b", 384), (3, "c", 384), (4, "d", None)]
    kept = tenant.rows("SELECT embedding::vector FROM pgmnemo.vectors ORDER BY number")
    for (row,), vector in zip(kept, (unit(3, 4), *given), strict=True):
        direction = (vector / np.linalg.norm(vector)).astype(np.float16).astype(np.float32)
        assert row.to_numpy().tolist() == direction.tolist()


def test_recall_shows_the_best_passage_by_words_by_vector_and_by_both(tenant: Any, unit: Any) -> None:
    tenant.store("a", "violin garden harbour", embedding=unit(1),
                 passages=["violin", "violin garden", "harbour"],
                 passage_embeddings=[unit(1), unit(1, 1), unit(0, 1)])  # fmt: skip
    tenant.store("b", "violin garden")
    assert best(tenant, "garden of a violin") == {"a": "violin garden", "b": None}
    assert best(tenant, None, unit(1), mode="vector") == {"a": "violin", "b": None}
    assert best(tenant, None, unit(0, 1), mode="vector") == {"a": "harbour", "b": None}
    assert best(tenant, "violin", unit(0, 1)) == {"a": "harbour", "b": None}
    assert best(tenant, "nothing of it") == {"a": "violin", "b": None}


def test_a_passage_finds_a_lesson_whose_own_vector_does_not(tenant: Any, unit: Any) -> None:
    tenant.set(pool_depth=1)
    for n in range(5):
        tenant.store(f"near{n}", "x", embedding=unit(2, 1))
    tenant.store("part", "x", embedding=unit(0, 0, 1), passages=["p", "q"],
                 passage_embeddings=[unit(0, 1), unit(1)])  # fmt: skip
    assert tenant.ids(None, unit(1), k=1, mode="vector") == ["part"]


def test_passages_of_an_unchanged_text_are_kept_and_those_of_another_taken_away(
    tenant: Any, unit: Any
) -> None:
    given = {"passages": ["violin", "garden"], "passage_embeddings": [unit(1), unit(2, 1)]}
    assert tenant.store("a", "violin garden", topic="t", embedding=unit(1), **given) == "inserted"
    assert tenant.store("a", "violin garden", topic="t", embedding=unit(1), **given) == "unchanged"
    assert tenant.store("a", "violin garden", topic="t", embedding=unit(1)) == "unchanged"
    assert tenant.store("a", "violin garden", topic="t", embedding=unit(1), importance=5) == "updated"
    assert tenant.store("a", "violin garden", topic="t", embedding=unit(1, 1), importance=5) == "updated"
    assert texts(tenant) == ["violin", "garden"]
    assert tenant.store("a", "violin garden", topic="u", embedding=unit(1, 1), importance=5) == "updated"
    assert texts(tenant) == ["violin", "garden"]
    assert tenant.store("a", "violin", topic="u", embedding=unit(1, 1), importance=5) == "updated"
    assert texts(tenant) == []
    assert tenant.rows(KEPT) == [(0, None, 384)]


@pytest.mark.parametrize("other", [
    {"passages": ["violin"]}, {"passages": ["violin", "river"]}, {"passages": []},
    {"passages": ["violin", "garden"], "passage_embeddings": [(1,), (0, 1)]},
    {"passages": ["violin", "garden"], "passage_embeddings": [(1,), None]},
])  # fmt: skip
def test_other_passages_are_an_update(tenant: Any, unit: Any, other: dict[str, Any]) -> None:
    first: dict[str, Any] = {"passages": ["violin", "garden"], "passage_embeddings": [(1,), (1, 1)]}
    changed = "updated" if "passage_embeddings" in other else "unembedded"

    def store(given: dict[str, Any]) -> Any:
        vectors = given.get("passage_embeddings")
        made = {} if vectors is None else {"passage_embeddings": [row and unit(*row) for row in vectors]}
        return tenant.store("a", "violin garden", **{**given, **made})

    assert [store(first), store(other), store(other)] == ["inserted", changed, "unchanged"]
    assert texts(tenant) == other["passages"]
    assert [store(first), store(first)] == ["updated", "unchanged"]


def test_a_direct_change_of_text_takes_them_away_and_a_move_takes_them_along(tenant: Any, unit: Any) -> None:
    tenant.store("a", "violin", embedding=unit(1), passages=["violin"])
    tenant.store("b", "garden", embedding=unit(1), passages=["garden"])
    other = uuid4()
    tenant.alter("UPDATE pgmnemo.lesson SET project_id = %s WHERE external_id = 'a'", other)
    assert best(tenant, "violin", unit(1), project_id=other) == {"a": "violin"}
    assert tenant.ids(None, unit(1), mode="vector", project_id=other) == ["a"]
    tenant.alter("UPDATE pgmnemo.lesson SET content = 'harbour' WHERE external_id = 'a'")
    assert texts(tenant) == ["garden"]
    tenant.alter("UPDATE pgmnemo.lesson SET importance = 5, content = 'garden'")
    assert texts(tenant) == ["garden"]


def test_passages_survive_soft_forgetting_and_go_with_the_lesson(tenant: Any, unit: Any) -> None:
    given = {"embedding": unit(1), "passages": ["violin", "garden"]}
    tenant.store("a", "violin garden", **given)
    forget = "SELECT pgmnemo.forget(NULL, %s, 'a', %s)"
    assert tenant.value(forget, tenant.project, False)
    assert tenant.recall("garden", unit(1)) == []
    assert tenant.store("a", "violin garden", embedding=unit(1)) == "restored"
    assert best(tenant, "garden") == {"a": "garden"}
    assert tenant.value(forget, tenant.project, True)
    assert tenant.rows(KEPT) == []
    tenant.store("a", "violin garden", **given)
    tenant.value("SELECT pgmnemo.forget_all(NULL)")
    assert tenant.rows(KEPT) == []


def test_add_passages_gives_them_once_and_makes_the_lesson_as_if_stored_with_them(
    tenant: Any, unit: Any
) -> None:
    vectors = [unit(0, 1), unit(1, 1)]
    tenant.store("a", "violin garden", embedding=unit(1), passages=["violin", "garden"],
                 passage_embeddings=vectors)  # fmt: skip
    tenant.store("b", "violin garden", embedding=unit(1))
    lesson = "SELECT id FROM pgmnemo.lessons WHERE external_id = 'b'"
    add = f"SELECT pgmnemo.store_passages(NULL, ({lesson}), %s, %s::vector[])"
    literals = ["[" + ",".join(map(str, row)) + "]" for row in vectors]
    assert tenant.value(add, ["violin", "garden"], literals) is True
    assert tenant.value(add, ["other"], None) is False
    first, second = tenant.recall("garden", unit(0, 1))
    same = {"lesson_id", "external_id"}
    assert {k: v for k, v in first.items() if k not in same | {"recency", "score"}} == {
        k: v for k, v in second.items() if k not in same | {"recency", "score"}}  # fmt: skip
    assert first["passage"] == "violin"


def test_staging_takes_passages_along(tenant: Any) -> None:
    contents = {f"l{n:03}": f"text {n} violin" for n in range(600)}
    passages = [[f"text {n}", "violin"] if n % 2 else [] for n in range(600)]
    assert tenant.store_many(contents, passages=passages) == {"inserted": 600}
    assert tenant.store_many(contents, passages=passages) == {"unchanged": 600}
    assert len(texts(tenant)) == 600
    assert best(tenant, "violin", k=2) == {"l000": None, "l001": "violin"}


BARE = "SELECT external_id FROM pgmnemo.lessons_without_passages(%s, %s, %s)"


def test_lessons_without_passages_are_listed_by_id_in_parts(tenant: Any, unit: Any) -> None:
    for name in "abcdef":
        parts = {"passages": ["p"]} if name == "c" else {}
        tenant.store(name, "harbour", embedding=unit(1), **parts)
    tenant.value("SELECT pgmnemo.forget(NULL, %s, 'd')", tenant.project)
    first = tenant.rows(BARE, tenant.id, 0, 2)
    assert first == [("a",), ("b",)]
    after = tenant.value("SELECT id FROM pgmnemo.lessons WHERE external_id = 'b'")
    assert tenant.rows(BARE, tenant.id, after, 100) == [("e",), ("f",)]
    assert tenant.rows(BARE, tenant.id, 2**62, 100) == []


def test_listing_them_in_parts_reads_each_lesson_once(tenant: Any, owner: psycopg.Connection[Any]) -> None:
    """By the two keys: pages of an index that are met grow with the rows that are asked for, not with all."""
    tenant.store_many({f"k{n:04}": "harbour" for n in range(2_000)})
    source = owner.execute("SELECT prosrc FROM pg_proc WHERE proname = 'lessons_without_passages'").fetchone()
    statement = source[0].partition("RETURN QUERY")[2].partition(";")[0]
    for variable, number in (("tenant", "$1"), ("after", "$2"), ("most", "$3")):
        statement = re.sub(rf"(?<![\w.]){variable}(?![\w(])", number, statement)
    with tenant.acting() as within:
        within.execute("SET LOCAL plan_cache_mode = force_generic_plan")
        for name in ("seqscan", "bitmapscan", "sort"):
            within.execute(f"SET LOCAL enable_{name} = off")
        within.execute(f"PREPARE bare (uuid, bigint, integer) AS {statement}")
        explain = f"EXPLAIN (ANALYZE, COSTS OFF) EXECUTE bare ('{tenant.id}', 0, 50)"
        plan = "\n".join(row[0] for row in within.execute(explain))
        within.execute("DEALLOCATE bare")
    assert "Index Scan using lesson_pkey" in plan
    assert "passage_pkey" in plan
    assert "Sort" not in plan
    assert re.search(r"lesson_pkey on lesson t \(actual [^)]*rows=50(\.00)? loops=1\)", plan), plan
