"""Control arms that need no database: exact cosine over the same vectors, and chance.

Ties break as everywhere (PROTOCOL.md §4): by external id in C order.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from runner.records import Hit, SearchScope, Segment
from runner.systems.system import Answer, Asked, Inputs


class ExactCosine:
    """Every vector of the scope compared with the question's: no index, no approximation."""

    name = "cosine"
    words = "exact cosine of the same vectors alone"
    detailed = False

    def __init__(self, inputs: Inputs) -> None:
        if inputs.vectors is None:
            raise ValueError("exact cosine needs vectors")
        self._inputs, self._vectors = inputs, inputs.vectors
        self._places = _places(inputs.corpus.segments)

    def answers(self, asked: Sequence[Asked], scope: SearchScope) -> Iterator[Answer]:
        for one in asked:
            members = self._places[None if scope.pooled else one.question.project]
            cosines = self._vectors.segments[members] @ self._vectors.questions[one.position]
            order = np.argsort(-cosines.round(9), kind="stable")[: self._inputs.depth]
            segments = (self._inputs.corpus.segments[place] for place in members[order])
            yield Answer(tuple(Hit(segment.id) for segment in segments), 0.0)


class RandomOrder:
    """A shuffle that the seed, the question and the scope decide."""

    name = "random"
    words = "a random order, from the seed"
    detailed = False

    def __init__(self, inputs: Inputs) -> None:
        self._inputs = inputs
        self._places = _places(inputs.corpus.segments)

    def answers(self, asked: Sequence[Asked], scope: SearchScope) -> Iterator[Answer]:
        for one in asked:
            members = self._places[None if scope.pooled else one.question.project]
            chance = random.Random(f"{self._inputs.seed} {scope.name} {one.question.key}")
            drawn = chance.sample(range(len(members)), min(self._inputs.depth, len(members)))
            segments = (self._inputs.corpus.segments[members[place]] for place in drawn)
            yield Answer(tuple(Hit(segment.id) for segment in segments), 0.0)


def _places(segments: Sequence[Segment]) -> dict[str | None, NDArray[np.intp]]:
    """Positions of the segments of each project, and under None of all, in tie order."""
    ordered = sorted(range(len(segments)), key=lambda i: (segments[i].external_id, segments[i].project))
    groups: dict[str | None, list[int]] = {None: ordered}
    for place in ordered:
        groups.setdefault(segments[place].project, []).append(place)
    return {project: np.array(members, dtype=np.intp) for project, members in groups.items()}
