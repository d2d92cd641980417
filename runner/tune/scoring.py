"""The score as the extension computes it from components (sql/src/87_candidates.sql, 91_recall_lessons.sql).

In double precision and in the same order of additions, so that ties stay ties.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from runner.editions import current
from runner.metrics import Metric, metrics_for
from runner.metrics.found import NOWHERE, Found
from runner.tune.collecting import Values
from runner.tune.layout import Floats, Layout
from runner.tune.tasks import FIGURES, Task
from runner.tune.weights import BESIDES, RELEVANCE, Weights, short

COSINES = ("passage_cosine", "pair_cosine", "cosine")  # what lies below 0 counts as 0


@dataclass(slots=True)
class Judge:
    """Scores one task under any weights; figures once computed are kept."""

    task: Task
    layout: Layout
    values: Values
    known: dict[tuple[object, ...], Floats] = field(default_factory=dict)
    blocks: list[tuple[slice, Layout]] = field(init=False)

    def __post_init__(self) -> None:
        self.blocks = list(self.layout.blocks())

    def scores(self, weights: Weights, *, plain: bool = False) -> Floats:
        """The score of each lesson, (questions, columns); -inf where there is none."""
        return np.concatenate([self._scores(rows, block, weights, plain) for rows, block in self.blocks])

    def figures(self, weights: Weights, *, plain: bool = False) -> Floats:
        """Every one of FIGURES for each question, (questions, figures)."""
        key = (plain, *sorted(weights.items()))
        if key not in self.known:
            self.known[key] = np.concatenate(
                [_figures(block, self._scores(rows, block, weights, plain)) for rows, block in self.blocks]
            )
        return self.known[key]

    def figures_of(self, scores: Floats) -> Floats:
        """The same for any scores; a lesson of -inf was not answered."""
        return _figures(self.layout, scores)

    def aim(self, weights: Weights, rows: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> float:
        """What the ascent makes as large as it can: the sum of the task's aims over some questions."""
        return float(self.figures(weights)[rows][:, self.task.aims].mean(axis=0).sum())

    def _scores(self, rows: slice, block: Layout, weights: Weights, plain: bool) -> Floats:
        relevance = np.zeros(block.shape)
        for name in RELEVANCE:
            relevance += weights[f"{name}_weight"] * self._component(name, weights, plain)[rows]
        score = relevance + weights["context_weight"] * block.greatest(relevance)
        for name in BESIDES:
            score += weights[f"{name}_weight"] * self._component(name, weights, plain)[rows]
        score[~block.valid] = -np.inf
        return score

    def _component(self, name: str, weights: Weights, plain: bool) -> Floats:
        key = name
        if name == "passage_terms":
            key = f"passage_terms+{short(weights['passage_term_bonus'])}"
        if plain and f"plain {name}" in self.values:
            key = f"plain {name}"  # at the default bonus
        return self.values[key]


def _figures(layout: Layout, scores: Floats) -> Floats:
    ranks = layout.gold_ranks(scores)
    ranks[np.isneginf(scores[layout.gold_rows, layout.gold_columns])] = NOWHERE
    table = np.full((layout.shape[0], int(layout.gold_counts.max())), NOWHERE)
    within = np.arange(len(ranks)) - np.searchsorted(layout.gold_rows, layout.gold_rows)
    table[layout.gold_rows, within] = ranks
    table.sort(axis=1)
    found = Found(table, layout.gold_counts)
    return np.column_stack([metric.formula(found) for metric in _metrics()])


@cache
def _metrics() -> list[Metric]:
    known = metrics_for(current())
    return [known[name] for name in FIGURES]


def prepare(values: Mapping[str, Floats]) -> Values:
    """Components as they enter the score: nothing where a leg is silent, cosines from 0 on."""
    ready = {}
    for name, matrix in values.items():
        if name in ("score", "pool"):
            ready[name] = matrix
            continue
        clean = np.nan_to_num(matrix, nan=0.0)
        ready[name] = np.maximum(clean, 0.0) if name in COSINES else clean
    return ready
