"""Fusion of a vector retriever and a keyword retriever: of rankings by rank, or of arrays of scores.

The functions on arrays are the same for one question and for a whole sweep. An array has a row for each
question and a column for each lesson, in tie order: of two equal scores the earlier column wins. -inf marks a
lesson that a retriever did not find.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from runner.systems.system import Match, Setting

Floats = NDArray[np.float64]
POOL = 50  # least number of candidates from each retriever in a fusion by rank
RANK_OFFSET = 60
CONVEX, RRF = "convex", "rrf"
UNION, VECTOR = "union", "vector"
PARTS = ("vector", "keyword", "recency", "temporal")
HALF_LIFE = 30.0  # days of age with a recency of one half, the engine's default
SETTINGS: Mapping[str, Setting] = {
    "weight": Setting("0.5", "share of the vector leg, after min-max", 0, 1),
    "k": Setting("60", "what is added to a rank before its inverse is taken", 0, 100_000, whole=True),
    "factor": Setting(
        "5", "candidates taken from each leg, as a multiple of the ranks asked for", 1, 100, True
    ),
    "floor": Setting("50", "candidates taken from each leg at least", 1, 10_000, True),
    "candidates": Setting(UNION, "those of both legs, or of the vector leg alone", choices=(UNION, VECTOR)),
    "recency": Setting("0", "score of a lesson of age 0, halved every 30 days", 0, 10),
    "temporal": Setting("0.4", "score of a lesson of just the time that the anchor names", 0, 10),
}
"""Those of a fusion; each method takes its own of `weight` and `k`."""


@dataclass(frozen=True, slots=True)
class Fusion:
    """The rule that combines the scores of two retrievers.

    `convex`: each retriever's scores from 0 (the last of its pool) to 1 (the first), 0 for a lesson outside
    the pool; `weight` of the vector retriever's plus 1 - `weight` of the other's. `rrf` (Cormack et al.
    2009): the sum of 1 / (`k` + rank), as a share of its maximum. So a lesson that only the keyword retriever
    found has a vector part of 0. `recency` and `temporal` are added, only for candidates.
    """

    method: str = CONVEX
    weight: float = 0.5
    k: int = 60
    factor: int = 5
    floor: int = 50
    candidates: str = UNION
    recency: float = 0.0
    temporal: float = 0.0

    @classmethod
    def of(cls, method: str, settings: Mapping[str, str]) -> Fusion:
        """Return the fusion for a method and its checked settings."""
        given = {name: settings.get(name, one.default) for name, one in SETTINGS.items()}
        return cls(
            method, float(given["weight"]), int(given["k"]), int(given["factor"]), int(given["floor"]),
            given["candidates"], float(given["recency"]), float(given["temporal"]),
        )  # fmt: skip

    def pool(self, k: int) -> int:
        """Return the number of candidates of each retriever when `k` ranks are requested."""
        return max(self.factor * k, self.floor)

    def parts(
        self, vector: Floats, keyword: Floats, recency: Floats | None = None, fit: Floats | None = None
    ) -> Floats:
        """Return the contribution of each of PARTS to each lesson's score: (parts, questions, lessons).

        The contribution is -inf for a lesson that is not a candidate. `vector` and `keyword` are the scores
        of the pools; `recency` and `fit` are from 0 to 1.
        """
        made = np.zeros((len(PARTS), *vector.shape))
        made[0], made[1] = self._retriever(vector, self.weight), self._retriever(keyword, 1 - self.weight)
        for place, weight, share in ((2, self.recency, recency), (3, self.temporal, fit)):
            if weight and share is not None:
                made[place] = weight * share
        found = (
            np.isfinite(vector) if self.candidates == VECTOR else np.isfinite(vector) | np.isfinite(keyword)
        )
        made[:, ~found] = -np.inf
        return made

    def _retriever(self, scores: Floats, weight: float) -> Floats:
        if self.method == CONVEX:
            return weight * min_max(scores)
        return np.where(np.isfinite(scores), (self.k + 1) / 2 / (self.k + ranks(scores)), 0.0)


def ranks(scores: Floats) -> NDArray[np.int64]:
    """Return the rank of every lesson in its row, from 1."""
    order = np.argsort(-scores, axis=-1, kind="stable")
    places = np.empty(scores.shape, dtype=np.int64)
    np.put_along_axis(places, order, np.arange(1, scores.shape[-1] + 1)[None, :], axis=-1)
    return places


def keep_best(scores: Floats, depth: int) -> Floats:
    """Return the scores with all but the `depth` best of each row set to -inf."""
    return np.where(ranks(scores) <= depth, scores, -np.inf)


def min_max(scores: Floats) -> Floats:
    """Return the scores of each row scaled to 0 for the least and 1 for the greatest.

    If all are equal they become 1; lessons that were not found become 0.
    """
    found = np.isfinite(scores)
    low = np.where(found, scores, np.inf).min(axis=-1, keepdims=True, initial=np.inf)
    span = scores.max(axis=-1, keepdims=True, initial=-np.inf) - low
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(span > 0, (scores - low) / span, 1.0)
    return np.where(found, share, 0.0)


def recency_of_ages(days: Floats) -> Floats:
    """Return the recency from 0 to 1 by the age in days: 1 for ages up to 0, 0 for an unknown age (NaN)."""
    return np.where(np.isnan(days), 0.0, 0.5 ** (np.maximum(np.nan_to_num(days), 0.0) / HALF_LIFE))


def reciprocal_rank_fusion(rankings: Sequence[Sequence[Match]], k: int) -> list[Match]:
    """Return the `k` best by the sum of 1 / (60 + rank): reciprocal rank fusion (Cormack et al. 2009).

    Ties go to the lower number.
    """
    scores: dict[int, float] = {}
    for ranking in rankings:
        for place, match in enumerate(ranking, start=1):
            scores[match.number] = scores.get(match.number, 0.0) + 1.0 / (RANK_OFFSET + place)
    best = sorted(scores, key=lambda number: (-scores[number], number))[:k]
    return [Match(number, scores[number]) for number in best]
