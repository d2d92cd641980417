"""Small results folders by hand: forty questions of ten projects, and where the gold stands for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from runner.records import Json, View
from runner.runs.run import Arm

QUESTIONS = [f"p{project}/q{number}" for project in range(10) for number in range(4)]
SCOPES = ("conversation", "pool")


def ranking(question: str, rank: int) -> list[str]:
    """Fifty segments, the gold at `rank`; 0: nowhere."""
    ids = [f"{question}/other{i}" for i in range(50)]
    if rank:
        ids[rank - 1] = f"{question}/gold"
    return ids


def lines(ranks: Mapping[str, int], size: int, system: str) -> list[Json]:
    return [
        {
            "question": question, "type": "hard" if question.endswith("q3") else "easy", "arm": arm,
            "scope": scope, "project": question.partition("/")[0], "size": size,
            "gold": [f"{question}/gold"], "ranking": ranking(question, rank if arm == system else 0),
        }
        for arm in (system, "bm25")
        for scope in SCOPES
        for question, rank in ranks.items()
    ]  # fmt: skip


@pytest.fixture
def ranks() -> dict[str, int]:
    """The baseline: every question is answered at rank 3."""
    return dict.fromkeys(QUESTIONS, 3)


@pytest.fixture
def folder(tmp_path: Path, record: Callable[..., Any], shelve: Callable[..., Path]) -> Callable[..., Path]:
    """Makes a results folder from the rank of the gold for each question; `run` changes its record."""

    def make(
        name: str,
        ranks: Mapping[str, int],
        size: int = 60,
        change: Callable[[list[Json]], None] = lambda rows: None,
        metrics: Mapping[str, Any] | None = None,
        **run: Any,
    ) -> Path:
        usual = {
            "name": name,
            "arms": (Arm("pgmnemo", "hybrid", "system"), Arm("bm25", "keywords", "leg")),
            "views": (View("all"), View("without hard", ("hard",))),
            "guc_state": {"pgmnemo.tenant_id": name, "pgmnemo.ef_search": "100"},
        }
        made = record(**{**usual, **run})
        rows = lines(ranks, size, made.system)
        change(rows)
        return shelve(tmp_path / name, made, raw=rows, **dict(metrics or {}))

    return make
