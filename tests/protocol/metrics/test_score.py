"""Scoring of a run: two scopes, three arms, four questions, small enough for the eye."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pgmnemo.errors import UsageError
from runner.protocol.editions import current
from runner.protocol.metrics import Scores, score
from runner.records import Difference, RankedSegment, Retrieval, Score

QUESTIONS = {  # key: (type, project, gold)
    "c1/q0": ("single", "c1", ("a",)),
    "c1/q1": ("multi", "c1", ("a", "b")),
    "c2/q0": ("single", "c2", ("c",)),
    "c2/q1_abs": ("multi", "c2", ("a", "b", "c", "d", "e", "f", "g")),
}
RANKINGS = {  # arm: ranking by question
    "hybrid": ("abc", "acb", "abc", "abc"),
    "bm25": ("abc", "cda", "dea", "xyz"),
}
VIEWS = {"all": lambda key, type_: True, "without abstention": lambda key, type_: not key.endswith("_abs")}


def retrieval(question: str, arm: str, ranking: str, size: int = 4, scope: str = "conversation") -> Retrieval:
    type_, project, gold = QUESTIONS[question]
    return Retrieval(
        question, type_, arm, scope, project, size, gold, tuple(RankedSegment(id) for id in ranking)
    )


def rows() -> list[Retrieval]:
    return [
        retrieval(question, arm, ranking)
        for arm, rankings in RANKINGS.items()
        for question, ranking in zip(QUESTIONS, rankings, strict=True)
    ]


def scored(given: list[Retrieval], clustered: bool = False, cutoffs: list[int] | None = None) -> Scores:
    return score(given, current(), views=VIEWS, clustered=clustered, cutoffs=cutoffs)


def pick(scores: Scores, metric: str, arm: str = "hybrid", view: str = "all", type_: str = "all") -> Score:
    [found] = [r for r in scores.results if (r.arm, r.view, r.type, r.metric) == (arm, view, type_, metric)]
    return found


def difference(scores: Scores, metric: str, view: str = "all") -> Difference:
    [found] = [d for d in scores.differences if (d.metric, d.view) == (metric, view)]
    return found


@pytest.mark.parametrize(
    ("metric", "arm", "expected"),
    [
        ("recall_any@1", "hybrid", 3 / 4),
        ("recall_any@5", "bm25", 2 / 4),
        ("recall_frac@5", "hybrid", (1 + 1 + 1 + 3 / 7) / 4),
        ("recall_all@5", "hybrid", 3 / 4),
        ("MRR@50", "hybrid", (1 + 1 + 1 / 3 + 1) / 4),
    ],
)
def test_a_value_is_the_mean_over_all_questions(metric: str, arm: str, expected: float) -> None:
    found = pick(scored(rows()), metric, arm)
    assert found.value == pytest.approx(expected)
    assert found.n == 4
    assert 0 <= found.ci95_low <= found.value <= found.ci95_high <= 1


def test_a_missing_retrieval_scores_the_worst_value_and_stays_in_the_denominator() -> None:
    given = [row for row in rows() if (row.arm, row.question) != ("hybrid", "c1/q0")]
    found = pick(scored(given), "recall_any@5")
    assert (found.value, found.n) == (3 / 4, 4)


def test_an_arm_that_was_not_run_in_a_scope_has_no_row_there() -> None:
    pooled = [retrieval(q, "bm25", "abc", size=9, scope="pool") for q in QUESTIONS]
    scores = scored(rows() + pooled)
    assert {r.arm for r in scores.results if r.scope == "pool"} == {"bm25", "ceiling"}
    assert {d.scope for d in scores.differences} == {"conversation"}


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("recall_frac@1", (1 + 1 / 2 + 1 + 1 / 7) / 4),
        ("recall_all@5", 3 / 4),
        ("recall_frac@10", (3 + 4 / 7) / 4),  # the scope holds four segments, the last question's gold seven
        ("MRR@50", 1),
    ],
)
def test_the_ceiling_is_what_gold_and_scope_allow(metric: str, expected: float) -> None:
    assert pick(scored(rows()), metric, "ceiling").value == pytest.approx(expected)


def test_a_cutoff_that_reaches_the_scopes_size_is_counted_as_trivial() -> None:
    given = [replace(row, size=5 if row.project == "c1" else 6) for row in rows()]
    scores = scored(given)
    trivial = {
        m: pick(scores, m).trivial for m in ("recall_any@1", "recall_frac@5", "recall_all@10", "MRR@50")
    }
    assert trivial == {"recall_any@1": 0, "recall_frac@5": 2, "recall_all@10": 4, "MRR@50": 0}
    assert pick(scores, "recall_any@5", type_="multi").trivial == 1


def test_views_and_types_are_subsets_of_the_questions() -> None:
    scores = scored(rows())
    view = "without abstention"
    assert pick(scores, "recall_frac@5", view=view).n == 3
    assert pick(scores, "recall_frac@5", view=view).value == 1
    counted = {r.type: r.n for r in scores.results if (r.arm, r.view, r.metric) == ("bm25", view, "MRR@50")}
    assert counted == {"all": 3, "multi": 1, "single": 2}


def test_an_empty_view_gives_no_row() -> None:
    scores = score(rows(), current(), views={"none": lambda key, type_: False}, clustered=False)
    assert (scores.results, scores.differences) == ([], [])


def test_differences_are_the_first_arm_minus_each_other_arm() -> None:
    extra = [replace(row, arm="random") for row in rows() if row.arm == "bm25"]
    scores = scored(rows() + extra)
    assert {(d.arm, d.baseline) for d in scores.differences} == {("hybrid", "bm25"), ("hybrid", "random")}
    assert difference(scored(rows()), "recall_any@5").value == pytest.approx(1 / 2)
    assert difference(scored(rows()), "recall_any@5", "without abstention").n == 3


def test_a_missing_retrieval_counts_in_the_difference_too() -> None:
    given = [row for row in rows() if (row.arm, row.question) != ("bm25", "c1/q0")]
    found = difference(scored(given), "recall_any@5")
    assert (found.value, found.n) == (3 / 4, 4)


def test_clusters_are_the_projects() -> None:
    apart, together = (pick(scored(rows(), clustered), "recall_any@1") for clustered in (False, True))
    assert apart.value == together.value
    assert together.ci95_high - together.ci95_low > apart.ci95_high - apart.ci95_low


def test_the_interval_methods_are_named() -> None:
    assert "jackknife" in scored(rows(), clustered=True).methods["value"]
    assert "unclustered" in scored(rows()).methods["difference"]


def test_other_cutoffs_are_scored_on_demand() -> None:
    recalls = {"recall_any@2", "recall_frac@2", "recall_all@2"}
    results = score(rows(), current(), views=VIEWS, clustered=False, cutoffs=[2]).results
    assert {*recalls, "MRR@50", "nDCG@10"} <= {r.metric for r in results}
    assert not any(r.metric.startswith("recall_") and not r.metric.endswith("@2") for r in results)


FIRST = retrieval("c1/q0", "hybrid", "abc")


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ([], "no retrieval to score"),
        ([FIRST, FIRST], "arm 'hybrid' answers question 'c1/q0' in scope 'conversation' twice"),
        ([replace(FIRST, gold=())], "question 'c1/q0' has no gold"),
        ([FIRST, replace(FIRST, arm="bm25", gold=("b",))], "another gold"),
        ([replace(FIRST, arm="ceiling")], "an arm is named 'ceiling'"),
        ([replace(FIRST, ranking=(RankedSegment("a"), RankedSegment("a")))], "'a' is ranked twice"),
    ],
)
def test_refuses_rows_that_do_not_fit_together(given: list[Retrieval], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        scored(given)
