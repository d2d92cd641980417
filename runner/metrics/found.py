"""Where the gold stands in each ranking: all that a metric needs to know."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from runner.errors import UsageError

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
