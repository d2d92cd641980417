"""The candidates are the same for every k up to pool_depth, so the first ten of fifty are those of ten."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

START = datetime(2025, 1, 6, 9, tzinfo=UTC)
NOW = datetime(2025, 6, 30, tzinfo=UTC)
COUNT, SESSION = 300, 11  # lessons; every eleventh position stays free, and the day changes there
WORDS = [
    "river", "harbour", "lantern", "teacher", "garden", "violin", "winter", "market", "letter", "mountain",
    "kitchen", "engine", "painter", "bridge", "forest", "captain", "island", "orchard", "summer", "window",
]  # fmt: skip
QUESTIONS = (
    "Where did the captain moor in the harbour?",
    "river river garden letter market winter violin",
    "What did the painter say in March 2025?",
    "Which zeppelin landed on the island?",
    "nothing of this occurs anywhere",
    "rare0 and rare1",
    "What was rare2 in February 2025?",
)  # fmt: skip


def texts(chance: random.Random, place: int) -> list[str]:
    """Passages; a few words occur in three lessons alone."""
    weights = range(1, len(WORDS) + 1)
    parts = [
        " ".join(chance.choices(WORDS, weights=weights, k=chance.randint(2, 40)))
        for _ in range(1 + place % 3)
    ]
    return [*parts[:-1], f"{parts[-1]} rare{place % 100}"]


def fill(tenant: Any) -> None:
    chance, numbers = random.Random(3), np.random.default_rng(3)
    for place in range(COUNT):
        parts, day = texts(chance, place), timedelta(days=place // SESSION * 5)
        tenant.store(
            f"l{place:03}", ". ".join(parts), importance=1 + place % 5,
            role=("user", "assistant", "user", None)[place % 4],
            occurred_at=None if place % 13 == 0 else START + day,
            passages=parts if place % 5 else None,
            embedding=numbers.standard_normal(1024).tolist() if place % 6 else None,
            passage_embeddings=[numbers.standard_normal(1024) for _ in parts] if place % 5 else None,
            **{'"position"': None if place % 17 == 0 else place + place // SESSION},
        )  # fmt: skip
    for place in range(0, COUNT, 20):
        tenant.link(f"l{place:03}", f"l{(place + 7) % COUNT:03}", weight=0.6)


@pytest.fixture(scope="module")
def filled(database: Any, tenant_class: Any) -> Iterator[Any]:
    with ExitStack() as stack:
        tenant = tenant_class(database, stack)
        fill(tenant)
        yield tenant
        tenant.value("SELECT pgmnemo.forget_all(NULL)")


@pytest.mark.parametrize("options", [{}, {"role": "assistant"}, {"valid_at": START + timedelta(days=40)}],
                         ids=["all", "of a role", "valid"])  # fmt: skip
@pytest.mark.parametrize("mode", ["hybrid", "vector", "keyword"])
def test_the_first_of_fifty_are_those_of_ten_twenty_and_thirty(
    filled: Any, mode: str, options: dict[str, Any]
) -> None:
    for question in QUESTIONS if not options else QUESTIONS[2:3]:
        vector = np.random.default_rng(len(question)).standard_normal(1024)
        whole = filled.recall(question, vector, k=50, mode=mode, as_of=NOW, **options)
        assert len(whole) == 50 or options
        for k in (1, 10, 20, 30):
            assert filled.recall(question, vector, k=k, mode=mode, as_of=NOW, **options) == whole[:k]


def test_fifty_of_each_leg_is_the_default(filled: Any) -> None:
    row = filled.rows("SELECT initial, value FROM pgmnemo.list_settings() WHERE name = 'pgmnemo.pool_depth'")
    assert row == [("50", "50")]
