"""mem0 in its own environment, where that is installed (python -m runner peers install mem0)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runner.systems import Place, absent, kind_of, open_system
from runner.systems.apart import MEM0
from runner.systems.controls import ExactCosine
from tests.helping import ranked

LACKING = absent(kind_of("mem0"))
pytestmark = pytest.mark.skipif(bool(LACKING), reason=f"mem0 is {LACKING}")


@pytest.fixture(scope="module")
def mem0(tiny: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with open_system("mem0", Place(tmp_path_factory.mktemp("mem0"), environ=os.environ)) as system:
        system.load(tiny)
        yield system


def test_its_ranking_is_the_cosine_of_our_vectors_above_its_least_similarity(mem0: Any, tiny: Any) -> None:
    """So it has the vectors that it was given, and no keyword leg."""
    assert mem0.facts()["keyword leg"].startswith("off: ")
    cosine, rows = ExactCosine(), {lesson.number: lesson.vector for lesson in tiny}
    cosine.load(tiny)
    for project in (*tiny.projects, None):
        queries = [query for query, _ in tiny.queries(project)]
        wanted = [
            [match.number for match in cosine.ask(query, 50) if rows[match.number] @ query.vector >= 0]
            for query in queries
        ]
        assert ranked("mem0", mem0, tiny, queries, 50) == wanted


def test_a_project_is_its_own_and_k_is_honoured(mem0: Any, tiny: Any) -> None:
    garden, boat, _ = tiny.projects
    inside = {lesson.number for lesson in tiny if lesson.project == boat}
    queries = [tiny.query(query.text, boat) for query, _ in tiny.queries(garden)]
    for numbers in ranked("mem0", mem0, tiny, queries, 2):
        assert set(numbers) <= inside
        assert len(numbers) <= 2


def test_the_version_that_ran_and_what_is_on_disk_are_told(mem0: Any) -> None:
    facts = mem0.facts()
    assert facts["version"] == MEM0.version
    assert (facts["infer"], facts["threshold"]) == ("False", "0.0")
    assert set(mem0.sizes()) >= {"qdrant", "history.db"}


def test_no_trace_is_left_in_the_home_folder(
    tmp_path: Path, tiny: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, place = tmp_path / "home", tmp_path / "place"
    home.mkdir()
    place.mkdir()
    environ = {**os.environ, "HOME": str(home), "PGMNEMO_CACHE_DIR": str(MEM0.folder().parents[1])}
    with open_system("mem0", Place(place, environ=environ)) as system:
        system.load(tiny)
        assert system.ask(tiny.query("What of the oven?"), 1)
    assert not list(home.iterdir())
    assert not list(place.iterdir())
