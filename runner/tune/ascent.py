"""Coordinate ascent: one weight after the other is set to the value of its grid that serves best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from runner.tune.scoring import Judge
from runner.tune.weights import GRID, Weights

ROUNDS = 2  # a third moved no weight on LoCoMo or LongMemEval
BETTER = 1e-9
Rows = NDArray[np.bool_]


def climb(judges: Sequence[Judge], rows: Mapping[str, Rows], start: Weights) -> dict[str, float]:
    """The weights that `start` is led to by the questions in `rows` (by task name), and by no others.

    Of equal values the one first met stays, so the outcome is the same on every machine.
    """
    best, height = dict(start), _height(judges, rows, start)
    for _ in range(ROUNDS):
        before = height
        for name, values in GRID.items():
            for value in values:
                tried = {**best, name: value}
                reached = _height(judges, rows, tried)
                if reached > height + BETTER:
                    best, height = tried, reached
        if height == before:
            break
    return best


def _height(judges: Sequence[Judge], rows: Mapping[str, Rows], weights: Weights) -> float:
    return sum(judge.aim(weights, rows[judge.task.name]) for judge in judges if judge.task.name in rows)
