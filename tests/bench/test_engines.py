"""What an engine is given and asked follows from its version; 0.2.1 is given and asked what it always was."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID

import numpy as np
import psycopg
import pytest

from pgmnemo.embedders.embedding import text_key
from pgmnemo.records import DatabaseFacts, EmbedderIdentity, Passage
from runner.bench import measurement, run_record
from runner.bench.request import Request
from runner.bench.workload import CorpusLessons, Workload
from runner.protocol.editions import current
from runner.records import Corpus, CorpusVectors, Segment
from runner.systems import Lesson, SystemContext
from runner.systems.pgmnemo import Pgmnemo
from runner.systems.query_runner import AnswerValidator

IDENTITY = EmbedderIdentity("fake", "fake", "1", dimensions=2, max_tokens=0, batch_size=8)
ROWS = np.array([[1, 0], [0, 1]], dtype=np.float32)
SEGMENTS = (
    Segment("p", "a", "one\ntwo", passages=(Passage("user: one", "one"), Passage("user: two", "two"))),
    Segment("p", "b", "nothing", role="Ana", position=3),
)
CORPUS = Corpus("tiny", "", "ab", "session", SEGMENTS, (), ())


class Silent:
    """A connection that answers nothing."""

    def __init__(self, version: str) -> None:
        self.sent: list[bytes] = []

    def execute(self, query: bytes, *_: object, **__: object) -> Any:
        self.sent.append(query)
        return SimpleNamespace(fetchone=lambda: (False,), fetchall=list)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing to give back."""


class Stored:
    """A database of a version."""

    exists = True

    def __init__(self, version: str) -> None:
        self.facts = DatabaseFacts("--dsn", "bench", "18", "0.8", version, "ff", "pgmnemo_runner")

    def connect(self) -> psycopg.Connection[Any]:
        return cast(Any, Silent(self.facts.pgmnemo))

    admin = connect


def pgmnemo(version: str, mode: str = "hybrid") -> Pgmnemo:
    system = Pgmnemo(cast(Any, Stored(version)), SystemContext(Path(), settings={"mode": mode}), ExitStack())
    system.width = 3
    return system


def embedded(version: str) -> CorpusVectors:
    passages = ROWS[::-1].copy() if current().engine(version).passages else None
    places = {text_key("document", "one"): 1, text_key("document", "two"): 0}
    return CorpusVectors(IDENTITY, ROWS, ROWS, 0, 4, passages, places)


def lessons(version: str, vectors: bool = True) -> CorpusLessons:
    return CorpusLessons(CORPUS, embedded(version) if vectors else None)


def given(version: str, lesson: Lesson) -> dict[str, Any]:
    """The row that is stored."""
    form = pgmnemo(version).form
    return dict(zip(form.columns, form.row(lesson, UUID(int=0)), strict=True))


@pytest.mark.parametrize(
    ("version", "mode", "vectors", "named"),
    [
        ("0.2.1", "hybrid", True, "pgmnemo bm25 cosine random plain-bm25"),
        ("0.2.1", "keyword", False, "pgmnemo bm25 random plain-bm25"),
        ("0.6.1", "hybrid", True, "pgmnemo bm25 keyword vector cosine random plain-bm25"),
        ("0.6.1", "keyword", True, "pgmnemo bm25 vector cosine random plain-bm25"),
        ("0.6.1", "vector", True, "pgmnemo bm25 keyword cosine random plain-bm25"),
        ("0.6.1", "keyword", False, "pgmnemo bm25 random plain-bm25"),
    ],
)
def test_the_arms_of_a_version(version: str, mode: str, vectors: bool, named: str) -> None:
    held = embedded(version) if vectors else None
    material = Workload(CORPUS, held, (), CorpusLessons(CORPUS, held))
    work: Any = SimpleNamespace(
        run=SimpleNamespace(edition=current(), seed=42),
        request=SimpleNamespace(time_limit=1.0, jobs=None),
        embedder=held,
    )
    rankers = list(
        measurement._ranked_systems(
            work, pgmnemo(version, mode), AnswerValidator("pgmnemo", material.lessons), material
        )
    )
    assert ["pgmnemo", *(arm.name for _, arm in rankers)] == named.split()
    assert [ranker.name for ranker, _ in rankers] == [arm.name for _, arm in rankers]


def test_bm25_alone_switches_off_whatever_else_a_question_s_words_move() -> None:
    off = {"recency_weight": "0", "importance_weight": "0", "graph_weight": "0"}
    assert pgmnemo("0.2.1").retrievers["bm25"][0] == off | {"mode": "keyword"}
    more = {"passage_terms_weight": "0", "temporal_weight": "0", "context_weight": "0"}
    more |= {"neighbours_weight": "0", "assistant_weight": "1"}
    assert pgmnemo("0.6.1").retrievers["bm25"][0] == off | more | {"mode": "keyword"}


def test_an_engine_of_passages_is_given_texts_and_vectors_as_they_are() -> None:
    new = lessons("0.6.1")
    row = given("0.6.1", new[0])
    assert row["passages"] == ["user: one", "user: two"]
    assert [list(vector) for vector in row["passage_embeddings"]] == [[1, 0], [0, 1]]
    assert list(row["embedding"]) == [1, 0]
    assert list(given("0.2.1", lessons("0.2.1")[0])["embedding"]) == [1, 0, 0]
    none = given("0.6.1", new[1])
    assert (none["passages"], none["passage_embeddings"]) == (None, None)


@pytest.mark.parametrize("version", ["0.2.1", "0.6.1"])
def test_a_position_is_stored_where_the_version_has_one(version: str) -> None:
    row = given(version, lessons(version)[1])
    assert row["role"] == "Ana"
    assert row.get("position", "none") == (3 if version == "0.6.1" else "none")
    assert ("speakers, positions, " in pgmnemo(version).description()) == (version == "0.6.1")


def test_without_vectors_a_passage_is_its_words() -> None:
    row = given("0.6.1", lessons("0.6.1", vectors=False)[0])
    assert (row["passages"], row["passage_embeddings"]) == (["user: one", "user: two"], None)


def test_neighbours_act_where_two_lessons_follow_one_another() -> None:
    def state(version: str, *positions: int | None) -> str:
        segments = tuple(Segment("p", str(at), "", position=place) for at, place in enumerate(positions))
        asked = Request("locomo", version=version, embedder="hash")
        return run_record._components(asked, replace(CORPUS, segments=segments)).get("neighbours", "none")

    idle = "inactive: no two lessons follow one another in a session"
    assert state("v0.2.1", 1, 2) == "none"
    assert (state("v0.6.1", 4, 1, 2), state("v0.6.1", 1, 3)) == ("active", idle)
    assert state("v0.6.1", None) == "inactive: no positions"


def test_a_project_is_stored_under_its_own_uuid_or_one_made_of_its_name() -> None:
    """A run names projects by uuids, which stay as they are, so that what was once stored is found again."""
    system, name = pgmnemo("0.6.1").names, lessons("0.6.1").projects[0]
    assert system.project_id(name) == UUID(name)
    assert system.project_id("whole") == system.project_id("whole") != system.project_id("share")
