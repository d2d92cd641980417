"""Whether the scores computed here are the extension's: nothing else here means anything unless they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from runner.errors import GateError
from runner.tune.scoring import Judge
from runner.tune.weights import Weights

CLOSE = 1e-9  # of the largest score, which lies near 100: rounding, and no more


@dataclass(frozen=True, slots=True)
class Agreement:
    """How many scores were compared, how far the farthest two lie apart, how many lessons rank elsewhere."""

    scores: int
    farthest: float
    displaced: int


def check_agreement(judge: Judge, weights: Weights) -> Agreement:
    """Compare every score and every rank with the extension's own; GateError where they are not the same."""
    here, there, valid = judge.scores(weights), judge.values["score"], judge.layout.valid
    one, other = (np.argsort(-scores, axis=1, kind="stable") for scores in (here, there))  # ties by column
    farthest = float(np.abs(here[valid] - there[valid]).max())
    displaced = int((one != other).sum())
    if farthest > CLOSE * max(1.0, float(np.abs(there[valid]).max())) or displaced:
        raise GateError(
            f"the score of {judge.task.name} computed from its components is not the extension's: up to "
            f"{farthest:.3g} apart, {displaced:,} lessons at another rank; mend runner/tune/scoring.py, or "
            "the extension, before anything is tuned by it"
        )
    return Agreement(int(valid.sum()), farthest, displaced)
