"""Reciprocal rank fusion (Cormack et al. 2009), for systems that leave it to their user."""

from __future__ import annotations

from collections.abc import Sequence

from runner.systems.system import Match

POOL = 50  # candidates of each leg of a fused search, or as many as are asked for
RANK_OFFSET = 60


def by_rank(rankings: Sequence[Sequence[Match]], k: int) -> list[Match]:
    """The `k` best by the sum of 1 / (60 + rank) over the rankings; among equals the lower number first."""
    scores: dict[int, float] = {}
    for ranking in rankings:
        for place, match in enumerate(ranking, start=1):
            scores[match.number] = scores.get(match.number, 0.0) + 1.0 / (RANK_OFFSET + place)
    best = sorted(scores, key=lambda number: (-scores[number], number))[:k]
    return [Match(number, scores[number]) for number in best]
