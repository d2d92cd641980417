"""Every component of every score equals its documented formula, worked out in Python from what was stored."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

NOW = datetime(2025, 6, 30, tzinfo=UTC)
QUESTION = "Where did the pilot moor the boat in the harbour?"
WEIGHTS = {"bm25": 1.0, "passage_terms": 0.75, "passage_cosine": 18.0, "pair_cosine": 8.0, "cosine": 8.0,
           "temporal": 10.0, "context": 1.0, "recency": 0.10, "importance": 0.10, "graph": 1.0}  # fmt: skip
RELEVANCE = ("bm25", "passage_terms", "passage_cosine", "pair_cosine", "cosine", "temporal")
ASKED = (0.6, 0.1, 0.3, 0.5)

# name: content, days before NOW, importance, vector, passages, their vectors
LESSONS: dict[str, tuple[str, int, int, Any, Any, Any]] = {
    "whole": ("the pilot and a boat", 0, 3, (1, 2), None, None),
    "words": ("harbour, harbour and harbour", 3, 5, None, None, None),
    "parts": ("boat boat pilot garden violin", 3, 1, (1, 0, 0, 1),
              ["boat boat", "the pilot of a boat", "violin"], [(1,), (1, 1), (0, 0, -1)]),
    "one": ("moor the boat", 30, 4, (0, 1), ["moor the boat"], [(3, 1, 1, 2)]),
    "wordy": ("harbour light", 30, 3, (2, 1), ["harbour", "light"], None),
    "half": ("a pilot at night", 90, 2, None, ["a pilot", "at night"], [None, (1, 0, 2)]),
    "away": ("violin", 90, 3, (-1, -1), None, None),
    "back": ("garden", 365, 3, (-1,), ["garden", "path"], [(-1, 0, 1), (-1, -2)]),
}  # fmt: skip


@pytest.fixture
def filled(tenant: Any, unit: Any) -> Any:
    for name, (content, days, importance, vector, passages, vectors) in LESSONS.items():
        tenant.store(
            name, content, importance=importance, occurred_at=NOW - timedelta(days=days),
            embedding=None if vector is None else unit(*vector), passages=passages,
            passage_embeddings=vectors and [None if row is None else unit(*row) for row in vectors],
        )  # fmt: skip
    tenant.link("words", "away", weight=0.5)
    return tenant


def lexemes(tenant: Any, text: str) -> set[str]:
    return {row[0] for row in tenant.rows("SELECT lexeme FROM unnest(to_tsvector('english', %s))", text)}


def half(unit: Any, vector: tuple[float, ...]) -> Any:
    return unit(*vector).astype(np.float16).astype(np.float64)


def terms_reference(tenant: Any, bonus: float = 2.0) -> dict[str, float]:
    """The best passage's sum of idf + bonus over the question's terms that stand in it."""
    held = {name: lexemes(tenant, row[0]) for name, row in LESSONS.items()}
    worth = {}
    for term in lexemes(tenant, QUESTION):
        n = sum(term in words for words in held.values())
        worth[term] = math.log(1 + (len(held) - n + 0.5) / (n + 0.5)) + bonus
    return {
        name: max(
            sum(worth[term] for term in lexemes(tenant, text) & worth.keys()) for text in row[4] or [row[0]]
        )
        for name, row in LESSONS.items()
    }


def cosine_reference(unit: Any) -> dict[str, tuple[float | None, float | None, float | None]]:
    """Own cosine, the best passage's, and the mean of the two best; the own where no passage has a vector."""
    asked = half(unit, ASKED)
    found = {}
    for name, (_, _, _, vector, _, vectors) in LESSONS.items():
        own = None if vector is None else float(half(unit, vector) @ asked)
        parts = sorted(
            (float(half(unit, row) @ asked) for row in vectors or [] if row is not None), reverse=True
        )
        best = parts or ([] if own is None else [own])
        found[name] = (own, best[0] if best else None, sum(best[:2]) / len(best[:2]) if best else None)
    return found


def test_each_component_is_what_python_makes_of_the_texts(
    filled: Any, unit: Any, reference_bm25: Any
) -> None:
    rows = {row["external_id"]: row for row in filled.recall(QUESTION, unit(*ASKED), as_of=NOW)}
    assert rows.keys() == LESSONS.keys()
    bm25, terms, cosines = reference_bm25(filled, QUESTION), terms_reference(filled), cosine_reference(unit)
    for name, row in rows.items():
        assert row["bm25"] == pytest.approx(bm25.get(name, 0), rel=0, abs=1e-9)
        assert row["passage_terms"] == pytest.approx(terms[name], abs=1e-9)
        found = (row["cosine"], row["passage_cosine"], row["pair_cosine"])
        assert [value is None for value in found] == [value is None for value in cosines[name]]
        assert [v for v in found if v is not None] == pytest.approx(
            [v for v in cosines[name] if v is not None], abs=2e-6
        )
        assert row["recency"] == pytest.approx(0.5 ** (LESSONS[name][1] / 30), abs=1e-12)
        assert row["importance"] == (LESSONS[name][2] - 3) / 2
        assert row["temporal"] == 0


def relevance(row: dict[str, Any], **weights: float) -> float:
    return sum({**WEIGHTS, **weights}[name] * max(row[name] or 0.0, 0) for name in RELEVANCE)


@pytest.mark.parametrize("mode", ["hybrid", "vector", "keyword"])
def test_the_score_is_the_weighted_sum_of_its_components(filled: Any, unit: Any, mode: str) -> None:
    rows = filled.recall(QUESTION, unit(*ASKED), as_of=NOW, mode=mode)
    assert len(rows) == len(LESSONS)
    best: dict[Any, float] = {}
    for row in rows:
        best[row["occurred_at"]] = max(best.get(row["occurred_at"], 0.0), relevance(row))
    for row in rows:
        assert row["context"] == pytest.approx(best[row["occurred_at"]], abs=1e-9)
        rest = sum(WEIGHTS[name] * row[name] for name in ("context", "recency", "importance", "graph"))
        assert row["score"] == pytest.approx(relevance(row) + rest, abs=1e-9)
    seed = next(row for row in rows if row["external_id"] == "words")
    gained = max(row["graph"] for row in rows if row["external_id"] == "away")
    assert gained == pytest.approx(relevance(seed) * 0.5 / 2, abs=1e-9)


@pytest.mark.parametrize("component", WEIGHTS)
def test_a_weight_of_nought_switches_a_component_off(filled: Any, unit: Any, component: str) -> None:
    """What is left of the score is the sum of the others; and the component did count before."""
    question = QUESTION + " Was it on 31 May 2025?"
    before = filled.recall(question, unit(*ASKED), as_of=NOW)
    filled.set(**{f"{component}_weight": 0})
    after = filled.recall(question, unit(*ASKED), as_of=NOW)
    assert {row["external_id"]: row["score"] for row in before} != {
        row["external_id"]: row["score"] for row in after
    }
    weights = {**WEIGHTS, component: 0.0}
    for row in after:
        rest = sum(weights[name] * row[name] for name in ("context", "recency", "importance", "graph"))
        assert row["score"] == pytest.approx(relevance(row, **{component: 0.0}) + rest, abs=1e-9)


def test_the_bonus_of_a_term_is_a_setting(filled: Any) -> None:
    filled.set(passage_term_bonus=0.5)
    rows = filled.recall(QUESTION, as_of=NOW)
    assert {row["external_id"]: row["passage_terms"] for row in rows} == pytest.approx(
        terms_reference(filled, 0.5)
    )


def test_context_joins_lessons_of_one_project_and_moment_alone(tenant: Any) -> None:
    for name, content, moment in (
        ("a", "violin", NOW), ("b", "garden", NOW), ("c", "garden", NOW - timedelta(seconds=1)),
        ("d", "violin", None), ("e", "garden", None),
    ):  # fmt: skip
        tenant.store(name, content, occurred_at=moment)
    tenant.store("f", "garden", occurred_at=NOW, project_id=tenant.id)
    rows = {row["external_id"]: row for row in tenant.recall("violin", project_id=None, as_of=NOW)}
    worth = relevance(rows["a"])
    assert worth > 0
    assert {name: row["context"] for name, row in rows.items()} == {
        "a": worth, "b": worth, "c": 0, "d": worth, "e": 0, "f": 0}  # fmt: skip


def test_a_mode_leaves_the_other_leg_out(filled: Any, unit: Any) -> None:
    legs = {"keyword": ("bm25", "passage_terms"), "vector": ("cosine", "passage_cosine", "pair_cosine")}
    for mode, other in (("keyword", "vector"), ("vector", "keyword")):
        rows = filled.recall(QUESTION, unit(*ASKED), mode=mode, as_of=NOW)
        assert {row[name] for row in rows for name in legs[other]} == {None}
        assert any(row[name] for row in rows for name in legs[mode])
