"""A verified run small enough to count by eye: two conversations of two sessions, three questions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from runner.gates import RunFacts
from runner.protocol import EmbedderPins, Protocol, SuitePins, load_protocol
from runner.records import Corpus, DatabaseFacts, EmbedderIdentity, Evidence, Question, SearchScope, Segment

REGISTERED = "a" * 64
FOREIGN = "b" * 64
FINGERPRINT = "c" * 64

PINS = SuitePins(
    file="tiny.json",
    what="the tiny corpus",
    embedder="tiny-embedder",
    granularity="session",
    shape={
        "projects": 2, "segments": 4, "turns": 9, "questions": 3, "scored": 2, "temporal": 1, "single-hop": 2,
    },
    sha256=REGISTERED,
    data_variable="TINY_DATA_DIR",
    url="https://example.org/tiny.json",
    bytes=100,
)  # fmt: skip

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
    suite="locomo",
    path="tiny.json",
    sha256=REGISTERED,
    granularity="session",
    segments=SEGMENTS,
    questions=QUESTIONS,
    scopes=(SearchScope("conversation"), SearchScope("pool", pooled=True)),
    clustered=True,
    shape={"turns": 9},
)

IDENTITY = EmbedderIdentity("tiny-embedder", "example/tiny", "1", 8, 512, 8)


@pytest.fixture(scope="session")
def protocol() -> Protocol:
    """The protocol in force, with the tiny corpus in the place of LoCoMo."""
    pins = EmbedderPins("example/tiny", "1", 8, 512, 8)
    return replace(load_protocol(), suites={"locomo": PINS}, embedders={"tiny-embedder": pins})


@pytest.fixture(scope="session")
def verified(protocol: Protocol) -> RunFacts:
    """A run in which every gate passes."""
    return RunFacts(
        protocol=protocol,
        corpus=CORPUS,
        requested_version="v0.2.1",
        embedder="tiny-embedder",
        hash_seed="42",
        seed=42,
        identity=IDENTITY,
        database=DatabaseFacts("embedded", "bench", "18.4", "0.8.5", "0.2.1", FINGERPRINT, "runner"),
        fingerprint=FINGERPRINT,
        ours=True,
        settings={
            "pgmnemo.gate_strict": "warn",
            "pgmnemo.tenant_id": "some-uuid",
            "pgmnemo.recency_weight": "0.1",
        },
        commit="d" * 40,
        dirty=False,
        retrievals={(arm, scope): 2 for arm in ("pgmnemo", "random") for scope in ("conversation", "pool")},
        artefacts=dict.fromkeys(protocol.artefacts, True),
        history_ready=True,
    )


@pytest.fixture
def run(verified: RunFacts) -> Callable[..., RunFacts]:
    """The verified run with some facts changed; `corpus_*` changes the corpus."""

    def changed(**facts: Any) -> RunFacts:
        corpus = {
            name.removeprefix("corpus_"): facts.pop(name) for name in list(facts) if name[:7] == "corpus_"
        }
        if corpus:
            facts["corpus"] = replace(facts.get("corpus", verified.corpus), **corpus)
        return replace(verified, **facts)

    return changed
