"""The folds of a sweep: by which questions a point is chosen, and which then judge it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from runner.tune.tasks import Task

SEED = 42

Rows = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Fold:
    """`tuned`: the questions that a point is chosen by; `held`: those that then judge it."""

    name: str
    tuned: Rows
    held: Rows


def folds(task: Task) -> list[Fold]:
    """Where questions stand in clusters, one cluster is held out at a time; else one half, once."""
    counted = task.counted
    if not task.corpus.clustered:
        chosen = np.random.default_rng(SEED).permutation(len(counted)) < len(counted) // 2
        return [Fold("the other half", counted & chosen, counted & ~chosen)]
    projects = np.array([question.project for _, question in task.questions])
    names: Sequence[str] = sorted(set(projects.tolist()))
    return [Fold(name, counted & (projects != name), counted & (projects == name)) for name in names]
