"""Which questions weights are chosen by, and which others then judge them.

Where questions stand in clusters (LoCoMo's conversations, BEAM's chats) one cluster is held out at a time, at
every granularity at once. Where each stands alone (LongMemEval) one half is held out, over several splits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from runner.tune.ascent import Rows, climb
from runner.tune.layout import Floats
from runner.tune.scoring import Judge
from runner.tune.weights import Weights

SPLITS = (42, 43, 44)  # seeds
HALVES = ("first half", "second half")


@dataclass(frozen=True, slots=True)
class Fold:
    """`held` and `trained`: questions by task name; a task that is in neither plays no part."""

    name: str
    held: Mapping[str, Rows]
    trained: Mapping[str, Rows]


@dataclass(frozen=True, slots=True)
class Outcome:
    """`figures` (questions, figures) by task, each question under the weights of the fold without it."""

    protocol: str
    start: str
    weights: Mapping[str, dict[str, float]]  # by fold
    figures: Mapping[str, Floats]


def protocols(judges: Sequence[Judge]) -> Iterator[tuple[str, list[Fold]]]:
    """Every way to hold out, by its name."""
    clustered = [judge for judge in judges if judge.task.corpus.clustered]
    single = [judge for judge in judges if not judge.task.corpus.clustered]
    suites = dict.fromkeys(judge.task.corpus.suite for judge in clustered)
    if clustered and (single or len(suites) > 1):
        yield "leave one conversation out, the others beside", _leave_one_out(clustered, single)
    for suite in suites:
        alone = [judge for judge in clustered if judge.task.corpus.suite == suite]
        yield f"leave one conversation out, {suite} alone", _leave_one_out(alone, [])
    for seed in SPLITS if single else ():
        yield f"two folds, split {seed}", _halves(clustered, single, seed)


def held_out(judges: Sequence[Judge], name: str, folds: list[Fold], start: str, weights: Weights) -> Outcome:
    """Climb once a fold from `weights`, and judge each held question by what its fold chose."""
    figures = {
        judge.task.name: np.full(judge.figures(weights).shape, np.nan)
        for judge in judges
        if judge.task.name in folds[0].held
    }
    chosen = {}
    for fold in folds:
        chosen[fold.name] = climb(judges, fold.trained, weights)
        for judge in judges:
            held = fold.held.get(judge.task.name)
            if held is not None:
                figures[judge.task.name][held] = judge.figures(chosen[fold.name])[held]
    return Outcome(name, start, chosen, figures)


def everything(judge: Judge) -> Rows:
    """All questions of a task that count."""
    return judge.task.counted


def _leave_one_out(clustered: list[Judge], beside: list[Judge]) -> list[Fold]:
    projects = {j.task.name: np.array([q.project for _, q in j.task.questions]) for j in clustered}
    counted = {judge.task.name: everything(judge) for judge in clustered}
    names = sorted({str(name) for listed in projects.values() for name in listed})
    whole = {judge.task.name: everything(judge) for judge in beside}
    return [
        Fold(
            name,
            {task: listed == name for task, listed in projects.items()},
            {**{task: (listed != name) & counted[task] for task, listed in projects.items()}, **whole},
        )
        for name in names
    ]


def _halves(clustered: list[Judge], single: list[Judge], seed: int) -> list[Fold]:
    whole = {judge.task.name: everything(judge) for judge in clustered}
    counted = {judge.task.name: everything(judge) for judge in single}
    halves = {judge.task.name: _half(judge, seed) & everything(judge) for judge in single}
    return [
        Fold(name, held, {**whole, **{task: ~rows & counted[task] for task, rows in held.items()}})
        for name, held in (
            (HALVES[0], halves),
            (HALVES[1], {task: ~rows & counted[task] for task, rows in halves.items()}),
        )
    ]


def _half(judge: Judge, seed: int) -> Rows:
    """A random half of the questions, rounded down."""
    number = judge.layout.shape[0]
    return np.asarray(np.random.default_rng(seed).permutation(number) < number // 2)
