"""Hybrid against its legs, from metrics.json and run.json: what is below, how far, or why nobody knows."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from runner.records import Difference, Json, Score, View
from runner.report import compare_with_components
from runner.report.formats import MINUS, MISSING
from runner.runs.results import Results
from runner.runs.run import Arm, Run

LEGS = ("keyword", "vector")
ROLES = {"pgmnemo": "system", "keyword": "leg", "vector": "leg"}
ARMS = tuple(Arm(name, name, role) for name, role in ROLES.items())
NOT_BELOW = "hybrid is not below keyword or vector in recall_any@1, MRR@50, recall_all@5, recall_any@10"
Moved = dict[tuple[str, str], tuple[float, float]]  # by leg and metric: hybrid's value and the leg's


def figures(shelve: Callable[..., Path], folder: Path, run: Run, moved: Moved) -> Json:
    """metrics.json of a run with these values in the headline's scope and view; the others are equal."""
    hybrid = {metric: ours for (_, metric), (ours, _) in moved.items()}
    scores, differences = [], []
    for scope, view in product(("conversation", "pool"), [view.name for view in run.views]):
        for metric, leg in product(run.headline, LEGS):
            ours = hybrid.get(metric, 0.5)
            theirs = moved.get((leg, metric), (ours, ours))[1]
            if (scope, view) != ("conversation", run.headline_view):
                ours, theirs = 0.1, 0.9  # what nobody looks at
            for arm, value in (("pgmnemo", ours), (leg, theirs)):
                scores.append(Score(arm, scope, view, "all", metric, value, 0.4, 0.6, 20))
            apart = ours - theirs
            differences.append(Difference("pgmnemo", leg, scope, view, metric, apart, -0.1, 0.02, 20))
    return Results(shelve(folder, run, scores, differences)).metrics


@pytest.mark.parametrize(
    ("moved", "words"),
    [
        ({}, NOT_BELOW),
        (
            {
                ("keyword", "recall_all@5"): (0.85, 0.95),
                ("keyword", "MRR@50"): (0.5, 0.6),
                ("vector", "recall_all@5"): (0.85, 0.9),
            },
            "hybrid is below keyword in MRR@50 (0.500 against 0.600, difference ~0.100 [~0.100, +0.020]), "
            "recall_all@5 (85.0 against 95.0, difference ~10.0 [~10.0, +2.0]); "
            "below vector in recall_all@5 (85.0 against 90.0, difference ~5.0 [~10.0, +2.0])",
        ),
        (
            {("keyword", "MRR@50"): (0.5541, 0.5543)},
            "hybrid is below keyword in MRR@50 (both 0.554 when rounded, difference in [~0.100, +0.020])",
        ),
    ],
)
def test_what_is_below_is_said_with_both_values_and_the_interval(
    record: Callable[..., Run], shelve: Callable[..., Path], tmp_path: Path, moved: Moved, words: str
) -> None:
    run = record(arms=ARMS, choice={"version": "0.3.1"})
    against = compare_with_components(figures(shelve, tmp_path, run, moved), run)
    assert str(against) == words.replace("~", MINUS)
    assert bool(against.falls) == ("not below" not in words)


def test_the_view_is_that_of_the_headline(
    record: Callable[..., Run], shelve: Callable[..., Path], tmp_path: Path
) -> None:
    views = (View("all"), View("pointed", ("summarization",)))
    run = record(arms=ARMS, choice={"suite": "beam", "version": "0.3.1"}, views=views)
    assert run.headline_view == "pointed"
    assert not compare_with_components(figures(shelve, tmp_path, run, {}), run).falls


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"arms": ARMS[:2]}, "pgmnemo v0.2.1 was not asked in mode vector"),
        ({"choice": {"mode": "vector"}}, "mode vector is itself a leg"),
        (
            {"choice": {"system": "chroma"}, "arms": (Arm("chroma", "", "system", "Chroma", "1.2"),)},
            "Chroma 1.2 has no legs that are known here",
        ),
        ({"arms": ARMS}, "no headline metric was scored"),
    ],
)
def test_where_an_arm_is_missing_the_reason_is_said(
    record: Callable[..., Run], shelve: Callable[..., Path], tmp_path: Path, change: dict[str, Any], why: str
) -> None:
    run = record(**change)
    against = compare_with_components(Results(shelve(tmp_path, run)).metrics, run)
    assert (against.lacking, against.falls) == (why, ())
    assert str(against) == f"{MISSING} ({why})"
