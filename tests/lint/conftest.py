"""A small repository of runs: verified, deviating, unverified, blocked, and the sample."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runner.editions import edition
from runner.records import Difference, Score, SearchScope, Verdict
from runner.runs.run import ProtocolPins

SUITES = {
    "locomo": ("LoCoMo", "conversation", 1982),
    "longmemeval": ("LongMemEval", "haystack", 500),
    "sample": ("the sample", "conversation", 36),
}
Figures = dict[tuple[str, str, str, str, str], tuple[float, float, float, int]]

LOCOMO: Figures = {
    ("pgmnemo", "conversation", "all", "all", "recall_any@5"): (0.937, 0.914, 0.955, 1982),
    ("pgmnemo", "conversation", "all", "all", "recall_any@10"): (0.97477, 0.95618, 0.98566, 1982),
    ("pgmnemo", "conversation", "all", "all", "recall_frac@10"): (0.943, 0.92, 0.96, 1982),
    ("pgmnemo", "conversation", "all", "all", "MRR@50"): (0.825, 0.798, 0.85, 1982),
    ("pgmnemo", "pool", "all", "all", "recall_any@10"): (0.968, 0.948, 0.98, 1982),
    ("pgmnemo", "conversation", "all", "multi-hop", "recall_any@10"): (0.933, 0.863, 0.968, 282),
    ("pgmnemo", "conversation", "all", "temporal", "recall_any@10"): (0.96, 0.901, 0.984, 321),
    ("pgmnemo", "conversation", "categories 1-4", "all", "recall_any@10"): (0.971, 0.948, 0.984, 1536),
    ("bm25", "conversation", "all", "all", "recall_any@10"): (0.973, 0.954, 0.984, 1982),
    ("cosine", "conversation", "all", "all", "recall_any@10"): (0.654, 0.6, 0.7, 1982),
}
NEWER: Figures = {("pgmnemo", "conversation", "all", "all", "recall_any@10"): (0.981, 0.965, 0.99, 1982)}
LONGMEMEVAL: Figures = {
    ("pgmnemo", "haystack", "all", "all", "recall_any@5"): (0.94, 0.92, 0.96, 500),
    ("pgmnemo", "haystack", "all", "all", "recall_any@10"): (0.9624, 0.9431, 0.9758, 500),
    ("pgmnemo", "haystack", "all", "all", "recall_frac@10"): (0.941, 0.919, 0.958, 500),
    ("pgmnemo", "haystack", "all", "all", "MRR@50"): (0.871, 0.845, 0.893, 500),
    ("pgmnemo", "haystack", "all", "all", "nDCG@10"): (0.903, 0.88, 0.92, 500),
    ("pgmnemo", "haystack", "without abstention", "all", "recall_any@10"): (0.966, 0.945, 0.98, 470),
    ("bm25", "haystack", "all", "all", "recall_any@10"): (0.951, 0.93, 0.967, 500),
    ("bm25", "haystack", "all", "all", "MRR@50"): (0.86, 0.83, 0.88, 500),
    ("cosine", "haystack", "all", "all", "recall_any@10"): (0.911, 0.89, 0.93, 500),
    ("cosine", "haystack", "all", "all", "MRR@50"): (0.701, 0.67, 0.73, 500),
}
ANY: Figures = {("pgmnemo", "haystack", "all", "all", "recall_any@10"): (0.984, 0.96, 0.99, 246)}
SAMPLE: Figures = {("pgmnemo", "conversation", "all", "all", "recall_any@10"): (1.0, 0.897, 1.0, 36)}
BESIDE_BM25 = Difference(
    "pgmnemo", "bm25", "conversation", "all", "recall_any@10", 0.0018, -0.001, 0.005, 1982
)
Write = Callable[..., None]


@pytest.fixture(scope="session")
def write_run(record: Callable[..., Any], shelve: Callable[..., Path]) -> Write:
    """Writes one results folder under a root; a blocked one has BLOCKED.md besides."""
    pins = edition("1.1.0")

    def write(
        root: Path, suite: str, name: str, verdict: str, figures: Figures, deviations: tuple[str, ...] = ()
    ) -> None:
        title, scope, _ = SUITES[suite]
        version, _, embedder = name.removeprefix("v").split("_")
        run = record(
            name=name,
            verdict=Verdict.UNVERIFIED if verdict == "blocked" else Verdict(verdict),
            deviations=deviations,
            protocol=ProtocolPins(pins.version, pins.sha256, pins.pins_sha256),
            choice={"suite": suite, "version": version, "embedder": embedder},
            corpus={"title": title, "sha256": f"{len(suite):02}" * 32, "citable": suite != "sample"},
            embedder={"name": embedder},
            scopes=(SearchScope(scope),),
        )
        scores = [Score(*key, *row) for key, row in figures.items()]
        folder = shelve(root / run.path, run, scores, [BESIDE_BM25] if suite == "locomo" else [])
        if verdict == "blocked":
            (folder / "BLOCKED.md").write_text("# Blocked\n", encoding="utf-8")

    return write


@pytest.fixture(scope="session")
def root(write_run: Write, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with the runs that the fixture's documents name."""
    place = tmp_path_factory.mktemp("repository")
    minilm = ("embedder: minilm",)
    write_run(place, "locomo", "v0.2.1_20261121_minilm", "deviation", LOCOMO, minilm)
    write_run(place, "locomo", "v0.3.0_20261201_minilm", "deviation", NEWER, minilm)
    write_run(place, "locomo", "v0.2.1_20261119_minilm", "blocked", {})
    write_run(place, "longmemeval", "v0.2.1_20261121_bge-m3", "verified", LONGMEMEVAL)
    write_run(place, "longmemeval", "v0.2.1_20261120_minilm", "unverified", ANY, ("dataset: other", *minilm))
    write_run(place, "sample", "v0.2.1_20261121_minilm", "deviation", SAMPLE, ("tree: dirty",))
    return place
