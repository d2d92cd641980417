"""Weights are chosen without the questions that judge them, and chosen well."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from runner.commands.tune.folds import climb, confirming, held_out, protocols
from runner.commands.tune.scoring import Judge
from runner.commands.tune.tasks import FIGURES, load_tasks
from runner.commands.tune.tuning import ablations
from runner.commands.tune.weights import COVER, GRID, OFF, READ, WORDS, shaped
from runner.records import View

MRR = FIGURES.index("MRR@50")


@pytest.fixture
def clustered(tools: Any) -> Judge:
    """Three conversations. Only the temporal fit finds p's and r's gold; in s it misleads."""
    held = {name: [(f"{name}{n}", None) for n in range(3)] for name in "prs"}
    made = tools.task(held, [(name, (f"{name}0",)) for name in "prs"], clustered=True)
    words = [{f"{name}0": 1.0, f"{name}1": 5.0, f"{name}2": 0.0} for name in "pr"]
    fits = [{f"{name}0": 1.0} for name in "pr"]
    return tools.judge(made, bm25=[*words, {"s0": 5.0}], temporal=[*fits, {"s1": 1.0}])  # type: ignore[no-any-return]


@pytest.fixture
def single(tools: Any) -> Judge:
    """Seven questions that stand alone."""
    held = {f"h{n}": [(f"x{n}", None), (f"y{n}", None)] for n in range(7)}
    made = tools.task(held, [(f"h{n}", (f"x{n}",)) for n in range(7)])
    object.__setattr__(made.corpus, "suite", "longmemeval")
    return tools.judge(made, bm25=[{f"x{n}": 1.0} for n in range(7)])  # type: ignore[no-any-return]


def test_the_ascent_finds_the_weight_that_serves(tools: Any, clustered: Judge) -> None:
    rows = {clustered.task.name: np.array([True, True, False])}
    found = climb([clustered], rows, tools.weights(bm25_weight=1))
    assert found["temporal_weight"] == 8  # the first of the grid that lifts 1 + w above 5
    assert {name: found[name] for name in GRID if name != "temporal_weight"} == {
        name: tools.weights()[name] for name in GRID if name != "temporal_weight"
    }


def test_questions_that_are_left_out_move_nothing(tools: Any, clustered: Judge) -> None:
    rows = {clustered.task.name: np.array([False, False, True])}
    assert climb([clustered], rows, tools.weights(bm25_weight=1)) == tools.weights(bm25_weight=1)


def test_each_held_question_is_judged_by_what_its_fold_chose(tools: Any, clustered: Judge) -> None:
    [(name, folds)] = protocols([clustered.task])
    outcome = held_out([clustered], name, folds, "neutral", tools.weights(bm25_weight=1))
    figures = outcome.figures[clustered.task.name]
    for row, project in enumerate("prs"):
        assert (figures[row] == clustered.figures(outcome.weights[project])[row]).all()
    assert outcome.weights["s"]["temporal_weight"] == 8
    assert figures[2, MRR] == 0.5  # in sample the default of 0 would have found it


def test_no_fold_is_trained_by_what_it_holds_out(clustered: Judge, single: Judge) -> None:
    judges = [clustered, single]
    names = []
    for name, folds in protocols([judged.task for judged in judges]):
        names.append(name)
        for judged in judges:
            task = judged.task.name
            held = [fold.held[task] for fold in folds if task in fold.held]
            assert not held or (np.sum(held, axis=0) == 1).all()
            for fold in folds:
                if task in fold.held:
                    assert not (fold.held[task] & fold.trained[task]).any()
                    assert (fold.held[task] | fold.trained[task]).all()
    assert len(names) == 5
    assert len(set(names)) == 5


@pytest.mark.parametrize(
    ("projects", "protocol", "number"),
    [
        (1, "two folds of questions, split 42", 2),
        (3, "leave one conversation out, mine alone", 3),
        (21, "ten folds of conversations, mine alone", 10),
    ],
)
def test_a_file_is_held_out_by_its_projects(
    tmp_path: Path, projects: int, protocol: str, number: int
) -> None:
    lines = []
    for n in range(42):
        project, turn = f"p{n % projects}", {"speaker": "Ana", "text": f"the {n} of it"}
        lines.append({"id": f"s{n}", "project": project, "turns": [turn]})
        lines.append({"text": f"which {n}?", "project": project, "evidence": [f"s{n}"]})
    (tmp_path / "mine.jsonl").write_text("\n".join(map(json.dumps, lines)))
    [task] = load_tasks("file", tmp_path / "mine.jsonl", {})
    found = dict(protocols([task]))
    assert task.name == "mine session"
    assert len(found) == (3 if projects == 1 else 1)
    assert len(found[protocol]) == number
    held = [fold.held[task.name] for fold in found[protocol]]
    assert (np.sum(held, axis=0) == 1).all()
    for fold in found[protocol]:
        assert (fold.held[task.name] ^ fold.trained[task.name]).all()


def test_a_conversation_left_out_is_left_out_at_every_granularity(tools: Any, clustered: Judge) -> None:
    made = tools.task(
        {"p": [("p0", None)], "r": [("r0", None)]}, [("r", ("r0",)), ("p", ("p0",))], clustered=True
    )
    object.__setattr__(made.corpus, "granularity", "turn")
    turns = tools.judge(made)
    [(_, folds)] = protocols([clustered.task, turns.task])
    without = next(fold for fold in folds if fold.name == "p")
    assert without.trained[clustered.task.name].tolist() == [False, True, True]
    assert without.trained[turns.task.name].tolist() == [True, False]


def test_each_ablation_takes_one_component_away(tools: Any, clustered: Judge) -> None:
    for words in READ.values():
        clustered.values |= {
            f"{words} {name}": clustered.values[shaped(name, tools.weights())] for name in (*WORDS, *COVER)
        }
    default = tools.weights(bm25_weight=1, temporal_weight=8)
    found = dict(ablations(clustered, default))
    assert list(found) == [*OFF, *READ]
    assert found["no temporal"][:, MRR].tolist() == [-0.5, -0.5, 0.5]
    assert not found["no cosine"].any()


def test_weights_are_fitted_to_the_view_of_the_headline_alone(tools: Any, clustered: Judge) -> None:
    """What one conversation needs is not looked at where its questions are of another view."""
    view = View("some", without_key="q0")
    task = replace(clustered.task, view=view)
    assert task.counted.tolist() == [False, True, True]
    [(_, folds)] = protocols([task])
    assert [fold.trained[task.name].tolist() for fold in folds] == [
        [False, True, True], [False, False, True], [False, True, False],
    ]  # fmt: skip
    assert sum(fold.held[task.name].sum() for fold in folds) == 3
    assert task.clusters(task.counted) == ["r", "s"]


@pytest.mark.parametrize(("clustered", "number"), [(False, 1), (True, 3)])
def test_a_sweep_is_confirmed_by_what_the_choice_did_not_see(clustered: bool, number: int) -> None:
    [task] = load_tasks("sample", None, {})
    made = replace(task, corpus=replace(task.corpus, clustered=clustered))
    folds = confirming(made)
    assert len(folds) == number  # one half, or the conversations of the sample
    for fold in folds:
        assert (fold.trained[made.name] ^ fold.held[made.name]).all()
    held = np.sum([fold.held[made.name] for fold in folds], axis=0)
    assert held.sum() == (len(task.questions) if clustered else 18)
    assert held.max() == 1
