"""pgvector alone: the index as its README has it, and as many rows behind a filter as there are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import numpy as np
import pytest

from pgmnemo.records import Matrix
from runner.systems import Query, SystemContext, open_system
from runner.systems.controls import ExactCosine

FORCED = ("enable_seqscan", "enable_bitmapscan", "enable_sort")  # off: what is left is the index HNSW


def directions(count: int) -> Matrix:
    rows = np.random.default_rng(7).normal(size=(count, 16)).astype(np.float32)
    unit: Matrix = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


@pytest.fixture(scope="module")
def lessons(tools: Any) -> Any:
    """1,200 lessons, of which twelve are of the project `rare`."""
    rows = [("rare" if at % 100 == 0 else "common", f"lesson {at}") for at in range(1200)]
    return tools.Listed(rows, directions(1200))


@pytest.fixture(scope="module")
def loaded(server: str, lessons: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with open_system("pgvector", SystemContext(tmp_path_factory.mktemp("pgvector"), dsn=server)) as system:
        system.load(lessons)
        yield system


def query(lessons: Any, at: int, project: str | None) -> Query:
    return Query(0, "", lessons[at].vector, project)


def test_what_its_row_says_is_in_force(loaded: Any) -> None:
    facts = loaded.facts()
    with closing(loaded.client()) as client:
        for name in ("hnsw.ef_search", "hnsw.iterative_scan"):
            assert client._connection.execute(f"SHOW {name}").fetchone() == (facts[name],)
    with loaded.database.admin() as owner:
        [definition] = owner.execute(
            "SELECT indexdef FROM pg_indexes WHERE indexdef LIKE '%%USING hnsw (embedding vector_cosine_ops)'"
        ).fetchone()
    assert "WITH" not in definition  # m 16 and ef_construction 64 are pgvector's defaults
    assert (facts["hnsw.m"], facts["hnsw.ef_construction"], facts["hnsw.ef_search"]) == ("16", "64", "100")


@pytest.mark.parametrize("iterative", [True, False])
def test_a_filter_above_the_index_leaves_as_many_rows_as_there_are(
    loaded: Any, lessons: Any, iterative: bool
) -> None:
    """By pgvector's iterative scans, without which there are fewer."""
    with closing(loaded.client()) as client:
        for name in (*FORCED, *([] if iterative else ["hnsw.iterative_scan"])):
            client._connection.execute(f"SET {name} = off")
        with loaded.database.admin() as owner:
            owner.execute(f"DROP INDEX IF EXISTS {loaded.table}_project")
        sizes = {len(client.ask(query(lessons, at, "rare"), 12)) for at in range(20)}
    assert sizes == {12} if iterative else max(sizes) < 12


def test_the_nearest_of_many_are_nearly_all_found(loaded: Any, lessons: Any) -> None:
    cosine = ExactCosine()
    rows = [(one.number - 100, one) for one in lessons]
    cosine._places, cosine._vectors = {None: np.arange(len(rows))}, lessons._vectors
    found = 0
    for at in range(40):
        asked = query(lessons, at, None)
        wanted = {match.number + 100 for match in cosine.ask(asked, 50)}
        answer = loaded.ask(asked, 50)
        assert len(answer) == 50
        assert answer[0].number == 100 + at
        assert answer[0].score == pytest.approx(1.0, abs=1e-6)
        found += len(wanted & {match.number for match in answer})
    assert found / (40 * 50) > 0.97
