"""Results folders of small runs, made by hand: three figures, a manifest, nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

MINILM = {"name": "minilm", "model": "MiniLM", "revision": "53aa51", "dimensions": 384}


def rows(value: float, low: float, high: float) -> list[dict[str, Any]]:
    """recall_any@10 of the arm under test in two scopes; the pool is 0.01 lower."""
    return [
        {
            "arm": "pgmnemo", "scope": scope, "view": "all", "type": "all", "metric": "recall_any@10",
            "value": value - loss, "ci95_low": low - loss, "ci95_high": high - loss, "n": 1982, "trivial": 0,
        }
        for scope, loss in (("conversation", 0.0), ("pool", 0.01))
    ]  # fmt: skip


def run_document(**changes: Any) -> dict[str, Any]:
    """run.json as far as a citation reads it."""
    document = {
        "schema": "pgmnemo/run/1",
        "name": "v0.2.1_20261121_minilm",
        "verdict": "deviation",
        "deviations": ["embedder: minilm"],
        "protocol": {"version": "1.1.0", "sha256": "ab" * 32},
        "pgmnemo_version": "0.2.1",
        "corpus": {
            "suite": "locomo", "title": "LoCoMo", "granularity": "session", "sha256": "cd" * 32,
            "segments": 272, "citable": True,
        },
        "embedder": MINILM,
        "arms": [{"name": "pgmnemo", "words": "hybrid"}],
        "scopes": [{"name": "conversation", "pooled": False}, {"name": "pool", "pooled": True}],
        "options": {"mode": "hybrid", "limit": None, "types": []},
        "disclosures": [],
        "started": "2026-11-21T08:22:59Z",
    }  # fmt: skip
    return document | changes


@pytest.fixture
def results(tmp_path: Path) -> Callable[..., Path]:
    """Makes a results folder under benchmarks/ of a temporary repository."""

    def make(figures: tuple[float, float, float] = (0.975, 0.956, 0.986), **changes: Any) -> Path:
        run = run_document(**changes)
        folder = tmp_path / "benchmarks" / run["corpus"]["suite"] / "results" / run["name"]
        folder.mkdir(parents=True)
        metrics = {
            "verdict": run["verdict"],
            "definitions": {"recall_any@10": "…"},
            "results": rows(*figures),
        }
        files = {"run.json": run, "metrics.json": metrics}
        for name, document in files.items():
            (folder / name).write_text(json.dumps(document), encoding="utf-8")
        entries = [{"name": n, "sha256": sha256((folder / n).read_bytes()).hexdigest()} for n in files]
        (folder / "manifest.json").write_text(json.dumps({"files": entries}), encoding="utf-8")
        return folder

    return make
