"""Whether the scores computed here are the extension's: nothing else here means anything unless they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from runner.errors import GateError
from runner.tune.layout import Floats
from runner.tune.scoring import Judge
from runner.tune.trials import trial, trials
from runner.tune.weights import Weights

CLOSE = 1e-9  # of the largest score, which lies near 100: rounding, and no more


@dataclass(frozen=True, slots=True)
class Agreement:
    """How many scores were compared, how far the farthest two lie apart, how many lessons rank elsewhere."""

    scores: int
    farthest: float
    displaced: int


def check_agreement(judge: Judge, weights: Weights) -> Agreement:
    """Compare every score and rank at the default with the extension's own; GateError where they differ."""
    return _agreed(judge, judge.scores(weights), judge.values["score"])


def check_trials(judge: Judge, weights: Weights) -> Agreement:
    """The same at every drawing of weights, for the questions that were asked under it."""
    found = [
        _agreed(judge, judge.scores(drawn), judge.values[trial(number)])
        for number, drawn in enumerate(trials(weights))
    ]
    return Agreement(
        sum(one.scores for one in found),
        max(one.farthest for one in found),
        sum(one.displaced for one in found),
    )


def _agreed(judge: Judge, here: Floats, there: Floats) -> Agreement:
    asked = np.isfinite(there).any(axis=1)
    here, there, valid = here[asked], there[asked], judge.layout.valid[asked]
    farthest = float(np.abs(here[valid] - there[valid]).max())
    near = CLOSE * max(1.0, float(np.abs(there[valid]).max()))
    displaced = _displaced(np.where(valid, here, 0), np.where(valid, there, 0), near)
    if farthest > near or displaced:
        raise GateError(
            f"the score of {judge.task.name} computed from its components is not the extension's: up to "
            f"{farthest:.3g} apart, {displaced:,} lessons at another rank; mend runner/tune, or "
            "the extension, before anything is tuned by it"
        )
    return Agreement(int(valid.sum()), farthest, displaced)


def _displaced(here: Floats, there: Floats, near: float) -> int:
    """Ranks at which another lesson stands, unless the extension's scores of the two are as good as equal."""
    one, other = (np.argsort(-scores, axis=1, kind="stable") for scores in (here, there))  # ties by column
    apart = np.take_along_axis(there, one, 1) - np.take_along_axis(there, other, 1)
    return int((np.abs(apart) > near).sum())
