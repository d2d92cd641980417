"""A small run's record, by hand."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from runner.protocol.editions import current
from runner.records import GateResult, SearchScope, Status, Verdict, View
from runner.runs.config import RunConfig
from runner.runs.environment import Machine
from runner.runs.run import Arm, CorpusPins, ProtocolPins, Run


@pytest.fixture
def run() -> Run:
    edition = current()
    return Run(
        name="v0.2.1_20260509_hash",
        verdict=Verdict.DEVIATION,
        deviations=("the embedder is hash, not minilm",),
        protocol=ProtocolPins(edition.version, edition.sha256, edition.pins_sha256),
        choice=RunConfig(suite="sample", level="session", embedder="hash", version="0.2.1"),
        guc_state={"gate_strict": "warn"},
        seed=42,
        python_hash_seed="42",
        corpus=CorpusPins("Sample", "sample.json", "cd" * 32, 4, 2, False, {"segments": 4}),
        embedder=None,
        arms=(Arm("pgmnemo", "the extension", "system"),),
        scopes=(SearchScope("conversation"),),
        components={"graph": "inactive: the corpus has no edges"},
        views=(View("all"),),
        headline=("recall_any@5",),
        python="3.11.9",
        packages={"numpy": "2.0"},
        machine=Machine("a processor", 2, 16.0, "Linux x86_64"),
        gates=(
            GateResult("embedder", Status.DEVIATION, "minilm", "hash"),
            GateResult(
                "corpus hash", Status.FAILED, "cd12", "ab34", "/home/ada/data/sample.json",
                "Fetch the file again.",
            ),
        ),
        started=datetime(2026, 5, 9, 23, 59, tzinfo=UTC),
    )  # fmt: skip
