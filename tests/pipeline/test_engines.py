"""What an engine is given and asked follows from its version; 0.2.1 is given and asked what it always was."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest

from runner.protocol import engine, load_protocol
from runner.records import Corpus, DatabaseFacts, EmbedderIdentity, Passage, Segment, Vectors
from runner.systems import Inputs, Tenant, build_systems
from runner.systems.recall import Recall, bm25_alone

IDENTITY = EmbedderIdentity("fake", "fake", "1", dimensions=2, max_tokens=0, batch_size=8)
ROWS = np.array([[1, 0], [0, 1]], dtype=np.float32)
SEGMENTS = (
    Segment("p", "a", "one\ntwo", passages=(Passage("user: one", "one"), Passage("user: two", "two"))),
    Segment("p", "b", "nothing"),
)


class Stored:
    """A database of a version, to which nobody connects."""

    def __init__(self, version: str) -> None:
        self.facts = DatabaseFacts("--dsn", "bench", "18", "0.8", version, "ff", "pgmnemo_runner")


def tenant(version: str, vectors: bool = True) -> Tenant:
    corpus = Corpus("tiny", "", "ab", "session", SEGMENTS, (), ())
    passages = ROWS[::-1].copy() if engine(version).passages else None
    embedded = Vectors(IDENTITY, ROWS, ROWS, 0, 4, passages, {"one": 1, "two": 0})
    inputs = Inputs(corpus, embedded if vectors else None, 50, 42)
    return Tenant(cast(Any, Stored(version)), inputs, {}, width=3)


@pytest.mark.parametrize(
    ("version", "mode", "vectors", "arms"),
    [
        ("0.2.1", "hybrid", True, "pgmnemo bm25 cosine random"),
        ("0.2.1", "keyword", False, "pgmnemo bm25 random"),
        ("0.3.0", "hybrid", True, "pgmnemo bm25 keyword vector cosine random"),
        ("0.3.0", "keyword", True, "pgmnemo bm25 vector cosine random"),
        ("0.3.0", "vector", True, "pgmnemo bm25 keyword cosine random"),
        ("0.3.0", "keyword", False, "pgmnemo bm25 random"),
    ],
)
def test_the_arms_of_a_version(version: str, mode: str, vectors: bool, arms: str) -> None:
    assert [system.name for system in build_systems(tenant(version, vectors), mode)] == arms.split()


def test_bm25_alone_switches_off_whatever_else_a_question_s_words_move() -> None:
    off = {"recency_weight": "0", "importance_weight": "0", "graph_weight": "0"}
    assert bm25_alone(engine("0.2.1")) == off
    more = {"passage_terms_weight": "0", "temporal_weight": "0", "context_weight": "0"}
    assert bm25_alone(engine("0.3.0")) == off | more


@pytest.mark.parametrize("version", ["0.2.1", "0.3.0", "0.3.1"])
def test_an_answer_is_asked_for_with_the_components_of_its_version(version: str) -> None:
    query = Recall(tenant(version), "hybrid", "x", "x")._query.as_string(None)
    names = ", ".join(f'"{name}"' for name in engine(version).components)
    assert query.split("FROM")[0].strip() == f"SELECT in_project, external_id, score, {names}"


def test_an_engine_of_lessons_is_given_no_passage() -> None:
    old = tenant("0.2.1")
    assert "passages" not in old.columns
    assert len(old._row(0)) == len(old.columns) == 8


def test_an_engine_of_passages_is_given_texts_and_padded_vectors() -> None:
    new = tenant("0.3.0")
    row = dict(zip(new.columns, new._row(0), strict=True))
    assert row["passages"] == ["user: one", "user: two"]
    assert [list(vector) for vector in row["passage_embeddings"]] == [[1, 0, 0], [0, 1, 0]]
    none = dict(zip(new.columns, new._row(1), strict=True))
    assert (none["passages"], none["passage_embeddings"]) == (None, None)


def test_without_vectors_a_passage_is_its_words() -> None:
    new = tenant("0.3.0", vectors=False)
    row = dict(zip(new.columns, new._row(0), strict=True))
    assert (row["passages"], row["passage_embeddings"]) == (["user: one", "user: two"], None)


def test_the_engines_are_those_of_the_protocol_in_force() -> None:
    since = [pins.since for pins in load_protocol().engines.values()]
    assert since == ["0.2.1", "0.3.0"]
