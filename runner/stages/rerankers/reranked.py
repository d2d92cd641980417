"""A wrapper of any system that puts its candidates into the order of a reranker.

If a rerank fails, the answer keeps the system's own order and the failure is counted; beyond a limit the run
fails.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pgmnemo.errors import ModelError
from pgmnemo.models.concurrent_calls import Failures
from pgmnemo.progress import QUIET, Progress
from runner.stages.rerankers import Candidate, LessonIndex, Pool, Reordered, Reranker, check_order
from runner.systems.query_runner import AnswerValidator, components_of
from runner.systems.system import (
    Lessons,
    Match,
    Query,
    SupportsAsk,
    SupportsComponents,
    SupportsThreads,
    System,
    SystemClient,
)


@dataclass(frozen=True, slots=True)
class RerankCost:
    """The cost of one question's rerank; `failed` says why the answer kept the system's order."""

    calls: int = 0
    pairs: int = 0
    cached: int = 0
    failed: str = ""


class _Reordering:
    """A client that reranks another client's answers, and stores each cost in the wrapper's `told`."""

    def __init__(self, wrapped: Reranked, asking: SupportsAsk) -> None:
        self._wrapped, self._asking = wrapped, asking

    def ask(self, query: Query, k: int) -> list[Match]:
        own, depth = self._wrapped, self._wrapped.reranker.identity.depth
        wanted = max(k, depth)
        found = own.judge.validate(query, wanted, tuple(self._asking.ask(query, wanted)))
        head, tail = found[:depth], found[depth:]
        new, told = own.reorder(query, head)
        own.told[query.number] = told
        return [*new, *(replace(match, score=None, components=()) for match in tail)][:k]

    def close(self) -> None:
        close = getattr(self._asking, "close", None)
        if close is not None:
            close()


class Reranked(System):
    """The system `system`, with its answers reordered by `reranker`; `name` is used in errors.

    It does not load or close the system, which is also measured in its own order.
    """

    def __init__(
        self, name: str, system: System, lessons: Lessons, reranker: Reranker, failures: Failures
    ) -> None:
        self._system, self.reranker, self._failures = system, reranker, failures
        self.judge = AnswerValidator(name, lessons, components_of(system))
        self.told: dict[int, RerankCost] = {}
        self._shelf = LessonIndex(lessons)
        self._components = system.components if isinstance(system, SupportsComponents) else ()

    def load(self, lessons: Lessons, progress: Progress = QUIET) -> Mapping[str, float]:
        """Do nothing: the wrapped system is already loaded."""
        return {}

    def ask(self, query: Query, k: int) -> Sequence[Match]:
        return _Reordering(self, self._system).ask(query, k)

    def within(self, settings: Mapping[str, str] | None = None) -> SystemClient:
        """Return a client of the wrapped system, with its answers reranked."""
        assert isinstance(self._system, SupportsThreads), "made by reranked"
        return _Reordering(self, self._system.client(settings))

    def reorder(self, query: Query, head: Sequence[Match]) -> tuple[list[Match], RerankCost]:
        """Return the candidates in the new order, with the reranker's scores, and the cost.

        If the reranker failed, the candidates keep the system's order and scores.
        """
        bare = [replace(match, score=None, components=()) for match in head]
        if len(head) < 2:
            return bare, RerankCost()
        candidates = tuple(
            Candidate(self._shelf.lesson(match.number), rank, match.score, match.components)
            for rank, match in enumerate(head, start=1)
        )
        pool = Pool(query, candidates, self._shelf, self._components)
        try:
            new = check_order(self.reranker.rerank(pool), pool)
        except ModelError as error:
            self._failures.count(str(error))
            return bare, RerankCost(failed=str(error))
        return _ordered(bare, new), RerankCost(new.calls, new.pairs, new.cached)


class ConcurrentReranked(Reranked):
    """A reranked system with clients for several threads."""

    def client(self, settings: Mapping[str, str] | None = None) -> SystemClient:
        return self.within(settings)


def rerank_system(
    name: str, system: System, lessons: Lessons, reranker: Reranker, failures: Failures
) -> Reranked:
    """Return `system` with `reranker`; it supports several threads only if `system` does."""
    kind = ConcurrentReranked if isinstance(system, SupportsThreads) else Reranked
    return kind(name, system, lessons, reranker, failures)


def _ordered(bare: Sequence[Match], new: Reordered) -> list[Match]:
    scores = new.scores or (None,) * len(new.order)
    first = [replace(bare[place], score=score) for place, score in zip(new.order, scores, strict=True)]
    named = set(new.order)
    return [*first, *(match for place, match in enumerate(bare) if place not in named)]
