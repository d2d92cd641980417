"""Figures of a task in the system's own order and in that of weights, and what lies between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from runner.editions import current
from runner.metrics import metrics_for
from runner.metrics.found import locate, tabulate
from runner.rerankers.linear.features import Floats
from runner.rerankers.reranker import by_score
from runner.statistics.interval import Interval
from runner.statistics.paired_score import score_interval
from runner.statistics.single import mean_interval
from runner.train.pools import Pooled

FIGURES = ("recall_any@5", "recall_any@10", "MRR@50")


@dataclass(frozen=True, slots=True)
class Judged:
    """Mean and 95 % interval of each of FIGURES: the system's order, the reranked one, reranked less own."""

    task: str
    n: int
    own: dict[str, tuple[float, float, float]]
    reranked: dict[str, tuple[float, float, float]]
    difference: dict[str, tuple[float, float, float]]


def judged(pooled: Pooled, scores: Sequence[Floats]) -> Judged:
    """The questions that count, each reranked by its own row of scores."""
    places = pooled.counted
    own = _values(pooled, places, [range(len(pooled.found[at])) for at in places])
    new = _values(pooled, places, [by_score([float(one) for one in scores[at]])[0] for at in places])
    questions = [pooled.task.questions[at][1] for at in places]
    clusters = [one.project for one in questions] if pooled.task.corpus.clustered else None
    return Judged(
        pooled.task.name,
        len(places),
        _told(mean_interval(own, clusters)),
        _told(mean_interval(new, clusters)),
        _told(score_interval(new - own, clusters)),
    )


def _values(pooled: Pooled, places: Sequence[int], orders: Sequence[Sequence[int]]) -> Floats:
    """(questions, FIGURES) of the candidates in the orders given."""
    known = metrics_for(current())
    found = tabulate(
        (locate(gold, [pooled.found[at][place] for place in order]), len(gold))
        for at, order in zip(places, orders, strict=True)
        for gold in [pooled.task.questions[at][1].gold]
    )
    return np.column_stack([known[name].formula(found) for name in FIGURES])


def _told(interval: Interval) -> dict[str, tuple[float, float, float]]:
    columns = zip(interval.value, interval.low, interval.high, strict=True)
    return {
        name: (round(float(mean), 4), round(float(low), 4), round(float(high), 4))
        for name, (mean, low, high) in zip(FIGURES, columns, strict=True)
    }
