"""Where every arm placed the gold of every question, as arrays: what all plots are computed from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from runner.records import Retrieval

NOWHERE = 0  # the rank of gold that no kept rank holds
Ranks = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as every arm saw it."""

    key: str
    type: str
    project: str
    gold: tuple[str, ...]


@dataclass(slots=True)
class Scope:
    """One search scope: its questions in the order of the raw file, and each arm's answer by question."""

    name: str
    questions: dict[str, Asked] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    answers: dict[str, dict[str, Retrieval]] = field(default_factory=dict)
    _ranks: dict[str, list[list[int]]] = field(default_factory=dict)

    def ranks(self, arm: str) -> list[list[int]]:
        """Rank from 1 of each gold segment of each question, in the order of its gold; NOWHERE if absent."""
        if arm not in self._ranks:
            self._ranks[arm] = self.ranks_of(self.answers[arm])
        return self._ranks[arm]

    def ranks_of(self, answers: Mapping[str, Retrieval]) -> list[list[int]]:
        """The same of answers by question that need not be an arm's."""
        return [places(asked.gold, answers.get(key)) for key, asked in self.questions.items()]

    def gold_counts(self) -> Ranks:
        """Number of gold segments of each question."""
        return np.array([len(asked.gold) for asked in self.questions.values()], dtype=np.int64)

    def size_array(self) -> Ranks:
        """Number of segments that each question was searched in."""
        return np.array([self.sizes[key] for key in self.questions], dtype=np.int64)


def places(gold: Sequence[str], answer: Retrieval | None) -> list[int]:
    """Rank from 1 of each gold segment in one answer; NOWHERE where it does not stand."""
    if answer is None:
        return [NOWHERE] * len(gold)
    ids = [hit.id for hit in answer.ranking]
    return [ids.index(segment) + 1 if segment in ids else NOWHERE for segment in gold]


def standings(rows: Iterable[Retrieval]) -> dict[str, Scope]:
    """The scopes by name, in the order in which they first appear."""
    scopes: dict[str, Scope] = {}
    for row in rows:
        scope = scopes.setdefault(row.scope, Scope(row.scope))
        scope.questions.setdefault(row.question, Asked(row.question, row.type, row.project, row.gold))
        scope.sizes.setdefault(row.question, row.size)
        scope.answers.setdefault(row.arm, {})[row.question] = row
    return scopes
