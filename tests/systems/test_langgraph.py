"""LangGraph's store: searched by our vectors and nothing else, in namespaces, whole in every scope."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import numpy as np
import pytest

from runner.systems import Query, SystemContext, missing_parts, open_system, spec_of

COMMON, RARE = 900, 9


@pytest.fixture(scope="module")
def lessons(tools: Any) -> Any:
    rows = [("common", f"a note {at}") for at in range(COMMON)] + [
        ("rare", f"a word {at}") for at in range(RARE)
    ]
    vectors = np.random.default_rng(5).normal(size=(len(rows), 16)).astype(np.float32)
    return tools.Listed(rows, vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


@pytest.fixture(scope="module")
def loaded(server: str, lessons: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    if sentence := missing_parts(spec_of("langgraph")):
        pytest.skip(sentence)
    with open_system("langgraph", SystemContext(tmp_path_factory.mktemp("langgraph"), dsn=server)) as system:
        system.load(lessons)
        yield system


def test_it_searches_by_the_vector_that_is_handed_over_whatever_the_text_says(
    loaded: Any, lessons: Any
) -> None:
    other = lessons[7]
    for project in ("common", None):
        best = loaded.ask(Query(0, lessons[3].text, other.vector, project), 5)[0]
        assert best.number == other.number
        assert best.score == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("plan", ["planner", "hnsw"])
def test_every_scope_is_answered_in_full(loaded: Any, lessons: Any, plan: str) -> None:
    """Through its index, too, where a search for fifty asks for a hundred and one candidates."""
    with closing(loaded.client()) as client:
        for name in ("enable_seqscan", "enable_bitmapscan", "enable_sort") if plan == "hnsw" else ():
            client._connection.execute(f"SET {name} = off")
        for at in range(12):
            sizes = [len(client.ask(Query(0, "?", lessons[at].vector, project), 50))
                     for project in ("common", "rare", None)]  # fmt: skip
            assert sizes == [50, RARE, 50]
