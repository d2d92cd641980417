"""What a reranker is: it is given what a system found for a question, and says in which order it puts it.

A candidate is a lesson with everything that systems are given of it (text, passages, vectors, role,
position, time) and what the system said of it (rank, score, components). So a reranker may read texts, as a
cross-encoder does, or be a small model over scores and vectors that are there already. It sees no id, no
gold, no label.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite

from runner.errors import ModelError
from runner.progress import QUIET, Progress
from runner.records import RerankerIdentity
from runner.systems.system import Lesson, Lessons, Query


class Shelf:
    """The lessons of a run by number, and what stands beside each in its conversation."""

    def __init__(self, lessons: Lessons) -> None:
        self._lessons = lessons
        self._places: dict[int, int] = {}
        self._positions: dict[tuple[str, int], int] = {}
        for place, lesson in enumerate(lessons):
            self._places[lesson.number] = place
            if lesson.position is not None:
                self._positions[lesson.project, lesson.position] = place

    def lesson(self, number: int) -> Lesson:
        """The lesson of that number; KeyError where there is none."""
        return self._lessons[self._places[number]]

    def beside(self, lesson: Lesson, steps: int) -> Lesson | None:
        """The lesson so many steps later (negative: earlier) in the same session; None where none follows.

        Sessions are apart by a gap in the positions, which no step crosses.
        """
        if lesson.position is None:
            return None
        way = 1 if steps > 0 else -1
        places = [
            self._positions.get((lesson.project, lesson.position + way * step))
            for step in range(1, abs(steps) + 1)
        ]
        return None if None in places or not places else self._lessons[places[-1] or 0]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One lesson that a system found. `rank` from 1; score and components as the system gave them."""

    lesson: Lesson
    rank: int
    score: float | None = None
    components: tuple[float | None, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """What is read of it: its passages, or its text where it has none."""
        return self.lesson.passages or (self.lesson.text,)


@dataclass(frozen=True, slots=True)
class Pool:
    """What a system found for a question, best first. `components` names those of the candidates' scores."""

    query: Query
    candidates: tuple[Candidate, ...]
    shelf: Shelf
    components: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reordered:
    """The new order, as places of the pool's candidates, best first; whoever is left out follows as before.

    `scores` of those in the order, falling; empty where a reranker gives none. `calls` of a model or service
    were made for it, `pairs` of question and text were judged anew, `cached` read from the cache.
    """

    order: tuple[int, ...]
    scores: tuple[float, ...] = ()
    calls: int = 0
    pairs: int = 0
    cached: int = 0


class Reranker(ABC):
    """`identity` is known once it is made. `rerank` may be called by several threads at once."""

    identity: RerankerIdentity

    def to_download(self) -> int:
        """Bytes that `load` fetches first; ModelError where that cannot be known."""
        return 0

    def load(self, progress: Progress = QUIET) -> None:  # noqa: B027
        """Bring the model into memory, or ask the service once; ModelError where it cannot be had."""

    @abstractmethod
    def rerank(self, pool: Pool) -> Reordered:
        """The candidates of a pool in a new order. ModelError where that failed, which is counted."""

    def without_cache(self) -> Reranker:
        """The same, but every answer made anew: what is timed must not come from a file."""
        return self

    def close(self) -> None:  # noqa: B027
        """Give everything back."""


def checked(reordered: Reordered, pool: Pool) -> Reordered:
    """As it is; ModelError where it is no order of the pool's candidates."""
    places, scores = reordered.order, reordered.scores
    if len(set(places)) < len(places) or not set(places) <= set(range(len(pool.candidates))):
        raise ModelError(
            f"the reranker answered places that are no order of {len(pool.candidates)} candidates"
        )
    if scores and (len(scores) != len(places) or not falling(scores)):
        raise ModelError("the reranker answered scores that do not fall with its order")
    return reordered


def falling(scores: Sequence[float]) -> bool:
    """Whether each is a number, and none above the one before it."""
    return all(map(isfinite, scores)) and all(one >= other for one, other in pairwise(scores))


def by_score(scores: Sequence[float]) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Places by falling score and the scores in that order; equals as they were."""
    order = sorted(range(len(scores)), key=lambda place: (-scores[place], place))
    return tuple(order), tuple(scores[place] for place in order)
