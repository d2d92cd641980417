"""A small run's header, by hand."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from runner.artefacts import Arm, Code, CorpusPins, Machine, Options, ProtocolPins, RunHeader
from runner.records import GateResult, SearchScope, Status, Verdict


@pytest.fixture
def header() -> RunHeader:
    return RunHeader(
        name="v0.2.1_20260509_hash",
        verdict=Verdict.DEVIATION,
        deviations=("the embedder is hash, not minilm",),
        protocol=ProtocolPins("1.1.0", "ab" * 32),
        pgmnemo_version="0.2.1",
        guc_state={"gate_strict": "warn"},
        seed=42,
        python_hash_seed="42",
        corpus=CorpusPins(
            "sample", "Sample", "session", "sample.json", "cd" * 32, 4, 2, False, {"segments": 4}
        ),
        embedder=None,
        arms=(Arm("pgmnemo", "the extension"),),
        scopes=(SearchScope("conversation"),),
        options=Options(),
        components={"graph": "inactive: the corpus has no edges"},
        headline=("recall_any@5",),
        database=None,
        python="3.11.9",
        packages={"numpy": "2.0"},
        code=Code(None, None),
        machine=Machine("a processor", 2, 16.0, "Linux x86_64"),
        gates=(
            GateResult("embedder", Status.DEVIATION, "minilm", "hash"),
            GateResult(
                "corpus hash",
                Status.FAILED,
                "cd12",
                "ab34",
                "/home/ada/data/sample.json",
                "Fetch the file again.",
            ),
        ),
        started=datetime(2026, 5, 9, 8, 0, tzinfo=UTC),
    )
