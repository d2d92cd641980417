"""The documents of a small run, by hand: two scopes, four arms, two types, one view besides all."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from runner.artefacts import (
    Arm,
    Code,
    CorpusPins,
    Latency,
    Machine,
    Options,
    ProtocolPins,
    Resources,
    RunHeader,
    metrics_document,
)
from runner.records import (
    DatabaseFacts,
    Difference,
    EmbedderIdentity,
    GateResult,
    Score,
    SearchScope,
    Status,
    Verdict,
)

ARMS = {"pgmnemo": 0.9, "bm25": 0.85, "exact_cosine": 0.5, "random": 0.2, "ceiling": 1.0}
METRICS = {
    "recall_any@5": "the share of questions with at least one gold segment among the first 5",
    "recall_any@10": "the share of questions with at least one gold segment among the first 10",
    "recall_all@50": "the share of questions with every gold segment among the first 50",
    "MRR@50": "the mean of 1 / rank of the first gold segment, 0 when it is not among the first 50",
}
HEADLINE = ("recall_any@5", "recall_any@10", "MRR@50")
SPLITS = {
    ("all", "all"): 20,
    ("all", "temporal"): 12,
    ("all", "adversarial"): 8,
    ("without adversarial", "all"): 12,
}


def scores() -> list[Score]:
    """A value for every arm, scope, split and metric, by a rule simple enough to check by eye."""
    rows = []
    for scope, loss in (("conversation", 0.0), ("pool", 0.1)):
        for arm, base in ARMS.items():
            for (view, kind), n in SPLITS.items():
                for place, metric in enumerate(METRICS):
                    value = max(0.0, base - loss - (0.05 if kind == "temporal" else 0) + place / 100 - 0.02)
                    value = 1.0 if arm == "ceiling" else value
                    trivial = n if metric == "recall_all@50" and scope == "conversation" else 0
                    low, high = max(0.0, value - 0.1), min(1.0, value + 0.08)
                    rows.append(Score(arm, scope, view, kind, metric, value, low, high, n, trivial))
    return rows


def differences() -> list[Difference]:
    figures = {"recall_any@5": (0.05, -0.012, 0.11), "MRR@50": (-0.02, -0.05, 0.0)}
    return [
        Difference("pgmnemo", "bm25", scope, "all", metric, *figures[metric], 20)
        for scope in ("conversation", "pool")
        for metric in figures
    ]


def gates() -> tuple[GateResult, ...]:
    return (
        GateResult("corpus hash", Status.PASSED, "cd" * 32, "cd" * 32),
        GateResult(
            "embedder", Status.DEVIATION, "dragon-plus", "minilm", resolve="Run with --embedder dragon-plus."
        ),
        GateResult("artefacts", Status.NOT_YET, "all files", ""),
    )


def header() -> RunHeader:
    minilm = EmbedderIdentity("minilm", "sentence-transformers/all-MiniLM-L6-v2", "53aa51", 384, 256, 8)
    return RunHeader(
        name="v0.2.1_20260509_minilm",
        verdict=Verdict.DEVIATION,
        deviations=("the embedder is minilm, not dragon-plus", "the code has uncommitted changes"),
        protocol=ProtocolPins("1.1.0", "ab" * 32),
        pgmnemo_version="0.2.1",
        guc_state={"pgmnemo.gate_strict": "warn", "pgmnemo.recency_weight": "0.1"},
        seed=42,
        python_hash_seed="42",
        corpus=CorpusPins(
            suite="locomo", title="LoCoMo", granularity="session", file="locomo10.json", sha256="cd" * 32,
            segments=272, questions=22, clustered=True,
            shape={"segments": 272, "questions": 22, "scored": 20},
        ),
        embedder=minilm,
        arms=(
            Arm("pgmnemo", "hybrid recall of the extension"),
            Arm("bm25", "the keyword leg alone"),
            Arm("exact_cosine", "exact cosine alone"),
            Arm("random", "a random order, from the seed"),
        ),
        scopes=(SearchScope("conversation"), SearchScope("pool", pooled=True)),
        options=Options(),
        components={"cosine": "active", "bm25": "active", "graph": "inactive: the corpus has no edges"},
        headline=HEADLINE,
        database=DatabaseFacts(
            "embedded", "pgmnemo_bench_0_2_1", "18.4", "0.8.5", "0.2.1", "ef" * 32, "pgmnemo_runner"
        ),
        python="3.11.9",
        packages={"numpy": "2.0"},
        code=Code("12ab" * 10, True),
        machine=Machine("a processor", 2, 16.0, "Linux x86_64"),
        gates=gates(),
        resources=Resources(0.41, 0.2, 17.2, 3.0, 9.96, 2.5, 1.5, 185.4, 812.3, 20, 2238),
        latency=(Latency("pgmnemo", "conversation", 10, 20, 2.345, 5.0),),
        started=datetime(2026, 5, 9, 8, 0, tzinfo=UTC),
        finished=datetime(2026, 5, 9, 8, 3, tzinfo=UTC),
    )  # fmt: skip


def documents(run: RunHeader, results: list[Score] | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
    """metrics.json and run.json of a header."""
    document = run.document()
    metrics = metrics_document(
        document,
        scores() if results is None else results,
        differences(),
        metric_code="1",
        definitions=METRICS,
        intervals={
            "mean": "a method, clustered by conversation",
            "difference": "another method, paired by question",
        },
    )
    return metrics, document


class Runs:
    """Makes documents of variants of the run."""

    def __call__(
        self, *, results: list[Score] | None = None, **changes: Any
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        return documents(replace(header(), **changes), results)

    @staticmethod
    def scores() -> list[Score]:
        return scores()


@pytest.fixture
def run_of() -> Runs:
    return Runs()
