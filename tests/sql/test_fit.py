"""`fit` is the score on the scale of its question, and `floor` drops what is below."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from psycopg import errors

from tests.sql.formula import COSINES, WEIGHTS, Formula, Lesson, Numbers, cut, rareness

NOW = datetime(2025, 6, 30, tzinfo=UTC)
DAY = timedelta(days=1)
SPAN = (datetime(2025, 5, 31, tzinfo=UTC), datetime(2025, 6, 1, tzinfo=UTC))
ASKED = (0.6, 0.1, 0.3, 0.5)
MODES = ("hybrid", "vector", "keyword")
# Words of the second are held here, in another project alone and nowhere; the third has more than four.
QUESTIONS = {
    "the boat": None,
    "boat lantern walrus": None,
    "Did the pilot moor a boat, or a walrus a lantern in the harbour on 31 May 2025?": SPAN,
}
LESSONS = {
    "near": Lesson(content="the pilot and a boat", at=NOW, vector=(1, 2)),
    "words": Lesson(content="a boat, harbour and harbour", at=NOW - 30 * DAY, importance=5),
    "parts": Lesson(content="boat pilot garden violin", at=NOW - 3 * DAY, vector=(1, 0, 0, 1),
                    passages=("the pilot of a boat", "violin"), vectors=((1, 1), (0, 0, -1))),
    "away": Lesson(content="violin and boat", at=NOW - 90 * DAY, vector=(-1, -1)),
    "least": Lesson(content="garden", at=NOW - 3000 * DAY, importance=1, vector=(-1,)),
    "reply": Lesson(content="The boat is moored", at=NOW - DAY, vector=(1, 1, 1), role="assistant"),
}  # fmt: skip
ELSEWHERE = ("a lantern", "a boat and a garden", "an oak")


@pytest.fixture
def filled(tenant: Any, unit: Any) -> Any:
    for name, lesson in LESSONS.items():
        lesson.store(tenant, name, unit)
    for place, text in enumerate(ELSEWHERE):
        tenant.store(f"e{place}", text, project_id=tenant.id)
    return tenant


@pytest.fixture
def formula(filled: Any, unit: Any) -> Callable[..., Formula]:
    """With these weights and numbers in place of the defaults, which the session then has as well."""

    def make(weights: dict[str, float] | None = None, **numbers: Any) -> Formula:
        filled.set(**{f"{name}_weight": value for name, value in (weights or {}).items()}, **numbers)
        return Formula(tenant=filled, unit=unit, lessons=LESSONS, elsewhere=ELSEWHERE, links=(),
                       weights={**WEIGHTS, **(weights or {})}, numbers=Numbers(**numbers))  # fmt: skip

    return make


def ideal(formula: Formula, question: str, mode: str, timed: bool) -> float:
    """The score of a lesson that answers the question well."""
    weights = formula.weights
    inside = [cut(formula.tenant, lesson.content) for lesson in formula.lessons.values()]
    words = [] if mode == "vector" else list(cut(formula.tenant, question))
    terms, brevity = formula.reach(question) if words else (0.0, 1.0)
    cosines = sum(weights[name] for name in COSINES)
    return (1 + weights["context"]) * (
        terms * brevity * min(1, math.sqrt(4 / max(len(words), 1)))
        + (cosines * 0.5 * math.sqrt(rareness("", inside) / 5) if mode != "keyword" else 0)
        + (weights["temporal"] * (0.5 if mode == "keyword" else 1) if timed and words else 0)
    )


def fits(tenant: Any, question: str, vector: Any, **options: Any) -> dict[str, float]:
    rows = tenant.recall(question, vector, as_of=NOW, k=50, **options)
    return {row["external_id"]: row["fit"] for row in rows}


def check(formula: Formula, unit: Any, question: str, mode: str) -> None:
    found = fits(formula.tenant, question, unit(*ASKED), mode=mode)
    scores = formula.answer(question, ASKED, NOW, mode, QUESTIONS[question])
    whole = ideal(formula, question, mode, QUESTIONS[question] is not None)
    wanted = {name: min(max(row["score"] / whole, 0), 1) for name, row in scores.items()}
    assert found == pytest.approx(wanted, rel=0, abs=1e-9 if mode == "keyword" else 1e-4)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("question", QUESTIONS)
def test_a_fit_is_what_python_makes(formula: Any, unit: Any, question: str, mode: str) -> None:
    check(formula(), unit, question, mode)


@pytest.mark.parametrize("numbers", [
    {"statistics_scope": "tenant"}, {"statistics_scope": "project"}, {"passage_term_bonus": 0.5},
    {"weights": {name: 0.5 + place / 20 for place, name in enumerate(WEIGHTS)}},
    {"weights": {"temporal": 0.0}},
], ids=str)  # fmt: skip
def test_a_fit_counts_the_settings_of_the_score(formula: Any, unit: Any, numbers: dict[str, Any]) -> None:
    with_them = formula(**numbers)
    for question in QUESTIONS:
        for mode in MODES:
            check(with_them, unit, question, mode)


@pytest.mark.parametrize("mode", MODES)
def test_the_order_of_fits_is_that_of_scores(filled: Any, unit: Any, mode: str) -> None:
    for question in QUESTIONS:
        rows = filled.recall(question, unit(*ASKED), as_of=NOW, mode=mode)
        found = [row["fit"] for row in rows]
        assert found == sorted(found, reverse=True)
        assert all(0 <= one <= 1 for one in found)
        assert len(set(found)) > 2
        ratios = {round(row["score"] / row["fit"], 6) for row in rows if 0 < row["fit"] < 1}
        assert len(ratios) == 1, "one scale for all rows"


def test_what_shares_a_moment_with_an_answer_fits_by_itself(tenant: Any, unit: Any) -> None:
    """The best of a day lifts notes of that day without a time, and no floor may take them for answers."""
    tenant.store("answer", "The walrus sleeps", occurred_at=NOW, embedding=unit(1, 0.2))
    tenant.store("beside", "An oak was felled", occurred_at=NOW, embedding=unit(0, 1, 3))
    for number in range(6):
        tenant.store(
            f"e{number}",
            f"Rain on day {number}",
            occurred_at=NOW - number * DAY - DAY,
            embedding=unit(0, 0, 1),
        )
    asked = {"question": "Where does the walrus sleep?", "vector": unit(1)}
    rows = {row["external_id"]: row for row in tenant.recall(*asked.values(), as_of=NOW)}
    assert list(rows)[:2] == ["answer", "beside"]
    assert rows["beside"]["fit"] < 0.15 < 0.4 < rows["answer"]["fit"]
    assert list(fits(tenant, *asked.values(), floor=0.15)) == ["answer"]


def test_it_ends_at_nought_and_at_one(tenant: Any, unit: Any) -> None:
    tenant.store("best", "walrus " * 40, occurred_at=NOW, embedding=unit(1))
    tenant.store("next", "walrus", occurred_at=NOW)
    tenant.store("none", "oak", importance=1, occurred_at=NOW - 3000 * DAY, embedding=unit(-1))
    found = {row["external_id"]: row for row in tenant.recall("walrus", unit(1), as_of=NOW)}
    assert found["none"]["score"] < 0
    assert found["none"]["fit"] == 0
    assert found["best"]["fit"] == 1
    assert 0 < found["next"]["fit"] <= 1


@pytest.mark.parametrize("word", ["walrus", "lantern"], ids=["held by none", "held in another project"])
def test_a_word_that_no_lesson_holds_counts(filled: Any, word: str) -> None:
    """No lesson gains by it: each covers less of the question, and fits less."""
    plain, more = (filled.recall(text, as_of=NOW) for text in ("pilot", f"pilot {word}"))
    assert [row["bm25"] for row in more] == pytest.approx([row["bm25"] for row in plain])
    assert [row["external_id"] for row in more] == [row["external_id"] for row in plain]
    assert more[0]["score"] < plain[0]["score"]
    assert 0 < more[0]["fit"] < 0.7 * plain[0]["fit"]
    assert fits(filled, word, None, mode="keyword")["near"] < 0.03  # recency and importance alone


def test_a_question_of_stop_words_alone_fits_nothing(filled: Any, unit: Any) -> None:
    assert max(fits(filled, "the of and", None).values()) < 0.01  # recency and importance alone
    for question in ("", "?!"):
        assert set(fits(filled, question, None).values()) == {0}
        assert set(fits(filled, question, unit(*ASKED), mode="keyword").values()) == {0}
        assert fits(filled, question, unit(*ASKED)) == fits(filled, question, unit(*ASKED), mode="vector")
        assert filled.recall(question, as_of=NOW, floor=0.01) == []
    assert fits(filled, "the of and", unit(*ASKED))["near"] > 0


@pytest.mark.parametrize("mode", MODES)
def test_a_floor_drops_the_rows_below_it_and_no_other(filled: Any, unit: Any, mode: str) -> None:
    for question in QUESTIONS:
        given = {"as_of": NOW, "mode": mode, "query_text": question}
        rows = filled.recall(question, unit(*ASKED), **given)
        found = [row["fit"] for row in rows]
        for floor in (0, 1, *found, *(math.nextafter(one, 2) for one in found if one < 1)):
            left = filled.recall(question, unit(*ASKED), floor=floor, **given)
            assert left == [row for row in rows if row["fit"] >= floor]
            assert filled.recall(question, unit(*ASKED), floor=floor, k=2, **given) == left[:2]
        assert filled.recall(question, unit(*ASKED), floor=None, **given) == rows


def test_a_floor_may_leave_none_and_both_spellings_agree(filled: Any) -> None:
    assert len(filled.recall("walrus", as_of=NOW)) == len(LESSONS)
    assert filled.recall("walrus", as_of=NOW, floor=0.4) == []
    query = ("SELECT external_id, fit FROM pgmnemo.recall(%s, query_text => 'boat pilot', project_id => %s, "
             "as_of => %s, floor => %s)")  # fmt: skip
    named = filled.rows(query, filled.id, filled.project, NOW, 0.5)
    assert named == list(fits(filled, "boat pilot", None, floor=0.5).items())
    assert 0 < len(named) < len(LESSONS)


@pytest.mark.parametrize("floor", ["-0.001", "1.001", "NaN", "Infinity", "-Infinity"])
def test_a_floor_out_of_range_is_one_sentence(filled: Any, floor: str) -> None:
    with pytest.raises(errors.InvalidParameterValue) as raised:
        filled.recall("boat", floor=floor)
    assert raised.value.sqlstate == "22023"
    assert raised.value.diag.message_primary == f"floor is {floor}, but must be from 0 to 1"


@pytest.mark.parametrize("factor", [0.1, 3])
def test_weights_scaled_together_leave_it(formula: Any, unit: Any, factor: float) -> None:
    tenant = formula().tenant
    before = {(q, mode): fits(tenant, q, unit(*ASKED), mode=mode) for q in QUESTIONS for mode in MODES}
    context = {"context": WEIGHTS["context"]}  # a share of relevance, as are neighbours and graph
    shares = {name: WEIGHTS[name] for name in ("neighbours", "graph")}
    formula({name: weight * factor for name, weight in WEIGHTS.items()} | context | shares)
    for (question, mode), found in before.items():
        after = fits(tenant, question, unit(*ASKED), mode=mode)
        assert after == pytest.approx(found, rel=1e-6, abs=1e-12)
