"""The documents of a small run, by hand: two scopes, four arms, two types, one view besides all."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from runner.protocol.metrics.document import metrics_document
from runner.records import Difference, GateResult, Json, Score, Status
from runner.runs.environment import Code
from runner.runs.run import Arm, Run

ARMS = {"pgmnemo": 0.9, "bm25": 0.85, "exact_cosine": 0.5, "random": 0.2, "ceiling": 1.0}
METRICS = {
    "recall_any@1": "the share of questions with a gold segment at the first rank",
    "recall_any@10": "the share of questions with at least one gold segment among the first 10",
    "recall_all@50": "the share of questions with every gold segment among the first 50",
    "MRR@50": "the mean of 1 / rank of the first gold segment, 0 when it is not among the first 50",
    "recall_all@5": "the share of questions with every gold segment among the first 5",
}
SPLITS = {
    ("all", "all"): 20, ("all", "temporal"): 12, ("all", "adversarial"): 8,
    ("without adversarial", "all"): 12,
}  # fmt: skip


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
    figures = {"recall_all@5": (0.05, -0.012, 0.11), "MRR@50": (-0.02, -0.05, 0.0)}
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


HEADER: Json = {
    "name": "v0.2.1_20260509_minilm",
    "deviations": ("the embedder is minilm, not dragon-plus", "the code has uncommitted changes"),
    "protocol": {"sha256": "ab" * 32, "pins_sha256": "ab" * 32},
    "corpus": {"questions": 22, "shape": {"projects": 10, "segments": 272, "questions": 22, "scored": 20}},
    "arms": (
        Arm("pgmnemo", "hybrid recall of the extension", "system", "pgmnemo", "0.2.1", tuned_on="all of it"),
        Arm("bm25", "the keyword leg alone", "leg"),
        Arm("exact_cosine", "exact cosine alone"),
        Arm("random", "a random order, from the seed"),
    ),
    "components": {"cosine": "active", "bm25": "active", "graph": "inactive: the corpus has no edges"},
    "code": Code("12ab" * 10, True),
    "gates": gates(),
    "started": datetime(2026, 5, 9, 8, 0, tzinfo=UTC),
    "finished": datetime(2026, 5, 9, 8, 3, tzinfo=UTC),
}


class Runs:
    """Makes metrics.json and the record of variants of the run."""

    def __init__(self, record: Callable[..., Run]) -> None:
        self.record = record

    def __call__(
        self, *, results: list[Score] | None = None, readings: list[Json] | None = None, **changes: Any
    ) -> tuple[Json, Run]:
        run = self.record(self.record(**HEADER), **changes)
        metrics = metrics_document(
            run,
            scores() if results is None else results,
            differences(),
            code="1",
            definitions=METRICS,
            intervals={
                "mean": "a method, clustered by conversation",
                "difference": "another method, paired by question",
            },
        )
        return {**metrics, "readings": readings or [], "anchored": []}, run

    @staticmethod
    def scores() -> list[Score]:
        return scores()


@pytest.fixture
def run_of(record: Callable[..., Run]) -> Runs:
    return Runs(record)
