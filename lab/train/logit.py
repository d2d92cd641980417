"""A fit of weights that rank the gold of a question above its other candidates: conditional logit.

The candidates of each question get the probabilities softmax(features · weights). The fit maximises the mean
log-probability of the gold, minus a penalty on the squares of the weights. That is convex (McFadden 1974), so
Newton's method ends at the one optimum, whatever the order of the questions.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from runner.stages.rerankers.linear.features import Floats

PENALTY = 1.0  # factor of half the sum of squares, in units of one question
STEPS, HALVINGS, ENOUGH = 50, 40, 1e-12  # ENOUGH: the fit ends below this relative gain


def fit(features: Sequence[Floats], marks: Sequence[Floats], penalty: float = PENALTY) -> Floats:
    """Return the weights (features,) fitted to each question's matrix (candidates, features) and marks, 1 for
    gold.

    Questions without gold among their candidates have no effect and are skipped.
    """
    taught = [at for at, mark in enumerate(marks) if mark.any()]
    rows = np.concatenate([features[at] for at in taught])
    target = np.concatenate([marks[at] / marks[at].sum() for at in taught])
    counts = np.array([len(marks[at]) for at in taught])
    starts = np.concatenate(([0], np.cumsum(counts)[:-1]))
    question = np.repeat(np.arange(len(counts)), counts)

    def loss(weights: Floats) -> tuple[float, Floats]:
        scores = rows @ weights
        best = np.maximum.reduceat(scores, starts)
        grown = np.exp(scores - best[question])
        whole = np.add.reduceat(grown, starts)
        value = float((np.log(whole) + best).sum() - target @ scores + penalty / 2 * weights @ weights)
        return value, grown / whole[question]

    weights = np.zeros(rows.shape[1])
    value, chances = loss(weights)
    for _ in range(STEPS):
        gradient = rows.T @ (chances - target) + penalty * weights
        means = np.add.reduceat(chances[:, None] * rows, starts)
        curvature = rows.T @ (chances[:, None] * rows) - means.T @ means + penalty * np.eye(len(weights))
        step = np.linalg.solve(curvature, gradient)
        size, (lower, new) = 1.0, loss(weights - step)
        for _ in range(HALVINGS):
            if lower <= value:
                break
            size /= 2
            lower, new = loss(weights - size * step)
        weights = weights - size * step
        if value - lower <= ENOUGH * abs(value):
            break
        value, chances = lower, new
    return np.asarray(weights)
