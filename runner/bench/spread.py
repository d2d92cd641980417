"""A part of the questions that stands for all: as many of each type, and within a type of each project."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from typing import TypeVar

from runner.bench.material import Asked

T = TypeVar("T")


def evenly(asked: Sequence[Asked], most: int) -> list[Asked]:
    """At most `most` of the questions, in their order.

    One after the other is taken from the type of which the fewest were taken, there from the project of which
    the fewest were taken, there the first; among equals the type and the project that stand first. So a
    smaller part lies within a larger one.
    """
    left = _Left(asked)
    taken = [left.take() for _ in range(min(most, len(asked)))]
    return sorted(taken, key=lambda one: one.position)


def spread(asked: Sequence[T], most: int) -> Sequence[T]:
    """At most `most` of the questions, in even steps over all."""
    return asked[:: max(1, len(asked) // most)][:most]


class _Left:
    """The questions that are not taken yet, by type and project."""

    def __init__(self, asked: Sequence[Asked]) -> None:
        self._queues: dict[str, dict[str, list[Asked]]] = {}
        for one in reversed(asked):
            self._queues.setdefault(one.question.type, {}).setdefault(one.question.project, []).append(one)
        order = {one.question.project: place for place, one in reversed(list(enumerate(asked)))}
        self._types = Counter(dict.fromkeys(dict.fromkeys(one.question.type for one in asked), 0))
        self._projects: Counter[str] = Counter()
        self._heaps = {
            type_: [(0, order[project], project) for project in queues]
            for type_, queues in self._queues.items()
        }
        for heap in self._heaps.values():
            heapify(heap)

    def take(self) -> Asked:
        """The next question."""
        type_ = min((name for name in self._types if self._heaps[name]), key=self._types.__getitem__)
        heap = self._heaps[type_]
        while (entry := heappop(heap))[0] != self._projects[entry[2]]:  # taken of it under another type since
            heappush(heap, (self._projects[entry[2]], *entry[1:]))
        _, place, project = entry
        one = self._queues[type_][project].pop()
        self._types[type_] += 1
        self._projects[project] += 1
        if self._queues[type_][project]:
            heappush(heap, (self._projects[project], place, project))
        return one
