"""Rankings for the metric tests."""

from __future__ import annotations

import random

import pytest

Case = tuple[frozenset[str], list[str]]


@pytest.fixture(scope="session")
def random_cases() -> list[Case]:
    """500 pairs of gold and ranking: gold of 1 to 15, rankings of 0 to 60 that may miss some of it."""
    rng = random.Random(42)
    segments = [f"d{i}" for i in range(80)]
    return [
        (frozenset(rng.sample(segments, rng.randint(1, 15))), rng.sample(segments, rng.randint(0, 60)))
        for _ in range(500)
    ]
