"""What a metric is, a family of them, and where the gold is in each ranking, which is all that it needs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pgmnemo.errors import UsageError
from runner.protocol.editions import MetricPins

NOWHERE = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Found:
    """`ranks` (questions, most gold): ranks from 1 of the gold that was found, ascending, then NOWHERE.

    `gold` (questions): how many gold segments each question has, found or not.
    """

    ranks: NDArray[np.int64]
    gold: NDArray[np.int64]

    def within(self, k: int) -> NDArray[np.int64]:
        """Number of gold segments in the first `k` of each ranking."""
        return np.asarray((self.ranks <= k).sum(axis=1))

    @property
    def first(self) -> NDArray[np.int64]:
        """Rank of the first gold segment, or NOWHERE."""
        return np.asarray(self.ranks[:, 0])


def locate(gold: Collection[str], ranking: Sequence[str]) -> list[int]:
    """Ranks of the gold in one ranking. Raises UsageError where an id is ranked twice."""
    if len(set(ranking)) < len(ranking):
        twice = next(id for i, id in enumerate(ranking) if id in ranking[:i])
        raise UsageError(f"segment {twice!r} is ranked twice in one ranking; rank each segment once")
    return [rank for rank, id in enumerate(ranking, 1) if id in gold]


def tabulate(places: Iterable[tuple[Sequence[int], int]]) -> Found:
    """One row for each (ascending ranks of the gold found, number of gold segments)."""
    listed = list(places)
    ranks = np.full((len(listed), max((len(r) for r, _ in listed), default=0) or 1), NOWHERE)
    for row, (found, _) in zip(ranks, listed, strict=True):
        row[: len(found)] = found
    return Found(ranks, np.array([gold for _, gold in listed], dtype=np.int64))


Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Metric:
    """A number in [0, 1] for each question. `name` is the literature's and the key everywhere.

    `formula` maps (questions) rankings to (questions) values. `scope_bound`: once k reaches the size of
    the scope the value is certain and says nothing of the system.
    """

    name: str
    k: int
    definition: str
    formula: Callable[[Found], Floats]
    direction: str = "higher"  # is better
    worst: float = 0.0  # the value of a missing retrieval
    scope_bound: bool = False

    @property
    def family(self) -> str:
        """The name without its k, as `recall_any`."""
        return self.name.partition("@")[0]

    def value(self, gold: frozenset[str], ranking: Sequence[str]) -> float:
        """The value of one ranking of segment ids, best first. Raises UsageError where gold is empty."""
        if not gold:
            raise UsageError(f"{self.name} is not defined for a question without gold; leave it out")
        return float(self.formula(tabulate([(locate(gold, ranking), len(gold))]))[0])


@dataclass(frozen=True, slots=True)
class Family:
    """A metric `at` any k. An edition lists it by `name`; a run reports it at every cutoff, or at `depth`."""

    name: str
    at: Callable[[int], Metric]
    depth: Callable[[MetricPins], int] | None = None

    def metrics(self, pins: MetricPins, cutoffs: Sequence[int]) -> Iterator[Metric]:
        """Those that a run reports."""
        return map(self.at, cutoffs if self.depth is None else (self.depth(pins),))
