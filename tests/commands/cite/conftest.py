"""Results folders of small runs, made by hand: the figures that a citation names, and their record."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runner.records import Score


def rows(arm: str, value: float, low: float, high: float) -> list[Score]:
    """recall_any@10 of the arm under test in two scopes; the pool is 0.01 lower."""
    return [
        Score(arm, scope, "all", "all", "recall_any@10", value - loss, low - loss, high - loss, 1982)
        for scope, loss in (("conversation", 0.0), ("pool", 0.01))
    ]


@pytest.fixture
def results(tmp_path: Path, record: Callable[..., Any], shelve: Callable[..., Path]) -> Callable[..., Path]:
    """Makes a results folder under benchmarks/ of a temporary repository."""

    def make(figures: tuple[float, float, float] = (0.975, 0.956, 0.986), **changes: Any) -> Path:
        run = record(**changes)
        return shelve(tmp_path / run.path, run, rows(run.system, *figures))

    return make


@pytest.fixture
def believed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let runs that were made by hand pass for sound; tests/commands/cite/test_holding.py has real ones."""
    monkeypatch.setattr("runner.commands.cite.citation.check_sound", lambda cited: None)
