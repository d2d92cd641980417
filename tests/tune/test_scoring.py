"""The score and the figures, against values worked out by hand."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from runner.errors import GateError
from runner.tune import layout
from runner.tune.agreement import check_agreement
from runner.tune.scoring import prepare
from runner.tune.tasks import FIGURES, Task


def test_a_score_is_the_weighted_sum_with_the_context_of_its_moment(tools: Any, two_days: Task) -> None:
    judged = tools.judge(
        two_days,
        bm25=[{"a": 4, "b": 1, "c": 2, "d": 3}],
        passage_terms=[{"a": 0, "b": 2, "c": 0, "d": 0}],
        passage_cosine=[{"a": -0.5, "b": 0.5, "c": 0, "d": 0}],
        temporal=[{"c": 1}],
        recency=[{"d": 0.5}],
        graph=[{"a": 0.25}],
    )
    given = tools.weights(
        bm25_weight=1, passage_terms_weight=0.5, passage_cosine_weight=10, temporal_weight=3,
        context_weight=2, recency_weight=0.1, graph_weight=1,
    )  # fmt: skip
    # relevance: a 4, b 1 + 1 + 5 = 7, c 2 + 3 = 5, d 3; a and b share their moment, d has none
    assert tools.by_lesson(judged, judged.scores(given)) == pytest.approx(
        {"a": 4 + 14 + 0.25, "b": 7 + 14, "c": 5 + 10, "d": 3 + 6 + 0.05}
    )


def test_the_bonus_decides_which_terms_are_read_and_plain_words_replace_both(
    tools: Any, two_days: Task
) -> None:
    judged = tools.judge(two_days)
    for bonus, value in (("1", 10.0), ("1.5", 15.0), ("2", 20.0)):
        judged.values[f"passage_terms+{bonus}"] += value
    judged.values["plain bm25"] = judged.values["bm25"] + 3
    judged.values["plain passage_terms"] = judged.values["bm25"] + 4
    given = tools.weights(passage_terms_weight=1, bm25_weight=1)
    for bonus, value in ((1, 10), (1.5, 15), (2, 20)):
        assert judged.scores({**given, "passage_term_bonus": bonus})[0, 0] == value
    assert judged.scores(given, plain=True)[0, 0] == 7


def test_a_leg_that_is_silent_counts_nothing(tools: Any, two_days: Task) -> None:
    judged = tools.judge(two_days)
    values = prepare({"cosine": np.full(judged.layout.shape, np.nan), "bm25": judged.values["bm25"]})
    assert not values["cosine"].any()


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
    assert judged.layout.gold_ranks(judged.scores(tools.weights())).tolist() == [*ranks, 1]


def test_gold_that_was_not_answered_is_found_nowhere(tools: Any, two_days: Task) -> None:
    judged = tools.judge(two_days)
    scores = judged.scores(tools.weights())
    scores[0] = -np.inf
    figures = judged.figures_of(scores)
    assert not figures[0].any()
    assert figures[1:].any()


def test_agreement_is_counted_over_every_lesson(tools: Any, two_days: Task) -> None:
    judged = tools.judge(two_days, bm25=[{"a": 3, "b": 2}])
    given = tools.weights(bm25_weight=1)
    judged.values["score"] = judged.scores(given)
    found = check_agreement(judged, given)
    assert (found.scores, found.farthest, found.displaced) == (9, 0, 0)


@pytest.mark.parametrize(
    ("change", "words"), [(1e-3, "0.001 apart, 0 lessons"), (2.5, "2 lessons at another")]
)
def test_a_score_that_is_not_the_extensions_is_refused(
    tools: Any, two_days: Task, change: float, words: str
) -> None:
    judged = tools.judge(two_days, bm25=[{"a": 3, "b": 2}])
    given = tools.weights(bm25_weight=1)
    judged.values["score"] = judged.scores(given)
    judged.values["score"][0, judged.layout.columns["p"]["b"]] += change
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
    monkeypatch.setattr(layout, "BLOCK", 2)
    pieces = tools.judge(made, bm25=bm25)
    assert len(pieces.blocks) == 5
    assert (pieces.scores(given) == whole.scores(given)).all()
    assert (pieces.figures(given) == whole.figures(given)).all()
    assert (whole.figures_of(whole.scores(given)) == whole.figures(given)).all()
