"""Control arms, which every report shows with the system under test: exact cosine, plain BM25, and chance.

They need no database. Ties break as everywhere (PROTOCOL.md §4.5): by the lessons' numbers.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from pgmnemo.progress import QUIET, Progress
from pgmnemo.records import Matrix
from runner.systems.plain_bm25 import PlainBM25
from runner.systems.system import Lessons, Match, Query, System

Places = dict[str | None, NDArray[np.intp]]
NEAR = 1e-5  # above the difference of two float32 sums of the same vectors


class ExactCosine(System):
    """The exact cosine of the question with every vector of the scope: no index, no approximation."""

    def __init__(self) -> None:
        self._places: Places = {}
        self._vectors: Matrix = np.empty((0, 0), dtype=np.float32)

    def description(self) -> str:
        return "exact cosine of the same vectors alone"

    def load(self, lessons: Lessons, progress: Progress = QUIET) -> Mapping[str, float]:
        self._places = _places(lessons)
        self._vectors = np.empty((len(lessons), lessons.width or 0), dtype=np.float32)
        for lesson in lessons:
            self._vectors[lesson.number] = lesson.vector
        return {}

    def ask(self, query: Query, k: int) -> list[Match]:
        assert query.vector is not None, "exact cosine needs vectors"
        members = self._places[query.project]
        near = self._vectors[members] @ query.vector  # float32: sums depend on the row's position
        if k < len(near):
            members = members[near >= np.partition(near, -k)[-k] - NEAR]
        cosines = (self._vectors[members].astype(np.float64) @ query.vector.astype(np.float64)).round(9)
        order = np.argsort(-cosines, kind="stable")[:k]
        return [Match(int(members[place]), float(cosines[place])) for place in order]

    def best(self, vector: Matrix, project: str) -> float:
        """Return the largest cosine of a project's lessons with a question's vector."""
        return float((self._vectors[self._places[project]] @ vector).max())


class RandomOrder(System):
    """A random order that depends on the seed, the question and the scope.

    `drawn_by` returns the text that is joined to the seed: the scope's name and the question's key, which no
    other system gets.
    """

    def __init__(self, seed: int, drawn_by: Callable[[Query], str]) -> None:
        self._seed, self._drawn_by = seed, drawn_by
        self._places: Places = {}

    def description(self) -> str:
        return "a random order, from the seed"

    def load(self, lessons: Lessons, progress: Progress = QUIET) -> Mapping[str, float]:
        self._places = _places(lessons)
        return {}

    def ask(self, query: Query, k: int) -> list[Match]:
        members = self._places[query.project]
        chance = random.Random(f"{self._seed} {self._drawn_by(query)}")
        drawn = chance.sample(range(len(members)), min(k, len(members)))
        return [Match(int(members[place])) for place in drawn]


def _places(lessons: Lessons) -> Places:
    """Return the lesson numbers of each project, and under None those of all lessons, in ascending order."""
    projects = {lesson.number: lesson.project for lesson in lessons}
    groups: dict[str | None, list[int]] = {None: sorted(projects)}
    for number in sorted(projects):
        groups.setdefault(projects[number], []).append(number)
    return {project: np.array(members, dtype=np.intp) for project, members in groups.items()}


COSINE, PLAIN_BM25, RANDOM = CONTROLS = ("cosine", "plain-bm25", "random")


def controls_among(arms: Iterable[str], *, vectors: bool) -> list[str]:
    """Return the edition's arms that are controls, in order; exact cosine is left out without vectors."""
    return [name for name in arms if name in CONTROLS and (vectors or name != COSINE)]


def new_control(name: str, seed: int, drawn_by: Callable[[Query], str]) -> System:
    """Return the control that CONTROLS has under this name."""
    if name == COSINE:
        return ExactCosine()
    return PlainBM25() if name == PLAIN_BM25 else RandomOrder(seed, drawn_by)
