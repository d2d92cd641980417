"""Small results folders by hand: forty questions of ten projects, and where the gold stands for each."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from runner.metrics import METRIC_VERSION, metrics_for

QUESTIONS = [f"p{project}/q{number}" for project in range(10) for number in range(4)]
SCOPES = ("conversation", "pool")
SIZE = 60
DEFINITIONS = {name: metric.definition for name, metric in metrics_for().items()}


def run_document(name: str) -> dict[str, Any]:
    """run.json as far as a comparison reads it."""
    return {
        "schema": "pgmnemo/run/1",
        "name": name,
        "verdict": "deviation",
        "deviations": ["embedder: minilm"],
        "protocol": {"version": "1.1.0", "sha256": "ab" * 32},
        "pgmnemo_version": "0.2.1",
        "guc_state": {"pgmnemo.tenant_id": name, "pgmnemo.ef_search": "100"},
        "corpus": {
            "suite": "locomo", "title": "LoCoMo", "granularity": "session", "sha256": "cd" * 32,
            "segments": 600, "clustered": True, "citable": True,
        },
        "embedder": {"name": "minilm", "model": "MiniLM", "revision": "sha256:53", "dimensions": 384},
        "arms": [{"name": "pgmnemo", "words": "hybrid"}, {"name": "bm25", "words": "keywords"}],
        "scopes": [{"name": "conversation", "pooled": False}, {"name": "pool", "pooled": True}],
        "options": {"mode": "hybrid", "k": [], "limit": None, "types": []},
        "headline": ["recall_any@5", "recall_any@10", "MRR@50"],
        "views": [
            {"name": "all", "without_types": [], "without_key": ""},
            {"name": "without hard", "without_types": ["hard"], "without_key": ""},
        ],
        "database": {"postgresql": "18.4", "pgvector": "0.8.5", "fingerprint": "12" * 32},
        "code": {"commit": "de2e2240", "dirty": False},
    }  # fmt: skip


def ranking(question: str, rank: int) -> list[str]:
    """Fifty segments, the gold at `rank`; 0: nowhere."""
    ids = [f"{question}/other{i}" for i in range(50)]
    if rank:
        ids[rank - 1] = f"{question}/gold"
    return ids


def lines(ranks: Mapping[str, int]) -> list[str]:
    rows = [
        {
            "question": question, "type": "hard" if question.endswith("q3") else "easy", "arm": arm,
            "scope": scope, "project": question.partition("/")[0], "size": SIZE,
            "gold": [f"{question}/gold"], "ranking": ranking(question, rank if arm == "pgmnemo" else 0),
        }
        for arm in ("pgmnemo", "bm25")
        for scope in SCOPES
        for question, rank in ranks.items()
    ]  # fmt: skip
    return [json.dumps(row) for row in rows]


def merge(document: dict[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    for key, value in changes.items():
        nested = isinstance(value, dict) and isinstance(document.get(key), dict)
        document[key] = merge(document[key], value) if nested else value
    return document


@pytest.fixture
def ranks() -> dict[str, int]:
    """The baseline: every question is answered at rank 3."""
    return dict.fromkeys(QUESTIONS, 3)


@pytest.fixture
def folder(tmp_path: Path) -> Callable[..., Path]:
    """Makes a results folder from the rank of the gold for each question."""

    def make(
        name: str, ranks: Mapping[str, int], metrics: Mapping[str, Any] | None = None, **run: Any
    ) -> Path:
        place = tmp_path / name
        place.mkdir()
        (place / "run.json").write_text(json.dumps(merge(run_document(name), run)))
        figures = {"metric_code": METRIC_VERSION, "definitions": DEFINITIONS} | dict(metrics or {})
        (place / "metrics.json").write_text(json.dumps(figures))
        (place / "raw_retrievals.jsonl").write_text("\n".join(lines(ranks)) + "\n")
        return place

    return make
