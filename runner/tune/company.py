"""Who stands with whom in a scope: what a lesson's relevance gives to others, as the extension told it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from runner.errors import DatabaseError
from runner.tune.layout import Floats, Layout
from runner.tune.worth import Row, Teller

Places = NDArray[np.intp]


@dataclass(frozen=True)
class Company:
    """By project, (projects, columns), or after `of` by question, (questions, columns).

    `share`: what part of a lesson's relevance stays at an assistant_weight of 0. `moment`: one number for
    lessons of one moment. `source` and `factor`, (projects, columns, most): the columns from which relevance
    reaches a lesson as a neighbour, and what part of it; a factor of 0 fills up.
    """

    share: Floats
    moment: Places
    source: Places
    factor: Floats

    @classmethod
    def alone(cls, rows: int, columns: int) -> Company:
        """Lessons that have nobody beside them, and no assistant among them."""
        places = np.broadcast_to(np.arange(columns), (rows, columns)).copy()
        return cls(np.ones((rows, columns)), places, places[:, :, None], np.zeros((rows, columns, 1)))

    def of(self, projects: Places) -> Company:
        """The same for questions, each of the project at a place."""
        return Company(
            self.share[projects], self.moment[projects], self.source[projects], self.factor[projects]
        )

    @cached_property
    def _groups(self) -> tuple[Places, Places, Places]:
        """The flattened array's order by row and moment; where each such group starts; its length."""
        rows, columns = self.moment.shape
        flat = (self.moment + np.arange(rows)[:, None] * columns).ravel()
        order = np.argsort(flat, kind="stable")
        starts = np.flatnonzero(np.r_[True, np.diff(flat[order]) != 0])
        return order, starts, np.diff(np.r_[starts, flat.size])

    @cached_property
    def _flat(self) -> list[tuple[Places, Floats]]:
        """For each of the neighbours that a lesson can have: its place in the flattened array, the factor."""
        rows, columns = self.moment.shape
        starts = np.arange(rows)[:, None] * columns
        return [
            (self.source[:, :, one] + starts, np.ascontiguousarray(self.factor[:, :, one]))
            for one in range(self.source.shape[2])
            if self.factor[:, :, one].any()
        ]

    def greatest(self, relevance: Floats) -> Floats:
        """The greatest relevance of each lesson's moment, itself included, (questions, columns)."""
        order, starts, lengths = self._groups
        best = np.repeat(np.maximum.reduceat(relevance.ravel()[order], starts), lengths)
        spread = np.empty_like(best)
        spread[order] = best
        return spread.reshape(relevance.shape)

    def reaching(self, relevance: Floats) -> Floats:
        """The relevance that reaches each lesson from its neighbours, (questions, columns)."""
        total = np.zeros(relevance.shape)
        for places, factor in self._flat:
            total += factor * relevance.ravel()[places]
        return total

    def counted(self, weight: float) -> Floats | float:
        """What each lesson's relevance is multiplied with at this assistant_weight."""
        if (self.share == 1).all():
            return 1.0
        return self.share + weight * (1 - self.share)


def told(teller: Teller, layout: Layout, names: Sequence[str]) -> Company:
    """The company of every project of `layout`, under their `names` in the database."""
    found = [teller.company(name) for name in names]
    for name, rows in zip(layout.projects, found, strict=True):
        if [row[0] for row in rows] != layout.external_ids[name]:
            raise DatabaseError(f"the lessons of {name} are not those that were stored; tune once more")
    most = max((len(heard) for rows in found for heard in _heard(rows)), default=1) or 1
    made = Company.alone(len(found), layout.shape[1])
    made = Company(made.share, made.moment, np.repeat(made.source, most, 2), np.repeat(made.factor, most, 2))
    for place, rows in enumerate(found):
        for column, (row, heard) in enumerate(zip(rows, _heard(rows), strict=True)):
            made.share[place, column], made.moment[place, column] = row[1], min(row[2])
            for at, (source, factor) in enumerate(heard):
                made.source[place, column, at], made.factor[place, column, at] = source, factor
    return made


def _heard(rows: Sequence[Row]) -> list[list[tuple[int, float]]]:
    """For each lesson from which columns relevance reaches it, and what part, in order of column."""
    heard: list[list[tuple[int, float]]] = [[] for _ in rows]
    for column, (_, _, _, reached, parts) in enumerate(rows):
        for place, part in zip(reached or (), parts or (), strict=True):
            heard[place].append((column, part))
    return heard
