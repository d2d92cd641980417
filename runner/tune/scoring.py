"""The score under any weights: weighted sums of what the extension says that each component adds.

Asked of the extension (runner/tune/worth.py): what each component adds for one unit of its weight; what an
assistant's share takes; in whose moment a lesson stands; from which neighbours relevance reaches it, and what
part. Derived here: that the score is linear in the weights, that context is the greatest relevance of the
moment, and that what neighbours give adds up. `check_agreement` holds all of it against the extension's own
scores and ranks, at the default and at weights drawn at random.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from runner.editions import current
from runner.metrics import Metric, metrics_for
from runner.metrics.found import NOWHERE, Found
from runner.tune.company import Company
from runner.tune.layout import Floats, Layout
from runner.tune.tasks import FIGURES, Task
from runner.tune.weights import BESIDES, RELEVANCE, WORDS, Weights, shaped

Values = dict[str, Floats]


@dataclass(slots=True)
class Judge:
    """Scores one task under any weights; figures once computed are kept.

    `words` names another reading of the question's words, such as `plain`; empty: that of the weights.
    """

    task: Task
    layout: Layout
    values: Mapping[str, Floats]
    company: Company
    known: dict[tuple[object, ...], Floats] = field(default_factory=dict)
    blocks: list[tuple[slice, Layout, Company]] = field(init=False)

    def __post_init__(self) -> None:
        self.blocks = [(rows, block, self.company.of(block.places)) for rows, block in self.layout.blocks()]

    def scores(self, weights: Weights, *, words: str = "") -> Floats:
        """The score of each lesson, (questions, columns); -inf where there is none."""
        return np.concatenate([self._scores(*block, weights, words) for block in self.blocks])

    def figures(self, weights: Weights, *, words: str = "") -> Floats:
        """Every one of FIGURES for each question, (questions, figures)."""
        key = (words, *sorted(weights.items()))
        if key not in self.known:
            self.known[key] = np.concatenate(
                [figures_of(block[1], self._scores(*block, weights, words)) for block in self.blocks]
            )
        return self.known[key]

    def figures_of(self, scores: Floats) -> Floats:
        """The same for any scores; a lesson of -inf was not answered."""
        return figures_of(self.layout, scores)

    def aim(self, weights: Weights, rows: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> float:
        """What the ascent makes as large as it can: the sum of the task's aims over some questions."""
        return float(self.figures(weights)[rows][:, self.task.aims].mean(axis=0).sum())

    def _scores(self, rows: slice, block: Layout, company: Company, weights: Weights, words: str) -> Floats:
        relevance = np.zeros(block.shape)
        for name in RELEVANCE:
            relevance += weights[f"{name}_weight"] * self._added(name, weights, words)[rows]
        relevance *= company.counted(weights["assistant_weight"])
        score = relevance + weights["context_weight"] * company.greatest(relevance)
        if weights["neighbours_weight"]:
            score += weights["neighbours_weight"] * company.reaching(relevance)
        for name in BESIDES:
            score += weights[f"{name}_weight"] * self._added(name, weights, words)[rows]
        score[~block.valid] = -np.inf
        return score

    def _added(self, name: str, weights: Weights, words: str) -> Floats:
        """What one unit of a component's weight adds."""
        return self.values[f"{words} {name}" if words and name in WORDS else shaped(name, weights)]


def figures_of(layout: Layout, scores: Floats, names: tuple[str, ...] = FIGURES) -> Floats:
    """Every named figure of each question, (questions, figures); a lesson of -inf was not answered."""
    ranks = layout.gold_ranks(scores)
    ranks[np.isneginf(scores[layout.gold_rows, layout.gold_columns])] = NOWHERE
    table = np.full((layout.shape[0], int(layout.gold_counts.max())), NOWHERE)
    within = np.arange(len(ranks)) - np.searchsorted(layout.gold_rows, layout.gold_rows)
    table[layout.gold_rows, within] = ranks
    table.sort(axis=1)
    found = Found(table, layout.gold_counts)
    return np.column_stack([metric.formula(found) for metric in _metrics(names)])


@cache
def _metrics(names: tuple[str, ...]) -> list[Metric]:
    known = metrics_for(current())
    return [known[name] for name in names]
