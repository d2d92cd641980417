"""The explanation of a rank has the numbers of the recall that it explains, to the last bit."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import psycopg
import pytest

COMPONENTS = [
    "bm25", "passage_terms", "passage_cosine", "pair_cosine", "cosine", "temporal",
    "context", "neighbours", "recency", "importance", "graph",
]  # fmt: skip
QUESTION = "Which river harbour did the painter cross in May 2024?"
WORDS = ["river", "harbour", "lantern", "painter", "bridge", "winter", "market", "went", "children"]
MOMENT = "2024-07-01 UTC"


@pytest.fixture
def filled(tenant: Any) -> Any:
    """40 lessons that differ in every component, some without passages, vectors, times or positions."""
    chance, numbers = random.Random(1), np.random.default_rng(1)

    def vector() -> Any:
        row = numbers.standard_normal(1024)
        return row / np.linalg.norm(row)

    for n in range(40):
        passages = [" ".join(chance.choices(WORDS, k=6)) for _ in range(n % 4)]
        tenant.store(
            f"l{n:02}", " ".join([*passages, *chance.choices(WORDS, k=1 + n % 7)]), importance=1 + n % 5,
            embedding=vector() if n % 3 else None, occurred_at=f"2024-0{1 + n % 6}-11 UTC" if n % 5 else None,
            passages=passages or None, role=(None, "user", "assistant")[n % 3],
            **{'"position"': None if n % 7 == 0 else n},
            passage_embeddings=[vector() if n % 2 or part else None for part in range(n % 4)] or None,
        )  # fmt: skip
    for n in range(0, 40, 4):
        tenant.link(f"l{n:02}", f"l{n + 3:02}", weight=0.7)
    return tenant


@pytest.fixture
def vector() -> Any:
    return np.random.default_rng(2).standard_normal(1024)


def explain(
    tenant: Any, name: str, text: str | None, vector: Any = None, **options: Any
) -> dict[str, dict[str, Any]]:
    """Section → item → row."""
    project = options.pop("project_id", tenant.project)
    options["query_text"] = text
    names = "".join(f", {option} => %s" for option in options)
    query = f"SELECT * FROM pgmnemo.explain(NULL, %s, %s, %s::real[], duplicates => NULL{names})"
    embedding = None if vector is None else [float(number) for number in vector]
    sections: dict[str, dict[str, Any]] = {}
    with tenant.client.cursor(row_factory=psycopg.rows.dict_row) as cursor:
        for row in cursor.execute(query, (project, name, embedding, *options.values())):
            sections.setdefault(row["section"], {})[row["item"]] = row
    return sections


def number(row: dict[str, Any]) -> float | None:
    return None if row["value"] is None else float(row["value"])


@pytest.mark.parametrize("mode", ["hybrid", "keyword", "vector"])
def test_rank_score_and_components_are_those_of_recall(filled: Any, vector: Any, mode: str) -> None:
    rows = filled.recall(QUESTION, vector, k=100, as_of=MOMENT, mode=mode)
    assert len(rows) == 40
    for rank, row in enumerate(rows, start=1):
        shown = explain(filled, row["external_id"], QUESTION, vector, as_of=MOMENT, mode=mode, k=100)
        assert shown["answer"]["rank"]["value"] == str(rank)
        assert number(shown["answer"]["score"]) == row["score"]
        assert list(shown["score"]) == COMPONENTS
        assert {name: number(shown["score"][name]) for name in COMPONENTS} == {
            name: row[name] for name in COMPONENTS
        }
        total = 0.0
        for name in COMPONENTS:
            total += shown["score"][name]["contribution"]
        assert total == row["score"]
        assert sum(term["contribution"] for term in shown.get("term", {}).values()) == (row["bm25"] or 0)


def test_the_passages_are_those_that_decide(filled: Any, vector: Any) -> None:
    for row in filled.recall(QUESTION, vector, k=100, as_of=MOMENT):
        shown = explain(filled, row["external_id"], QUESTION, vector, as_of=MOMENT, k=100)
        parts = [items for section, items in shown.items() if section.startswith("passage")]
        texts = [part["text"]["note"] for part in parts if part["text"]["value"] == "shown"]
        assert texts == ([row["passage"]] if row["passage"] is not None else [])
        if parts:
            assert max(number(part["terms"]) for part in parts) == row["passage_terms"]
        cosines = {
            part["cosine"]["note"]: number(part["cosine"]) for part in parts if part["cosine"]["value"]
        }
        if cosines:
            assert cosines["best"] == row["passage_cosine"]
            assert (cosines["best"] + cosines.get("second", cosines["best"])) / 2 == row["pair_cosine"]


def test_each_term_has_its_statistics(tenant: Any) -> None:
    tenant.store("a", "river harbour river", passages=["a lantern", "river and river"])
    tenant.store("b", "river winter")
    terms = explain(tenant, "a", "river, harbour or violin?")["term"]
    assert list(terms) == ["harbour", "river", "violin"]
    assert [terms[name]["value"] for name in terms] == ["1", "2", "0"]
    assert terms["river"]["weight"] == pytest.approx(np.log(1 + 0.5 / 2.5))
    assert terms["river"]["note"] == "in 2 of 2 lessons; in passage 2"
    assert terms["violin"]["note"] == "in 0 of 2 lessons"
    assert (terms["violin"]["weight"], terms["violin"]["contribution"]) == (None, 0)


def test_each_leg_is_named(tenant: Any, unit: Any) -> None:
    tenant.set(pool_depth=1)
    tenant.store("words", "river river", embedding=unit(0, 0, 1))
    tenant.store("vector", "winter", embedding=unit(1))
    tenant.store("linked", "lantern")
    tenant.store("neither", "market", embedding=unit(0, 1))
    tenant.link("words", "linked")

    def answer(name: str, **options: Any) -> tuple[str, str]:
        shown = explain(tenant, name, "river", unit(1), **options)
        rank = shown["answer"]["rank"]
        return rank["value"], shown["answer"]["candidate"]["note"]

    assert answer("words", k=1)[1] == "keyword leg, place 1"
    assert answer("vector", k=1)[1] == "vector leg, place 1"
    assert answer("linked", k=1)[1] == "graph"
    assert answer("neither", k=1) == (None, "in no leg's best 1")
    assert "filled up" in answer("linked", k=4)[1]
    assert explain(tenant, "linked", "river", k=1)["score"]["graph"]["note"] == "flows in from 'words'"


def test_what_keeps_a_lesson_out_is_named(tenant: Any) -> None:
    tenant.store("a", "river", role="guide", occurred_at="2024-05-01 UTC", expires_at="2099-06-01 UTC")
    tenant.store("b", "river")

    def failed(**options: Any) -> list[str]:
        shown = explain(tenant, "a", "river", **options)
        no = [item for item, row in shown["recallable"].items() if row["value"] == "no"]
        assert (shown["answer"]["rank"]["value"] is None) == bool(no)
        assert (
            "a" in tenant.ids("river", **{k: v for k, v in options.items() if k != "in_project"})
        ) != bool(no)
        return no

    assert failed() == []
    assert failed(role="guide", valid_at="2024-05-01 UTC") == []
    assert failed(role="pilot") == ["role"]
    assert failed(valid_at="2024-04-30 UTC") == ["happened"]
    assert failed(valid_at="2099-06-01 UTC") == ["not expired"]
    assert failed(project_id=tenant.id, in_project=tenant.project) == ["scope"]
    assert failed(project_id=None, in_project=tenant.project) == []
    tenant.set(gate_strict="enforce")
    assert failed(role="pilot") == ["role", "gate"]
    tenant.set(gate_strict="off")
    tenant.value("SELECT pgmnemo.forget(NULL, %s, 'a')", tenant.project)
    assert failed() == ["active"]


def test_context_and_times_are_traced(tenant: Any) -> None:
    for name, text in (("a", "river river bridge"), ("b", "winter")):
        tenant.store(name, text, occurred_at="2024-05-11 UTC")
    shown = explain(tenant, "b", QUESTION, as_of=MOMENT)
    assert shown["score"]["context"]["note"] == "relevance of 'a'"
    assert shown["time"]["interval 1"]["value"] == "1"
    assert shown["time"]["interval 1"]["note"].startswith("2024-05-01")
    assert shown["score"]["recency"]["note"] == "age 51.00 days, half-life 30 days"
    assert explain(tenant, "a", QUESTION, as_of=MOMENT)["score"]["context"]["note"] == "its own relevance"
