"""The score under any weights, computed from what each component adds according to the extension.

Collected from the extension (components.py): what each component adds for one unit of its weight; the share
of an assistant; the moment of a lesson; the neighbours from which relevance reaches it, and the factors.
Computed here: words count by the part of the question that they cover, the score is linear in the other
weights, context is the greatest relevance of the moment, and neighbours' relevance adds up. `check_agreement`
compares the result with the extension's own scores and ranks, at the default and at random weights.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Self

import numpy as np

from lab.tune.tasks import Floats, Layout, Places, Rows, Task
from lab.tune.weights import BESIDES, BREVITY, COVER, RELEVANCE, WORDS, Weights, shaped, trials
from runner.errors import GateError
from runner.records import Json

CLOSE = 1e-9  # relative to the largest score, which is near 100: only rounding


@dataclass(frozen=True)
class Neighbours:
    """The neighbours of lessons, by project (projects, columns), or after `of` by question (questions,
    columns).

    `share`: the part of a lesson's relevance that stays at an assistant_weight of 0. `asking`: the part that
    counts for a lesson that only asks. `moment`: a number that lessons of one moment share. `source` and
    `factor`, (projects, columns, most): the columns from which relevance reaches a lesson as a neighbour, and
    the part of it that does; a factor of 0 is padding.
    """

    share: Floats
    asking: Floats
    moment: Places
    source: Places
    factor: Floats

    @classmethod
    def alone(cls, rows: int, columns: int, most: int = 1) -> Neighbours:
        """Return a record in which lessons have no neighbours and no lesson is said by an assistant."""
        places = np.broadcast_to(np.arange(columns), (rows, columns)).copy()
        source = np.repeat(places[:, :, None], most, 2)
        return cls(np.ones((rows, columns)), np.ones((rows, columns)), places, source, np.zeros(source.shape))

    @classmethod
    def kept(cls, arrays: Mapping[str, Any]) -> Neighbours:
        """Return the neighbours from the arrays `company share` and so on."""
        return cls(*(arrays[f"company {one.name}"] for one in fields(cls)))

    def of(self, projects: Places) -> Neighbours:
        """Return the neighbours by question; `projects` is the index of each question's project."""
        return Neighbours(*(getattr(self, one.name)[projects] for one in fields(self)))

    @cached_property
    def _groups(self) -> tuple[Places, Places, Places]:
        """The order of the flattened array by row and moment, the start of each such group, and its
        length.
        """
        rows, columns = self.moment.shape
        flat = (self.moment + np.arange(rows)[:, None] * columns).ravel()
        order = np.argsort(flat, kind="stable")
        starts = np.flatnonzero(np.r_[True, np.diff(flat[order]) != 0])
        return order, starts, np.diff(np.r_[starts, flat.size])

    @cached_property
    def _flat(self) -> list[tuple[Places, Floats]]:
        """For each possible neighbour of a lesson: its index in the flattened array, and its factor."""
        rows, columns = self.moment.shape
        starts = np.arange(rows)[:, None] * columns
        return [
            (self.source[:, :, one] + starts, np.ascontiguousarray(self.factor[:, :, one]))
            for one in range(self.source.shape[2])
            if self.factor[:, :, one].any()
        ]

    def greatest(self, relevance: Floats) -> Floats:
        """Return the greatest relevance in each lesson's moment, including its own, (questions, columns)."""
        order, starts, lengths = self._groups
        best = np.repeat(np.maximum.reduceat(relevance.ravel()[order], starts), lengths)
        spread = np.empty_like(best)
        spread[order] = best
        return spread.reshape(relevance.shape)

    def reaching(self, relevance: Floats) -> Floats:
        """Return the relevance that reaches each lesson from its neighbours, (questions, columns)."""
        total = np.zeros(relevance.shape)
        for places, factor in self._flat:
            total += factor * relevance.ravel()[places]
        return total

    def counted(self, weight: float) -> Floats:
        """Return the factor that each lesson's relevance is multiplied by at this assistant_weight."""
        if (self.share == 1).all():
            return self.asking
        return self.asking * (self.share + weight * (1 - self.share))


@dataclass(slots=True)
class TaskScorer:
    """A scorer of one task under any weights, with a cache of figures.

    `words` of its methods names a variant of the word components, such as `plain`. By default the pivot and
    the bonus in the weights decide on the variant.
    """

    task: Task
    values: Mapping[str, Floats]
    company: Neighbours
    known: dict[tuple[object, ...], Floats] = field(default_factory=dict)
    blocks: list[tuple[slice, Layout, Neighbours]] = field(init=False)

    def __post_init__(self) -> None:
        self.blocks = [(rows, one, self.company.of(one.places)) for rows, one in self.task.layout.blocks()]

    @classmethod
    def of(cls, task: Task, arrays: Mapping[str, Any]) -> Self:
        """Return a scorer of `task` from the arrays that `components` collected."""
        return cls(task, arrays, Neighbours.kept(arrays))

    def scores(self, weights: Weights, *, words: str = "") -> Floats:
        """Return the score of each lesson, (questions, columns); -inf for an empty column."""
        return np.concatenate([self._scores(*block, weights, words) for block in self.blocks])

    def figures(self, weights: Weights, *, words: str = "") -> Floats:
        """Return all FIGURES for each question, (questions, figures)."""
        key = (words, *sorted(weights.items()))
        if key not in self.known:
            self.known[key] = np.concatenate(
                [block[1].figures(self._scores(*block, weights, words)) for block in self.blocks]
            )
        return self.known[key]

    def aim(self, weights: Weights, rows: Rows) -> float:
        """Return the value that coordinate ascent maximises.

        It is the sum of the task's figures `aims`, each averaged over the questions in `rows`.
        """
        return float(self.figures(weights)[rows][:, self.task.aims].mean(axis=0).sum())

    def _scores(
        self, rows: slice, block: Layout, company: Neighbours, weights: Weights, words: str
    ) -> Floats:
        relevance = self._words(rows, weights, words)
        for name in RELEVANCE[len(WORDS) :]:
            relevance += weights[f"{name}_weight"] * self._added(name, weights, words)[rows]
        relevance *= company.counted(weights["assistant_weight"])
        score = relevance + weights["context_weight"] * company.greatest(relevance)
        if weights["neighbours_weight"]:
            score += weights["neighbours_weight"] * company.reaching(relevance)
        for name in BESIDES:
            score += weights[f"{name}_weight"] * self._added(name, weights, words)[rows]
        score[~block.valid] = -np.inf
        return score

    def _words(self, rows: slice, weights: Weights, words: str) -> Floats:
        """Return the contribution of the question's words to each lesson's score.

        It is scaled down if the lesson covers only a part of the question's words.
        """
        value, reach = (
            sum(weights[f"{name}_weight"] * self._added(name + end, weights, words)[rows] for name in WORDS)
            for end in ("", "_reach")
        )
        enough = weights["full_coverage"] * reach
        coverage = np.divide(value, enough, out=np.ones_like(value), where=value < enough)
        brevity = self._added(BREVITY, weights, words)[rows] ** weights.get(BREVITY, 1)
        return np.asarray(value * coverage * brevity)

    def _added(self, name: str, weights: Weights, words: str) -> Floats:
        """Return what one unit of a component's weight adds to the score.

        For COVER the value of each question, (questions, 1).
        """
        other = words and name in (*WORDS, *COVER)
        return self.values[f"{words} {name}" if other else shaped(name, weights)]


def check_agreement(judge: TaskScorer, default: Weights) -> Json:
    """Compare every score and rank at the default weights and at random weights with the extension's own.

    Returns the number of compared scores, the largest difference, and the number of lessons at another rank.
    Raises GateError unless they agree, because every other result depends on it.
    """
    drawn = [_agreed(judge, weights, name) for name, weights in trials(default).items()]
    scores, farthest, displaced = zip(*drawn, strict=True)
    names = ("scores", "farthest", "displaced")
    return {
        "task": judge.task.name,
        **dict(zip(names, _agreed(judge, default, "score"), strict=True)),
        "at random weights": dict(zip(names, (sum(scores), max(farthest), sum(displaced)), strict=True)),
    }


def _agreed(judge: TaskScorer, weights: Weights, name: str) -> tuple[int, float, int]:
    there = judge.values[name]
    asked = np.isfinite(there).any(axis=1)
    valid = judge.task.layout.valid[asked]
    here, there = (np.where(valid, scores[asked], 0) for scores in (judge.scores(weights), there))
    farthest = float(np.abs(here - there).max())
    near = CLOSE * max(1.0, float(np.abs(there).max()))
    displaced = _displaced(here, there, near)
    if farthest > near or displaced:
        raise GateError(
            f"the score of {judge.task.name} computed from its components is not the extension's: up to "
            f"{farthest:.3g} apart, {displaced:,} lessons at another rank; mend lab/tune, or "
            "the extension, before anything is tuned by it"
        )
    return int(valid.sum()), farthest, displaced


def _displaced(here: Floats, there: Floats, near: float) -> int:
    """Return the number of ranks that hold another lesson, unless the two scores differ by at most `near`."""
    one, other = (np.argsort(-scores, axis=1, kind="stable") for scores in (here, there))  # ties by column
    apart = np.take_along_axis(there, one, 1) - np.take_along_axis(there, other, 1)
    return int((np.abs(apart) > near).sum())
