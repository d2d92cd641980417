"""Rerankers: what a system found, in another order. What one is, how it is set, and one line for each.

A candidate is a lesson with everything that systems are given of it (text, passages, vectors, role,
position, time) and what the system said of it (rank, score, components). So a reranker may read texts, as a
cross-encoder does, or be a small model over scores and vectors that are there already. It sees no id, no
gold, no label.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite
from pathlib import Path
from typing import Any

from pgmnemo.errors import ModelError, UsageError
from pgmnemo.models import check_numbers
from pgmnemo.models.http import TIMEOUT
from pgmnemo.models.store import cache_dir
from pgmnemo.progress import QUIET, Progress
from pgmnemo.registry import Parts
from runner.records import RerankerIdentity
from runner.systems.system import Lesson, Lessons, Query

CHARACTERS = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankOptions:
    """Settings of one reranker. UsageError for a number that makes no sense.

    Args:
        rerank_model: of the reranker: a local folder or ORG/NAME[@REVISION] of the hub; the name of a service
        rerank_url: of the rerankers endpoint (…/rerank) and llm-… (OpenAI-compatible)
        rerank_depth: candidates of a system that are reordered
        rerank_chars: characters of each text that a reranker reads
        rerank_batch: texts in one call of a model or a service
        rerank_failures: questions whose rerank may fail (they keep their order) before the run fails
        rerank_timeout: seconds that one call of a service may take
        rerank_cache: folder of what rerankers said (default: the user's own)
    """

    rerank_model: str | None = None
    rerank_url: str | None = None
    rerank_depth: int = 50
    rerank_chars: int = CHARACTERS
    rerank_batch: int = 32
    rerank_failures: int = 10
    rerank_timeout: float = TIMEOUT
    rerank_cache: Path | None = None

    def __post_init__(self) -> None:
        check_numbers(
            self,
            positive=("rerank_depth", "rerank_chars", "rerank_batch"),
            natural=("rerank_failures",),
            seconds=("rerank_timeout",),
        )

    def service(self, name: str) -> tuple[str, str]:
        """Address and model of the service of a reranker; UsageError where one of them is missing."""
        if not self.rerank_url or not self.rerank_model:
            raise UsageError(f"the reranker {name} needs both --rerank-url and --rerank-model")
        return self.rerank_url, self.rerank_model

    def identity(self, name: str, model: str, revision: str, **more: Any) -> RerankerIdentity:
        """Return the identity of a reranker that is set so."""
        known = {"depth": self.rerank_depth, "characters": self.rerank_chars, **more}
        return RerankerIdentity(name=name, model=model, revision=revision, **known)

    def cache(self, environ: Mapping[str, str] = os.environ) -> Path:
        """Return where what rerankers said is kept."""
        return self.rerank_cache or cache_dir("reranks", environ)


class LessonIndex:
    """The lessons of a run by number, with each lesson's neighbours in its conversation."""

    def __init__(self, lessons: Lessons) -> None:
        self._lessons = lessons
        self._places: dict[int, int] = {}
        self._positions: dict[tuple[str, int], int] = {}
        for place, lesson in enumerate(lessons):
            self._places[lesson.number] = place
            if lesson.position is not None:
                self._positions[lesson.project, lesson.position] = place

    def lesson(self, number: int) -> Lesson:
        """Return the lesson of that number; KeyError if it is missing."""
        return self._lessons[self._places[number]]

    def beside(self, lesson: Lesson, steps: int) -> Lesson | None:
        """Return the lesson so many steps later (negative: earlier) in the same session; None where none
        follows.

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
    """A lesson that a system found. `rank` from 1; score and components as the system gave them."""

    lesson: Lesson
    rank: int
    score: float | None = None
    components: tuple[float | None, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """Return the texts to read: its passages, or its text if it has no passages."""
        return self.lesson.passages or (self.lesson.text,)


@dataclass(frozen=True, slots=True)
class Pool:
    """A system's candidates for a question, best first. `components` names those of the
    candidates' scores.
    """

    query: Query
    candidates: tuple[Candidate, ...]
    shelf: LessonIndex
    components: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reordered:
    """The new order, as places of the pool's candidates, best first; omitted candidates follow in their old
    order.

    `scores` of those in the order, falling; empty if a reranker gives no scores. `calls` of a model or
    service were made for it, `pairs` of question and text were judged now, `cached` read from the cache.
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
        """Return the candidates of a pool in a new order. ModelError where that failed, which is counted."""

    def without_cache(self) -> Reranker:
        """Return the same reranker without its cache: a timed answer must not come from a file."""
        return self

    def close(self) -> None:  # noqa: B027
        """Give everything back."""


RERANKERS: Parts[Callable[[RerankOptions], Reranker]] = Parts(
    "reranker",
    {
        "linear": "runner.stages.rerankers.linear:Linear",
        "cross-encoder": "runner.stages.rerankers.local:CrossEncoder",
        "flag": "runner.stages.rerankers.local:Flag",
        "onnx": "runner.stages.rerankers.local:Onnx",
        "endpoint": "runner.stages.rerankers.services:RerankEndpoint",
        "llm-list": "runner.stages.rerankers.services:ListWise",
        "llm-promote": "runner.stages.rerankers.services:PromoteOne",
    },
)


def check_order(reordered: Reordered, pool: Pool) -> Reordered:
    """As it is; ModelError where it is no order of the pool's candidates."""
    places, scores = reordered.order, reordered.scores
    if len(set(places)) < len(places) or not set(places) <= set(range(len(pool.candidates))):
        raise ModelError(
            f"the reranker answered places that are no order of {len(pool.candidates)} candidates"
        )
    if scores and (len(scores) != len(places) or not is_falling(scores)):
        raise ModelError("the reranker answered scores that do not fall with its order")
    return reordered


def is_falling(scores: Sequence[float]) -> bool:
    """Return whether each is a number, and none above the one before it."""
    return all(map(isfinite, scores)) and all(one >= other for one, other in pairwise(scores))


def order_by_score(scores: Sequence[float]) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Places by falling score and the scores in that order; equals as they were."""
    order = sorted(range(len(scores)), key=lambda place: (-scores[place], place))
    return tuple(order), tuple(scores[place] for place in order)
