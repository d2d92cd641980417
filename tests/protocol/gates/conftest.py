"""A verified run small enough to count by eye: two conversations of two sessions, three questions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from pgmnemo.records import DatabaseFacts, EmbedderIdentity
from runner.protocol.editions import Edition, EmbedderPins, SuitePins, current
from runner.protocol.gates import RunFacts
from runner.records import Corpus, Evidence, Question, SearchScope, Segment, Verdict
from runner.runs.config import RunConfig
from runner.runs.environment import Code
from runner.runs.run import Arm, CorpusPins, ProtocolPins, Run

REGISTERED = "a" * 64
FINGERPRINT = "c" * 64

PINS = SuitePins(
    file="tiny.json",
    what="the tiny corpus",
    embedder="tiny-embedder",
    granularity="session",
    scopes=("conversation", "pool"),
    shape={
        "projects": 2, "segments": 4, "turns": 9, "questions": 3, "scored": 2, "temporal": 1, "single-hop": 2,
    },
    sha256=REGISTERED,
    data_variable="TINY_DATA_DIR",
    url="https://example.org/tiny.json",
    bytes=100,
)  # fmt: skip

TINY: Edition = msgspec.structs.replace(
    current(),
    version="tiny",
    suites={"locomo": PINS},
    embedders={"tiny-embedder": EmbedderPins("example/tiny", "1", 8, 512, 8)},
    gates=current().gates[:15],  # a later one is tried by itself
)
"""The edition in force, with the tiny corpus in the place of LoCoMo."""

SEGMENTS = tuple(
    Segment(project, f"{project}/D{number}", f"[1 May, 2023]\nAnn: the {word} is here")
    for project, number, word in (
        ("conv-1", 1, "boat"), ("conv-1", 2, "lake"), ("conv-2", 1, "goat"), ("conv-2", 2, "hill"),
    )
)  # fmt: skip

QUESTIONS = (
    Question("conv-1/q0", "conv-1", "Where is the boat?", "single-hop", (Evidence("D1:3", "conv-1/D1"),)),
    Question("conv-2/q0", "conv-2", "When was the hill?", "temporal", (Evidence("D2:1", "conv-2/D2"),)),
    Question("conv-2/q1", "conv-2", "Why?", "single-hop"),
)

CORPUS = Corpus(
    suite="locomo", path="tiny.json", sha256=REGISTERED, granularity="session", segments=SEGMENTS,
    questions=QUESTIONS, scopes=(SearchScope("conversation"), SearchScope("pool", pooled=True)),
    clustered=True, shape={"turns": 9}, labels=(r"\bD\d{1,3}:\d{1,3}\b",),
)  # fmt: skip


class TinyRun(Run):
    """A run under the tiny edition, or under one that is known here."""

    @property
    def edition(self) -> Edition:
        return TINY if self.protocol.version == TINY.version else super().edition


RUN = TinyRun(
    name="v0.2.1_20260509_tiny-embedder",
    verdict=Verdict.VERIFIED,
    protocol=ProtocolPins(TINY.version, TINY.sha256, TINY.pins_sha256),
    choice=RunConfig(suite="locomo", level="session", embedder="tiny-embedder", version="0.2.1"),
    seed=42,
    python_hash_seed="42",
    corpus=CorpusPins("Tiny", "tiny.json", REGISTERED, 4, 3, True, PINS.shape),
    embedder=EmbedderIdentity("tiny-embedder", "example/tiny", "1", 8, 512, 8),
    arms=(Arm("pgmnemo", "the extension", "system"), Arm("random", "a random order")),
    scopes=CORPUS.scopes,
    guc_state={
        "pgmnemo.gate_strict": "warn",
        "pgmnemo.tenant_id": "some-uuid",
        "pgmnemo.recency_weight": "0.1",
    },
    database=DatabaseFacts("embedded", "bench", "18.4", "0.8.5", "0.2.1", FINGERPRINT, "runner"),
    code=Code("d" * 40, False),
    started=datetime(2026, 5, 9, tzinfo=UTC),
)


@pytest.fixture(scope="session")
def verified() -> RunFacts:
    """A run in which every gate passes."""
    return RunFacts(
        run=RUN, corpus=CORPUS, fingerprint=FINGERPRINT, recognised=True,
        retrievals={(arm, scope): 2 for arm in ("pgmnemo", "random") for scope in ("conversation", "pool")},
        artefacts=dict.fromkeys(TINY.artefacts.required, True), history_ready=True,
    )  # fmt: skip


@pytest.fixture
def changed(verified: RunFacts) -> Callable[..., RunFacts]:
    """The verified run with some facts changed; `corpus_*`, `run_*` and `choice_*` are of that record."""

    def of(facts: dict[str, Any], record: str) -> dict[str, Any]:
        taken = [name for name in facts if name.startswith(f"{record}_")]
        return {name.removeprefix(f"{record}_"): facts.pop(name) for name in taken}

    def make(**facts: Any) -> RunFacts:
        corpus, run, choice = (of(facts, record) for record in ("corpus", "run", "choice"))
        before = replace(verified, **facts)
        return replace(
            before,
            corpus=replace(before.corpus, **corpus),
            run=replace(before.run, **{"choice": replace(before.run.choice, **choice), **run}),
        )

    return make


@pytest.fixture
def in_force(verified: RunFacts) -> Callable[..., RunFacts]:
    """The verified run over a real corpus, under the edition in force."""
    edition = current()
    protocol = ProtocolPins(edition.version, edition.sha256, edition.pins_sha256)

    def make(corpus: Corpus) -> RunFacts:
        return replace(verified, corpus=corpus, run=replace(verified.run, protocol=protocol))

    return make
