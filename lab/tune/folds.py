"""The split of questions into those that choose weights and those that judge them.

If questions form clusters (LoCoMo's conversations, BEAM's chats, the projects of a file), one cluster is held
out at a time, or a tenth of many, at every granularity at once. If they are independent (LongMemEval, a file
of one project), one half of the questions is held out, over several splits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lab.tune.scoring import TaskScorer
from lab.tune.tasks import Floats, Rows, Task
from lab.tune.weights import GRID, Weights

ROUNDS = 2  # a third round changed no weight on LoCoMo or LongMemEval
BETTER = 1e-9
MANY, TENTHS = 20, 10  # maximum clusters that are held out one at a time; number of folds for more clusters
SPLITS = (42, 43, 44)  # seeds
HALVES = ("first half", "second half")


@dataclass(frozen=True, slots=True)
class Fold:
    """The held-out and the training questions by task name; a task in neither is not used."""

    name: str
    held: Mapping[str, Rows]
    trained: Mapping[str, Rows]


@dataclass(frozen=True, slots=True)
class FoldResult:
    """The figures (questions, figures) of each task, with every question scored by its fold's weights."""

    protocol: str
    start: str
    weights: Mapping[str, dict[str, float]]  # fold → weights
    figures: Mapping[str, Floats]


def climb(judges: Sequence[TaskScorer], rows: Mapping[str, Rows], start: Weights) -> dict[str, float]:
    """Return the weights that coordinate ascent finds from `start` with the questions in `rows`.

    One weight after the other is set to the best value of its grid. Of equal values the first one stays, so
    the outcome is the same on every machine.
    """

    def height(weights: Weights) -> float:
        return sum(judge.aim(weights, rows[judge.task.name]) for judge in judges if judge.task.name in rows)

    best, highest = dict(start), height(start)
    for _ in range(ROUNDS):
        before = highest
        for name, values in GRID.items():
            for value in values:
                tried = {**best, name: value}
                if (reached := height(tried)) > highest + BETTER:
                    best, highest = tried, reached
        if highest == before:
            break
    return best


def protocols(tasks: Sequence[Task]) -> Iterator[tuple[str, list[Fold]]]:
    """Yield every protocol of held-out questions: its name and its folds."""
    clustered = [task for task in tasks if task.corpus.clustered]
    single = [task for task in tasks if not task.corpus.clustered]
    families = dict.fromkeys(task.family for task in clustered)
    if clustered and (single or len(families) > 1):
        yield _named(clustered, single, "the others beside")
    for family in families:
        yield _named([task for task in clustered if task.family == family], [], f"{family} alone")
    for seed in SPLITS if single else ():
        yield f"two folds of questions, split {seed}", _halves(clustered, single, seed)


def _named(clustered: Sequence[Task], beside: Sequence[Task], words: str) -> tuple[str, list[Fold]]:
    names = _clusters(clustered)
    if len(names) <= MANY:
        return f"leave one conversation out, {words}", _leave_out([[one] for one in names], clustered, beside)
    tenths = [names[start::TENTHS] for start in range(TENTHS)]
    return f"ten folds of conversations, {words}", _leave_out(tenths, clustered, beside)


def confirming(task: Task) -> list[Fold]:
    """Return the folds that confirm a sweep: one per cluster, or two halves if questions are independent."""
    if not task.corpus.clustered:
        return _halves([], [task], SPLITS[0])[1:]
    return _leave_out([[name] for name in _clusters([task])], [task], [])


def held_out(
    judges: Sequence[TaskScorer], name: str, folds: list[Fold], start: str, weights: Weights
) -> FoldResult:
    """Run one ascent per fold from `weights`, and score each held-out question by its fold's weights."""
    judged = [judge for judge in judges if judge.task.name in folds[0].held]
    figures = {judge.task.name: np.full(judge.figures(weights).shape, np.nan) for judge in judged}
    chosen = {}
    for fold in folds:
        chosen[fold.name] = climb(judges, fold.trained, weights)
        for judge in judged:
            held = fold.held[judge.task.name]
            figures[judge.task.name][held] = judge.figures(chosen[fold.name])[held]
    return FoldResult(name, start, chosen, figures)


def _clusters(tasks: Sequence[Task]) -> list[str]:
    return sorted({name for task in tasks for name in task.projects})


def _leave_out(groups: list[list[str]], clustered: Sequence[Task], beside: Sequence[Task]) -> list[Fold]:
    projects = {task.name: np.array(task.projects) for task in clustered}
    counted = {task.name: task.counted for task in (*clustered, *beside)}
    folds = []
    for group in groups:
        held = {task: np.isin(listed, group) for task, listed in projects.items()}
        trained = {task: ~rows & counted[task] for task, rows in held.items()}
        folds.append(Fold(", ".join(group), held, {**counted, **trained}))
    return folds


def _halves(clustered: Sequence[Task], single: Sequence[Task], seed: int) -> list[Fold]:
    """Return two folds that each hold out one half, and train on the other half and on `clustered`."""
    whole = {task.name: task.counted for task in clustered}
    halves = {task.name: _half(len(task.questions), seed) for task in single}
    first = {task.name: halves[task.name] & task.counted for task in single}
    second = {task.name: ~halves[task.name] & task.counted for task in single}
    return [Fold(HALVES[0], first, {**whole, **second}), Fold(HALVES[1], second, {**whole, **first})]


def _half(number: int, seed: int) -> Rows:
    """Return a mask of a random half of the questions, rounded down."""
    return np.asarray(np.random.default_rng(seed).permutation(number) < number // 2)
