"""Two hand-made runs against each other: every figure can be worked out on paper."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pgmnemo.errors import UsageError
from runner.commands.compare import Comparison, compare
from runner.commands.compare.rows import ComparisonFinding, DifferenceRow
from runner.protocol.editions import current
from runner.protocol.statistics import bootstrap_difference
from runner.records import SearchScope
from runner.report.html.panels import side_words
from runner.runs.run import Arm

Folder = Callable[..., Path]
Ranks = dict[str, int]


def moved(ranks: Ranks, questions: str, rank: int) -> Ranks:
    """The ranks with those of the questions named (by the end of their keys) changed."""
    return ranks | {key: rank for key in ranks if key.split("/")[1] in questions.split()}


def row(
    comparison: Comparison, metric: str, scope: str = "conversation", view: str = "all", type_: str = "all"
) -> DifferenceRow:
    [found] = [
        r for r in comparison.rows if (r.scope, r.view, r.type, r.metric) == (scope, view, type_, metric)
    ]
    return found


def test_values_differences_and_counts_are_those_of_the_hand(folder: Folder, ranks: Ranks) -> None:
    after = moved(ranks, "q3", 8) | {"p0/q0": 1}
    found = compare(folder("a", ranks), folder("b", after))
    at5 = row(found, "recall_any@5")
    assert (at5.baseline, at5.candidate, at5.difference) == (1.0, 0.75, -0.25)
    assert (at5.won, at5.lost, at5.n, at5.trivial) == (0, 10, 40, 0)
    assert at5.mcnemar_p == pytest.approx(2 / 2**10, rel=1e-3)
    mrr = row(found, "MRR@50")
    assert mrr.difference == pytest.approx((10 * (1 / 8 - 1 / 3) + (1 - 1 / 3)) / 40)
    assert (mrr.won, mrr.lost, mrr.mcnemar_p) == (1, 10, None)
    assert row(found, "recall_any@5", type_="hard").difference == -1.0
    assert row(found, "recall_any@5", view="without hard").difference == 0.0
    assert at5.ci95_low <= at5.difference <= at5.ci95_high < 0


def test_projects_are_clusters_and_the_interval_is_the_bootstraps(folder: Folder, ranks: Ranks) -> None:
    after = ranks | dict.fromkeys(["p0/q0", "p0/q1", "p0/q2", "p0/q3", "p4/q1"], 0)
    a, b = folder("a", ranks), folder("b", after)
    differences = np.array([[-1.0 if after[key] == 0 else 0.0] for key in sorted(ranks)])
    clusters = [key.split("/")[0] for key in sorted(ranks)]
    expected = bootstrap_difference(differences, clusters).interval
    together = row(compare(a, b), "recall_any@5")
    assert together.ci95_low == pytest.approx(expected.low[0], abs=1e-6)
    for name, changes in (("c", ranks), ("d", after)):
        folder(name, changes, corpus={"clustered": False})
    apart = row(compare(a.parent / "c", a.parent / "d"), "recall_any@5")
    assert apart.ci95_high - apart.ci95_low < together.ci95_high - together.ci95_low


def test_questions_won_and_lost_are_named(folder: Folder, ranks: Ranks) -> None:
    before = ranks | {"p2/q0": 0}
    after = ranks | {"p1/q1": 7, "p9/q2": 0}
    found = compare(folder("a", before), folder("b", after))
    listed = {(m.scope, m.metric): (m.won, m.lost) for m in found.moved}
    assert listed["conversation", "recall_all@5"] == (("p2/q0",), ("p1/q1", "p9/q2"))
    assert listed["pool", "recall_any@10"] == (("p2/q0",), ("p9/q2",))
    assert listed["conversation", "MRR@50"] == (("p2/q0",), ("p1/q1", "p9/q2"))


@pytest.mark.parametrize(
    ("questions", "rank", "finding", "code", "strict"),
    [
        ("", 3, ComparisonFinding.EQUIVALENT, 0, 0),
        ("q0 q1", 0, ComparisonFinding.REGRESSED, 1, 1),
        ("q0 q2", 12, ComparisonFinding.REGRESSED, 1, 1),
        ("q0 q1 q2 q3", 1, ComparisonFinding.IMPROVED, 0, 0),
    ],
)
def test_the_verdict_and_its_exit_code(
    folder: Folder,
    ranks: Ranks,
    questions: str,
    rank: int,
    finding: ComparisonFinding,
    code: int,
    strict: int,
) -> None:
    found = compare(folder("a", ranks), folder("b", moved(ranks, questions, rank)))
    assert (found.finding, found.exit_code(), found.exit_code(strict=True)) == (finding, code, strict)


def test_one_question_of_forty_is_inconclusive_unless_a_drop_was_forbidden(
    folder: Folder, ranks: Ranks
) -> None:
    a, b = folder("a", ranks), folder("b", ranks | {"p3/q1": 0})
    found = compare(a, b)
    assert (found.finding, found.exit_code(), found.exit_code(strict=True)) == (
        ComparisonFinding.INCONCLUSIVE,
        0,
        1,
    )
    assert compare(a, b, max_drop={"recall_any@5": 0.025}).finding is ComparisonFinding.INCONCLUSIVE
    forbidden = compare(a, b, max_drop={"recall_any@5": 0.02})
    assert (forbidden.finding, forbidden.exit_code()) == (ComparisonFinding.REGRESSED, 1)
    assert "fell by 2.5, more than the 2.0 that --max-drop allows" in forbidden.reasons[0]


def test_the_family_is_the_headline_in_every_scope_with_holms_correction(
    folder: Folder, ranks: Ranks
) -> None:
    found = compare(folder("a", ranks), folder("b", moved(ranks, "q0", 7)))
    members = {(m.row.metric, m.row.scope): m for m in found.family}
    headline = current().metrics.headline
    assert set(members) == {(metric, scope) for metric in headline for scope in ("conversation", "pool")}
    smallest = min(found.family, key=lambda m: m.row.p)
    assert smallest.p_holm == pytest.approx(8 * smallest.row.p)
    assert {m.band for m in found.family} == {0.010, 0.015}


def test_a_trivial_headline_is_left_out_of_the_family(folder: Folder, ranks: Ranks) -> None:
    headline = ("recall_any@5", "recall_any@50", "MRR@50")
    a, b = (folder(name, ranks, size=50, headline=headline) for name in ("a", "b"))
    found = compare(a, b)
    assert {m.row.metric for m in found.family} == {"recall_any@5", "MRR@50"}


def test_what_the_candidate_changed_is_listed(folder: Folder, ranks: Ranks) -> None:
    settings = {"pgmnemo.ef_search": "200", "pgmnemo.new": "1"}
    b = folder("b", ranks, choice={"version": "0.3.0"}, guc_state=settings)
    changes = [(c.what, c.baseline, c.candidate) for c in compare(folder("a", ranks), b).changes]
    assert changes == [
        ("version", "0.2.1", "0.3.0"),
        ("pgmnemo.ef_search", "100", "200"),
        ("pgmnemo.new", "–", "1"),  # noqa: RUF001
    ]


def test_another_system_is_compared_by_its_own_name(folder: Folder, ranks: Ranks) -> None:
    chroma = Arm("chroma", "as it comes", "system", "Chroma", "1.0")
    other = {"choice": {"system": "chroma", "mode": ""}, "arms": (chroma, Arm("bm25", "keywords", "leg"))}
    found = compare(
        folder("a", moved(ranks, "q0 q1", 0), guc_state={}, database=None, **other), folder("b", ranks)
    )
    assert found.finding is ComparisonFinding.IMPROVED
    assert [(c.what, c.baseline, c.candidate) for c in found.changes][:2] == [
        ("system", "chroma", "pgmnemo"),
        ("version", "1.0", "0.2.1"),
    ]
    document = found.document()
    assert side_words(document["baseline"]).startswith("chroma 1.0, minilm (a: ")
    assert side_words(document["candidate"]).startswith("pgmnemo v0.2.1, minilm (b: ")


DIFFERENT: dict[str, dict[str, Any]] = {
    "corpus": {"corpus": {"sha256": "ef" * 32}}, "scopes": {"scopes": (SearchScope("conversation"),)},
    "mode": {"choice": {"mode": "keyword"}}, "postgresql": {"database": {"postgresql": "16.4"}},
    "metrics": {"metrics": {"metric_code": "2.0.0"}},
}  # fmt: skip


@pytest.mark.parametrize("condition", DIFFERENT)
def test_unlike_runs_are_refused_unless_told_to_and_then_labelled(
    folder: Folder, ranks: Ranks, condition: str
) -> None:
    a, b = folder("a", ranks), folder("b", ranks, **DIFFERENT[condition])
    with pytest.raises(UsageError, match=rf"differ in {condition} \(.+--despite {condition},"):
        compare(a, b)
    found = compare(a, b, despite=[condition])
    assert [mismatch.condition for mismatch in found.despite] == [condition]
    assert found.label.startswith(f"equivalent (compared despite {condition} (")
    assert found.document()["despite"][0]["condition"] == condition


def test_another_definition_of_a_metric_is_refused(folder: Folder, ranks: Ranks) -> None:
    a = folder("a", ranks)
    definitions = {"recall_any@5": "Share of questions, fractional.", "MRR@50": "…"}
    b = folder("b", ranks, metrics={"definitions": definitions})
    with pytest.raises(UsageError, match="only one has"):
        compare(a, b)
    both = {"recall_any@5": "another", "MRR@50": "…"}
    with pytest.raises(UsageError, match="another definition of recall_any@5"):
        compare(b, folder("c", ranks, metrics={"definitions": both}))


def test_other_questions_are_refused_or_the_shared_ones_compared(folder: Folder, ranks: Ranks) -> None:
    a, b = folder("a", ranks), folder("b", {key: 1 for key in ranks if key.startswith("p1")})
    with pytest.raises(UsageError, match=r"questions \(conversation: 40 against 4, 4 shared; pool:"):
        compare(a, b)
    assert {r.n for r in compare(a, b, despite=["questions"]).rows if r.of("all")} == {4}


def test_other_gold_is_refused(folder: Folder, ranks: Ranks) -> None:
    def change(rows: list[Any]) -> None:
        for line in rows:
            if line["question"] == "p0/q0":
                line["gold"] = ["p0/q0/other9"]

    a, b = folder("a", ranks), folder("b", ranks, change=change)
    with pytest.raises(UsageError, match=r"gold \(conversation: gold, type or scope size of 1 questions"):
        compare(a, b)


def test_every_difference_is_told_at_once(folder: Folder, ranks: Ranks) -> None:
    a, b = folder("a", ranks), folder("b", ranks, embedder=None, choice={"mode": "keyword"})
    with pytest.raises(
        UsageError, match=r"embedder \(minilm against none\) and mode .*--despite embedder,mode,"
    ):
        compare(a, b)
    with pytest.raises(UsageError, match="differ in mode"):
        compare(a, b, despite=["embedder"])
