"""Random texts, and whether the keyword index holds them as it should."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import pytest

from tests.sql.formula import Numbers, Statistics, bm25, cut

WORDS = [
    "river", "harbour", "lantern", "teacher", "garden", "violin", "winter", "market", "letter", "mountain",
    "kitchen", "engine", "painter", "bridge", "forest", "captain", "the", "running", "quietly",
]  # fmt: skip
QUESTIONS = [
    "Where is the river harbour?", "running engines and a violin in winter", "lantern lantern lantern",
    "quietly the captain painted bridges in the forest market", "letter",
]  # fmt: skip


def text(chance: random.Random) -> str:
    return " ".join(chance.choices(WORDS, weights=range(1, len(WORDS) + 1), k=chance.randint(1, 30)))


def sound(tenant: Any, **numbers: Any) -> None:
    """Assert that the check finds nothing and that every BM25 is that of the formula, to 1e-9."""
    assert tenant.rows("SELECT * FROM pgmnemo.check()") == []
    for question in QUESTIONS:
        rows = tenant.recall(question, k=1000, mode="keyword")
        found = {row["external_id"]: row["bm25"] for row in rows if row["bm25"] > 0}
        assert found == pytest.approx(reckoned(tenant, question, Numbers(**numbers)), rel=0, abs=1e-9)


def reckoned(tenant: Any, question: str, numbers: Numbers) -> Mapping[str, float]:
    """BM25 of each active lesson of the tenant's project that holds a term of the question, by the texts."""
    rows = tenant.rows(
        "SELECT project_id, external_id, t.lexeme, cardinality(t.positions) FROM pgmnemo.lessons "
        "LEFT JOIN unnest(to_tsvector('english', concat_ws(E'\\n', topic, content))) t ON true "
        "WHERE active")  # fmt: skip
    lessons: dict[tuple[Any, str], dict[str, int]] = {}
    for project, name, lexeme, count in rows:
        held = lessons.setdefault((project, name), {})
        if lexeme is not None:
            held[lexeme] = count
    inside = {name: held for (project, name), held in lessons.items() if project == tenant.project}
    counted = Statistics(everywhere=list(lessons.values()), inside=list(inside.values()), numbers=numbers)
    asked = cut(tenant, question)
    return {name: bm25(asked, held, counted) for name, held in inside.items() if held.keys() & asked.keys()}
