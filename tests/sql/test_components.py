"""Every component of every score equals its documented formula, worked out in Python from what was stored."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.sql.formula import WEIGHTS, Formula, Lesson, Numbers

NOW = datetime(2025, 6, 30, tzinfo=UTC)
DAY = timedelta(days=1)
QUESTION = "Where did the pilot moor the boat in the harbour?"
DATED = QUESTION + " Was it on 31 May 2025?"
SPAN = (datetime(2025, 5, 31, tzinfo=UTC), datetime(2025, 6, 1, tzinfo=UTC))
ASKED = (0.6, 0.1, 0.3, 0.5)
MODES = ("hybrid", "vector", "keyword")
# more different words than the pivot
MANY = " ".join(f"q{one}v{two}z" for one in "bcdfghjklmnprst" for two in "bcdfghjklm")
SAME = "lantern " * 150  # as many words, but one and the same

LESSONS = {
    "whole": Lesson(content="the pilot and a boat", at=NOW, vector=(1, 2)),
    "words": Lesson(content="harbour, harbour and harbour", at=NOW - 3 * DAY, importance=5),
    "parts": Lesson(content="boat boat pilot garden violin", at=NOW - 3 * DAY, importance=1,
                    passages=("boat boat", "the pilot of a boat", "violin"), vector=(1, 0, 0, 1),
                    vectors=((1,), (1, 1), (0, 0, -1))),
    "one": Lesson(content="moor the boat", at=NOW - 30 * DAY, importance=4, vector=(0, 1),
                  passages=("moor the boat",), vectors=((3, 1, 1, 2),)),
    "wordy": Lesson(content="harbour light", at=NOW - 30 * DAY, vector=(2, 1), passages=("harbour", "light")),
    "half": Lesson(content="a pilot at night", at=NOW - 90 * DAY, importance=2,
                   passages=("a pilot", "at night"), vectors=(None, (1, 0, 2))),
    "away": Lesson(content="violin", at=NOW - 90 * DAY, vector=(-1, -1)),
    "back": Lesson(content="garden", at=NOW - 365 * DAY, vector=(-1,), passages=("garden", "path"),
                   vectors=((-1, 0, 1), (-1, -2))),
    "long": Lesson(content=f"a boat and a pilot {MANY}", vector=(1, 3, 2)),
    "again": Lesson(content=f"a boat and a pilot {SAME}", vector=(1, 3, 1)),
    "cut": Lesson(content=f"moor a boat in the harbour {MANY}", at=NOW - 20 * DAY,
                  passages=(f"moor a boat in the harbour {MANY}", "moor a boat")),
    "ask": Lesson(content="Where is the boat?", at=NOW - DAY, vector=(2, 1, 1), role="user", position=1),
    "reply": Lesson(content="The boat is in the harbour, where the pilot is.", at=NOW - DAY, vector=(1, 1, 1),
                    passages=("The boat is in the harbour", "the pilot"), role="assistant", position=2),
    "thanks": Lesson(content="Thanks, pilot", at=NOW - DAY, vector=(0, 0, 1), role="user", position=3),
    "also": Lesson(content=f"and a garden, and a market {SAME}", at=NOW - DAY, role="user", position=4),
    "more": Lesson(content="moor it", at=NOW - DAY, role="captain", position=5),
    "last": Lesson(content="a violin", role="assistant", position=6),
    "next": Lesson(content="the harbour at night", at=NOW - 8 * DAY, vector=(1, 0, 1), position=8),
}  # fmt: skip
ELSEWHERE = ("a boat, a boat and a boat", "the captain", "pilot", f"boat harbour {SAME}")
LINKS = (("whole", "away", 0.5), ("away", "back", 0.75), ("one", "last", 1.0))


@pytest.fixture
def filled(tenant: Any, unit: Any) -> Any:
    for name, lesson in LESSONS.items():
        lesson.store(tenant, name, unit)
    for place, text in enumerate(ELSEWHERE):
        tenant.store(f"e{place}", text, project_id=tenant.id)
    for source, target, weight in LINKS:
        tenant.link(source, target, weight=weight)
    return tenant


@pytest.fixture
def formula(filled: Any, unit: Any) -> Callable[..., Formula]:
    """With these weights and numbers in place of the defaults, which the session then has as well."""

    def make(weights: dict[str, float] | None = None, **numbers: Any) -> Formula:
        filled.set(**{f"{name}_weight": value for name, value in (weights or {}).items()}, **numbers)
        return Formula(tenant=filled, unit=unit, lessons=LESSONS, elsewhere=ELSEWHERE, links=LINKS,
                       weights={**WEIGHTS, **(weights or {})}, numbers=Numbers(**numbers))  # fmt: skip

    return make


def recalled(tenant: Any, unit: Any, question: str = DATED, **options: Any) -> dict[str, dict[str, Any]]:
    rows = tenant.recall(question, unit(*ASKED), as_of=NOW, k=50, **options)
    return {row["external_id"]: row for row in rows}


def check(formula: Formula, mode: str = "hybrid") -> None:
    """Cosines are of half precision, and their sums as exact as that."""
    rows = recalled(formula.tenant, formula.unit, mode=mode)
    wanted = formula.answer(DATED, ASKED, NOW, mode, SPAN)
    assert rows.keys() == wanted.keys()
    for name, row in rows.items():
        for part, value in wanted[name].items():
            close = 1e-9 if mode == "keyword" or part in ("bm25", "passage_terms", "recency") else 1e-4
            if value is None:
                assert row[part] is None, (name, part)
            else:
                assert row[part] == pytest.approx(value, rel=0, abs=close), (name, part)


@pytest.mark.parametrize("mode", MODES)
def test_each_component_and_the_score_are_what_python_makes_of_the_texts(formula: Any, mode: str) -> None:
    check(formula(), mode)


def test_every_component_is_tried(filled: Any, unit: Any) -> None:
    rows = recalled(filled, unit).values()
    for part in WEIGHTS:
        assert len({row[part] for row in rows}) > 2, part


@pytest.mark.parametrize("component", WEIGHTS)
def test_a_weight_of_nought_switches_a_component_off(formula: Any, unit: Any, component: str) -> None:
    """What is left of the score is the sum of the others; and the component did count before."""

    def scores(rows: dict[str, dict[str, Any]]) -> dict[str, float]:
        return {name: row["score"] for name, row in rows.items()}

    before = scores(recalled(formula().tenant, unit))
    without = formula({component: 0.0})
    after = recalled(without.tenant, unit)
    assert scores(after) == pytest.approx(scores(without.answer(DATED, ASKED, NOW, span=SPAN)), abs=1e-4)
    assert scores(after) != before
    if component in ("neighbours", "graph", "temporal"):  # then none are looked for
        assert {row[component] for row in after.values()} == {0}
    else:
        check(without)


@pytest.mark.parametrize("numbers", [
    {"statistics_scope": "tenant"}, {"statistics_scope": "project"}, {"length_pivot": 3},
    {"length_pivot": 100_000}, {"bm25_k1": 1.5, "bm25_b": 1}, {"passage_term_bonus": 0.5},
    {"full_coverage": 0}, {"full_coverage": 1}, {"question_weight": 1},
    {"assistant_weight": 1}, {"assistant_weight": 0}, {"neighbours_half_length": 3}, {"recency_half_life": 2},
    {"graph_depth": 1}, {"graph_seeds": 3},
], ids=str)  # fmt: skip
def test_each_number_of_the_formula_is_a_setting(formula: Any, numbers: dict[str, Any]) -> None:
    with_them = formula(**numbers)
    for mode in MODES:
        check(with_them, mode)


def test_weights_other_than_the_defaults_count_as_they_are(formula: Any) -> None:
    check(formula({name: 0.5 + place / 20 for place, name in enumerate(WEIGHTS)}))


def test_context_joins_lessons_of_one_project_and_moment_alone(tenant: Any) -> None:
    for name, content, moment in (
        ("a", "violin", NOW), ("b", "garden", NOW), ("c", "garden", NOW - timedelta(seconds=1)),
        ("d", "violin", None), ("e", "garden", None),
    ):  # fmt: skip
        tenant.store(name, content, occurred_at=moment)
    tenant.store("f", "garden", occurred_at=NOW, project_id=tenant.id)
    rows = {row["external_id"]: row for row in tenant.recall("violin", project_id=None, as_of=NOW)}
    worth = rows["a"]["bm25"] + 0.75 * rows["a"]["passage_terms"]
    assert worth > 0
    assert {name: row["context"] for name, row in rows.items()} == {
        "a": worth, "b": worth, "c": 0, "d": worth, "e": 0, "f": 0}  # fmt: skip


def test_neighbours_are_of_one_project_and_ordered_by_position_alone(tenant: Any) -> None:
    for name, content, position in (
        ("z", "violin", 1), ("y", "garden", 2), ("x", "market", 3), ("w", "garden", 4), ("v", "garden", None),
    ):  # fmt: skip
        tenant.store(
            name, content, occurred_at=NOW - 9 * DAY * len(name + content), **{'"position"': position}
        )
    tenant.store("u", "garden", project_id=tenant.id, **{'"position"': 2})
    rows = {row["external_id"]: row for row in tenant.recall("violin", project_id=None, as_of=NOW)}
    worth = rows["z"]["bm25"] + 0.75 * rows["z"]["passage_terms"]
    assert {name: row["neighbours"] for name, row in rows.items()} == pytest.approx(
        {"z": 0, "y": worth, "x": worth * 0.5 ** (1 / 20), "w": 0, "v": 0, "u": 0}
    )


def test_the_neighbours_of_the_best_become_candidates(tenant: Any) -> None:
    for place in range(100):
        tenant.store(f"l{place:02}", "violin" if place == 50 else "garden", **{'"position"': place})
    tenant.set(pool_depth=1)
    assert sorted(tenant.ids("violin", k=1)) == ["l50"]
    pool = ("SELECT note FROM pgmnemo.explain(NULL, %s, %s, query_text => 'violin', k => 1, "
            "duplicates => NULL) WHERE item = 'candidate'")  # fmt: skip
    found = {place: tenant.value(pool, tenant.project, f"l{place}") for place in (47, 48, 49, 51, 52, 53)}
    near, far = "neighbour of one of the best", "in no leg's best 1"
    assert found == {47: far, 48: near, 49: near, 51: near, 52: near, 53: far}
    tenant.set(neighbours_seeds=0)
    assert tenant.value(pool, tenant.project, "l49") == far
