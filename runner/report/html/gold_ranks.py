"""The ranks of the gold of every question for each arm, and the recalls at every k."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from runner.records import Retrieval

NOWHERE = 0  # the rank of gold that was not retrieved
FAMILIES = ("recall_any", "recall_frac", "recall_all")
Ranks = NDArray[np.int64]
Curve = NDArray[np.float64]


@dataclass(slots=True)
class ScopeAnswers:
    """A search scope: its questions in the order of the raw file, and each arm's answer by question.

    A question's facts are taken from its first row.
    """

    name: str
    questions: dict[str, Retrieval] = field(default_factory=dict)
    answers: dict[str, dict[str, Retrieval]] = field(default_factory=dict)
    _ranks: dict[str, list[list[int]]] = field(default_factory=dict)

    def ranks(self, arm: str) -> list[list[int]]:
        """Return the ranks, from 1, of each question's gold segments, in gold order; NOWHERE if not found.

        NOWHERE if absent.
        """
        if arm not in self._ranks:
            self._ranks[arm] = self.ranks_of(self.answers[arm])
        return self._ranks[arm]

    def ranks_of(self, answers: Mapping[str, Retrieval]) -> list[list[int]]:
        """Return the same as `ranks`, for answers given by question."""
        return [_places(asked.gold, answers.get(key)) for key, asked in self.questions.items()]

    @property
    def gold_counts(self) -> Ranks:
        """Number of gold segments of each question."""
        return np.array([len(asked.gold) for asked in self.questions.values()], dtype=np.int64)

    @property
    def sizes(self) -> Ranks:
        """Number of segments in the search scope of each question."""
        return np.array([asked.size for asked in self.questions.values()], dtype=np.int64)


def _places(gold: Sequence[str], answer: Retrieval | None) -> list[int]:
    ids = [hit.id for hit in answer.ranking] if answer else []
    return [ids.index(segment) + 1 if segment in ids else NOWHERE for segment in gold]


def ranks_by_scope(rows: Iterable[Retrieval]) -> dict[str, ScopeAnswers]:
    """Return the scopes by name, in the order in which they first appear."""
    scopes: dict[str, ScopeAnswers] = {}
    for row in rows:
        scope = scopes.setdefault(row.scope, ScopeAnswers(row.scope))
        scope.questions.setdefault(row.question, row)
        scope.answers.setdefault(row.arm, {})[row.question] = row
    return scopes


def arm_curves(scope: ScopeAnswers, arm: str, depth: int) -> dict[str, Curve]:
    """Return each recall of one arm in one scope at k = 1 … `depth`."""
    ranks, gold = scope.ranks(arm), scope.gold_counts
    found = np.zeros((len(gold), depth + 1), dtype=np.int64)
    for row, places in zip(found, ranks, strict=True):
        for rank in places:
            if 0 < rank <= depth:
                row[rank] += 1
    return _recalls(np.cumsum(found, axis=1)[:, 1:], gold)


def ceiling_curves(scope: ScopeAnswers, depth: int) -> dict[str, Curve]:
    """Return the best possible recalls: all gold first, as far as k and the scope reach."""
    gold, ks = scope.gold_counts, np.arange(1, depth + 1)
    reachable = np.minimum(gold, scope.sizes)
    return _recalls(np.minimum(ks[np.newaxis, :], reachable[:, np.newaxis]), gold)


def _recalls(within: Ranks, gold: Ranks) -> dict[str, Curve]:
    """Return the recalls at each k; `within` (questions, depth) counts gold segments among the first k."""
    all_gold = gold[:, np.newaxis]
    values = (within > 0, within / all_gold, within == all_gold)
    return {family: np.asarray(value, dtype=np.float64).mean(axis=0)
            for family, value in zip(FAMILIES, values, strict=True)}  # fmt: skip


def first_ranks(ranks: Sequence[Sequence[int]]) -> list[int]:
    """Return the rank of the first gold segment of each question, 0 if none was found."""
    return [min((rank for rank in places if rank), default=0) for places in ranks]
