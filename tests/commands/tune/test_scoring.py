"""The score and the figures, against values worked out by hand."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from runner.commands.tune import tasks
from runner.commands.tune.scoring import Company, check_agreement
from runner.commands.tune.tasks import FIGURES, Task
from runner.commands.tune.weights import COVER, shaped, trials
from runner.errors import GateError


def test_a_score_is_the_weighted_sum_with_the_context_of_its_moment(tools: Any, two_days: Task) -> None:
    judged = tools.judge(
        two_days, bm25=[{"a": 4, "b": 1, "c": 2, "d": 3}], passage_terms=[{"a": 0, "b": 2, "c": 0, "d": 0}],
        passage_cosine=[{"a": 0, "b": 0.5, "c": 0, "d": 0}], temporal=[{"c": 1}], recency=[{"d": 0.5}],
        graph=[{"a": 0.25}],
    )  # fmt: skip
    given = tools.weights(
        bm25_weight=1, passage_terms_weight=0.5, passage_cosine_weight=10, temporal_weight=3,
        context_weight=2, recency_weight=0.1, graph_weight=1,
    )  # fmt: skip
    # relevance: a 4, b 1 + 1 + 5 = 7, c 2 + 3 = 5, d 3; a and b share their moment, d has none
    assert tools.by_lesson(judged, judged.scores(given)) == pytest.approx(
        {"a": 4 + 14 + 0.25, "b": 7 + 14, "c": 5 + 10, "d": 3 + 6 + 0.05}
    )


def test_pivot_and_bonus_decide_which_words_are_read_and_another_reading_replaces_both(
    tools: Any, two_days: Task
) -> None:
    judged = tools.judge(two_days)
    for shape, value in (("50+1", 10.0), ("70+1.5", 15.0), ("90+2", 20.0)):
        judged.values[f"passage_terms~{shape}"] += value
        judged.values[f"bm25~{shape[:2]}"] += 1
    judged.values |= {f"plain {name}": judged.values[shaped(name, tools.weights())] for name in COVER}
    judged.values["plain bm25"] = np.full(judged.task.layout.shape, 3.0)
    judged.values["plain passage_terms"] = np.full(judged.task.layout.shape, 4.0)
    given = tools.weights(passage_terms_weight=1, bm25_weight=1)
    for pivot, bonus, value in ((50, 1, 11), (70, 1.5, 16), (90, 2, 21), (90, 1, 1)):
        assert judged.scores({**given, "length_pivot": pivot, "passage_term_bonus": bonus})[0, 0] == value
    assert judged.scores(given, words="plain")[0, 0] == 7


def test_words_count_by_the_part_of_the_question_that_they_cover(tools: Any, two_days: Task) -> None:
    words = [{"a": 1, "b": 4, "c": 6}] * 2
    judged = tools.judge(two_days, bm25=words, passage_terms=words, bm25_reach=[10, 10], brevity=[1, 0.5])
    given = tools.weights(bm25_weight=1, passage_terms_weight=1, full_coverage=0.8, temporal_weight=1)
    # in full from 0.8 * 10 on: a has a quarter of that, b and c have all of it; and half of each if damped
    for row, whole in enumerate((1.0, 0.5)):
        expected = {"a": 2 * 0.25 * whole, "b": 8 * whole, "c": 12 * whole, "d": 0}
        assert tools.by_lesson(judged, judged.scores(given), row) == expected
    uncovered = judged.scores({**given, "full_coverage": 0, "brevity": 0})
    assert tools.by_lesson(judged, uncovered, 1) == {"a": 2, "b": 8, "c": 12, "d": 0}


def test_an_assistants_share_is_taken_from_relevance_alone(tools: Any, two_days: Task) -> None:
    judged = tools.judge(two_days, bm25=[{"a": 4, "c": 2}], recency=[{"a": 1}])
    columns = judged.task.layout.columns["p"]
    for _, _, company in judged.blocks:
        company.share[:, columns["a"]] = 0
    given = tools.weights(bm25_weight=1, recency_weight=1, context_weight=1, assistant_weight=0.5)
    assert tools.by_lesson(judged, judged.scores(given)) == {"a": 2 + 2 + 1, "b": 2, "c": 2 + 2, "d": 0}


def test_relevance_reaches_a_lesson_from_its_neighbours(tools: Any, two_days: Task) -> None:
    company = Company.alone(2, 4, 2)
    columns = two_days.layout.columns["p"]
    for lesson, heard in (("b", [("a", 1.0), ("d", 0.25)]), ("c", [("b", 1.0)])):
        for at, (other, part) in enumerate(heard):
            company.source[0, columns[lesson], at] = columns[other]
            company.factor[0, columns[lesson], at] = part
    judged = tools.judge(two_days, company, bm25=[{"a": 4, "b": 1, "d": 8}])
    given = tools.weights(bm25_weight=1, neighbours_weight=0.5)
    expected = {"a": 4, "b": 1 + 0.5 * (4 + 2), "c": 0.5 * 1, "d": 8}
    assert tools.by_lesson(judged, judged.scores(given)) == expected


def test_figures_are_those_of_the_ranking(tools: Any) -> None:
    lessons = [(f"l{number}", None) for number in range(12)]
    made = tools.task({"p": lessons}, [("p", ("l0",)), ("p", ("l0", "l6")), ("p", ("l0", "l11"))])
    falling = {f"l{number}": 12.0 - number for number in range(12)}
    judged = tools.judge(made, bm25=[falling] * 3)
    expected = {
        "recall_any@5": [1, 1, 1], "recall_any@10": [1, 1, 1], "MRR@50": [1, 1, 1],
        "recall_frac@10": [1, 1, 0.5], "recall_all@5": [1, 0, 0],
    }  # fmt: skip
    figures = judged.figures(tools.weights(bm25_weight=1))
    assert {name: figures[:, place].tolist() for place, name in enumerate(FIGURES)} == expected


def test_equal_scores_rank_by_external_id(tools: Any, two_days: Task) -> None:
    judged = tools.judge(two_days)
    ordered = sorted(
        (one for one in two_days.corpus.segments if one.project == "p"), key=lambda one: one.external_id
    )
    ranks = [1 + [one.id for one in ordered].index(gold) for gold in ("b", "c", "d")]
    assert judged.task.layout.gold_ranks(judged.scores(tools.weights())).tolist() == [*ranks, 1]


def test_gold_that_was_not_answered_is_found_nowhere(tools: Any, two_days: Task) -> None:
    scores = tools.judge(two_days).scores(tools.weights())
    scores[0] = -np.inf
    figures = two_days.layout.figures(scores)
    assert not figures[0].any()
    assert figures[1:].any()


@pytest.fixture
def agreeing(tools: Any, two_days: Task) -> Any:
    """A judge whose scores the extension gives, at weights of BM25 alone and at drawn ones."""
    judged = tools.judge(two_days, bm25=[{"a": 3, "b": 3}])
    given = tools.weights(bm25_weight=1)
    for name, weights in {"score": given, **trials(given)}.items():
        judged.values[name] = judged.scores(weights)
    return judged, given


@pytest.mark.parametrize("change", [0, 1e-13])
def test_agreement_is_counted_over_every_lesson(agreeing: Any, change: float) -> None:
    """A rank between two scores that are as good as equal is none."""
    judged, given = agreeing
    judged.values["score"][0, judged.task.layout.columns["p"]["b"]] += change
    found = check_agreement(judged, given)
    assert (found["scores"], found["displaced"]) == (9, 0)
    assert found["farthest"] == pytest.approx(change, abs=1e-15)
    assert found["at random weights"] == {"scores": 4 * 9, "farthest": 0, "displaced": 0}


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("score", -1e-3, "0.001 apart, 0 lessons"),
        ("score", 2.5, "2 lessons at another"),
        ("trial 3", -1e-3, "0.001 apart, 0 lessons"),
    ],
)
def test_a_score_that_is_not_the_extensions_is_refused(
    agreeing: Any, name: str, change: float, words: str
) -> None:
    judged, given = agreeing
    columns = judged.task.layout.columns["p"]
    judged.values[name][0, max(columns["a"], columns["b"])] += change
    with pytest.raises(GateError, match=words):
        check_agreement(judged, given)


def test_many_questions_are_scored_as_each_alone(tools: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    days = [datetime(2024, 5, 1 + number // 2, tzinfo=UTC) for number in range(6)]
    held = {name: [(f"{name}{n}", days[n]) for n in range(6 - at)] for at, name in enumerate("pqr")}
    made = tools.task(held, [(name, (f"{name}{n}",)) for n in range(3) for name in "pqr"])
    bm25 = [
        {f"{q.project}{n}": float((row * 7 + n * 5) % 6) for n in range(len(held[q.project]))}
        for row, q in made.questions
    ]
    given = tools.weights(bm25_weight=1, context_weight=0.5)
    whole = tools.judge(made, bm25=bm25)
    assert len(whole.blocks) == 1
    monkeypatch.setattr(tasks, "BLOCK", 2)
    pieces = tools.judge(made, bm25=bm25)
    assert len(pieces.blocks) == 5
    assert (pieces.scores(given) == whole.scores(given)).all()
    assert (pieces.figures(given) == whole.figures(given)).all()
    assert (made.layout.figures(whole.scores(given)) == whole.figures(given)).all()
