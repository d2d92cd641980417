"""Rerankers: a new order for the candidates that a system found. Their contract, options and registry.

A candidate is a lesson with all the input that systems get for it (text, passages, vectors, role, position,
time) and the system's output for it (rank, score, components). So a reranker may read texts, as a
cross-encoder does, or be a small model over existing scores and vectors. It sees no id, no gold, no label.
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
    """The settings of a reranker; raises UsageError for a number out of range.

    Args:
        rerank_model: model: a local folder, ORG/NAME[@REVISION] of the hub, or the name that a service uses
        rerank_url: URL for the rerankers endpoint (…/rerank) and llm-… (OpenAI-compatible)
        rerank_depth: number of candidates to reorder
        rerank_chars: number of characters of each text to read
        rerank_batch: number of texts in one call of a model or a service
        rerank_failures: maximum number of failed reranks; such a question keeps its order
        rerank_timeout: maximum seconds of one call of a service
        rerank_cache: folder of the rerank cache (default: the user's own)
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
        """Return the URL and the model of a reranker's service.

        Raises UsageError if one of them is missing.
        """
        if not self.rerank_url or not self.rerank_model:
            raise UsageError(f"the reranker {name} needs both --rerank-url and --rerank-model")
        return self.rerank_url, self.rerank_model

    def identity(self, name: str, model: str, revision: str, **more: Any) -> RerankerIdentity:
        """Return the identity of a reranker with these options."""
        known = {"depth": self.rerank_depth, "characters": self.rerank_chars, **more}
        return RerankerIdentity(name=name, model=model, revision=revision, **known)

    def cache(self, environ: Mapping[str, str] = os.environ) -> Path:
        """Return the folder of the rerank cache."""
        return self.rerank_cache or cache_dir("reranks", environ)


class LessonIndex:
    """The lessons of a run by number, with the neighbours of each in its conversation."""

    def __init__(self, lessons: Lessons) -> None:
        self._lessons = lessons
        self._places: dict[int, int] = {}
        self._positions: dict[tuple[str, int], int] = {}
        for place, lesson in enumerate(lessons):
            self._places[lesson.number] = place
            if lesson.position is not None:
                self._positions[lesson.project, lesson.position] = place

    def lesson(self, number: int) -> Lesson:
        """Return the lesson with this number; raise KeyError if it does not exist."""
        return self._lessons[self._places[number]]

    def beside(self, lesson: Lesson, steps: int) -> Lesson | None:
        """Return the lesson `steps` later (negative: earlier) in the same session; None if it does not exist.

        Sessions are separated by a gap in the positions, which no step crosses.
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
    """A lesson that a system found. `rank` counts from 1; score and components are the system's."""

    lesson: Lesson
    rank: int
    score: float | None = None
    components: tuple[float | None, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """Return the texts to read: the lesson's passages, or its text if it has no passages."""
        return self.lesson.passages or (self.lesson.text,)


@dataclass(frozen=True, slots=True)
class Pool:
    """A system's candidates for a question, best first. `components` names the components of their scores."""

    query: Query
    candidates: tuple[Candidate, ...]
    shelf: LessonIndex
    components: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reordered:
    """The new order, as indexes of the pool's candidates, best first.

    Omitted candidates follow in their old order. `scores` are those of `order`, descending; empty if a
    reranker gives no scores. `calls` of a model or service were made, `pairs` of question and text were
    judged now, and `cached` results were read from the cache.
    """

    order: tuple[int, ...]
    scores: tuple[float, ...] = ()
    calls: int = 0
    pairs: int = 0
    cached: int = 0


class Reranker(ABC):
    """The base of rerankers.

    `identity` is set by the constructor. Several threads may call `rerank` at once.
    """

    identity: RerankerIdentity

    def to_download(self) -> int:
        """Return the bytes that `load` would download; raise ModelError if that is unknown."""
        return 0

    def load(self, progress: Progress = QUIET) -> None:  # noqa: B027
        """Load the model into memory, or call the service once; raise ModelError if it is not available."""

    @abstractmethod
    def rerank(self, pool: Pool) -> Reordered:
        """Return the candidates of a pool in a new order; raise ModelError on failure, which is counted."""

    def without_cache(self) -> Reranker:
        """Return the same reranker without its cache: a timed answer must not come from a file."""
        return self

    def close(self) -> None:  # noqa: B027
        """Release all resources."""


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
    """Return `reordered`; raise ModelError unless it is an order of the pool's candidates."""
    places, scores = reordered.order, reordered.scores
    if len(set(places)) < len(places) or not set(places) <= set(range(len(pool.candidates))):
        raise ModelError(
            f"the reranker answered places that are no order of {len(pool.candidates)} candidates"
        )
    if scores and (len(scores) != len(places) or not is_falling(scores)):
        raise ModelError("the reranker answered scores that do not fall with its order")
    return reordered


def is_falling(scores: Sequence[float]) -> bool:
    """Return whether all scores are finite numbers and none is above the one before."""
    return all(map(isfinite, scores)) and all(one >= other for one, other in pairwise(scores))


def order_by_score(scores: Sequence[float]) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Return the indexes by falling score, and the scores in that order; ties keep their order."""
    order = sorted(range(len(scores)), key=lambda place: (-scores[place], place))
    return tuple(order), tuple(scores[place] for place in order)
