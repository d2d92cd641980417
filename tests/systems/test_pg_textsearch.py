"""pg_textsearch: BM25 that a filter leaves whole, fused with HNSW, in a server set as the others are."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from runner.paths import ROOT
from runner.systems import Query, SystemContext, missing_parts, open_system, spec_of
from runner.systems.fusion import reciprocal_rank_fusion

MANY, FEW = 1500, 20

# As an ordinary user: packages may lie where `nobody` cannot look, so they are imported before the change,
# and the server's installation is copied to where it can.
ORDINARY = """
import os, sys
sys.path[:] = sys.argv[2:]
from pathlib import Path
import psycopg, pgvector.psycopg, encodings.idna
from pgmnemo.postgres import server_files
from pgmnemo.postgres.releases import SQL_FOLDER
from runner.systems import SystemContext
from runner.systems.pg_textsearch import PgTextsearch
readable = Path(sys.argv[1])
original = server_files.installation(18, server_files.EXTENDED)
copy = server_files.stage_server(original, readable / "server", server_files.EXTENDED)
server_files.stage_extension(SQL_FOLDER, readable / "stub")
server_files.find_spec = lambda _: type("Spec", (), {"submodule_search_locations": [str(copy.parent)]})
os.setgroups([]); os.setgid(65534); os.setuid(65534)
system = PgTextsearch(SystemContext(readable, sql=readable / "stub", environ={}))
print(os.getuid(), system.facts()["version"])
system.close()
"""


if _sentence := missing_parts(spec_of("pg-textsearch")):
    pytest.skip(_sentence, allow_module_level=True)


@pytest.fixture(scope="module")
def lessons(tools: Any) -> Any:
    """A project whose every lesson is full of gulls before one in which each mentions them once."""
    rows = [("loud", f"gulls and gulls, a gull {at}") for at in range(MANY)]
    rows += [("quiet", f"in the year {at} she wrote much of the sea and saw a gull") for at in range(FEW)]
    rows += [("quiet", f"of bread and butter {at}") for at in range(FEW)]
    vectors = np.random.default_rng(3).normal(size=(len(rows), 8)).astype(np.float32)
    return tools.Listed(rows, vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


@pytest.fixture(scope="module")
def loaded(lessons: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with open_system(
        "pg-textsearch", SystemContext(tmp_path_factory.mktemp("textsearch"), environ={})
    ) as system:
        system.load(lessons)
        yield system


def query(lessons: Any, text: str, project: str | None, at: int = 0) -> Query:
    return Query(0, text, lessons[at].vector, project)


def test_a_filtered_question_finds_every_lesson_with_its_words_and_no_other(
    loaded: Any, lessons: Any
) -> None:
    """Though a thousand lessons of another project come before them."""
    with closing(loaded.client({"leg": "keyword"})) as client:
        found = [match.number for match in client.ask(query(lessons, "gulls?", "quiet"), 50)]
        assert set(found) == set(range(100 + MANY, 100 + MANY + FEW))
        assert len(client.ask(query(lessons, "gulls?", "loud"), 50)) == 50
        assert client.ask(query(lessons, "zeppelins", None), 50) == []


def test_the_index_gives_the_order_that_scoring_each_text_gives(loaded: Any, lessons: Any) -> None:
    text, index = "the sea, year 7, bread", f"{loaded.table}_bm25"
    with closing(loaded.client({"leg": "keyword"})) as client:
        found = [match.number for match in client.ask(query(lessons, text, "quiet"), 50)]
        scores = dict(client._connection.execute(
            f"SELECT id, -(content <@> to_bm25query(%s, '{index}')) FROM {loaded.table} WHERE project = %s",
            (text, loaded.projects["quiet"]),
        ).fetchall())  # fmt: skip
    assert len(found) == sum(score > 0 for score in scores.values()) == 2 * FEW
    assert [scores[number] for number in found] == sorted((scores[number] for number in found), reverse=True)


def test_the_bm25_index_is_what_is_read(loaded: Any, lessons: Any) -> None:
    """And no text is scored anew: the score is the scan's own."""
    plans = []
    with closing(loaded.client()) as client:
        execute = client._connection.execute

        def explained(statement: bytes, values: Any, **_: Any) -> Any:
            plans.append("\n".join(row[0] for row in execute(b"EXPLAIN (VERBOSE) " + statement, values)))
            return execute(statement, values)

        client._connection.execute = explained
        for project in ("quiet", "loud", None):
            client.ask(query(lessons, "gull", project), 50)
    assert len(plans) == 3
    for plan in plans:
        assert f"Index Scan using {loaded.table}_bm25" in plan
        assert "bm25_get_current_score" in plan


def test_it_is_its_legs_fused_by_rank(loaded: Any, lessons: Any) -> None:
    for project in ("quiet", None):
        asked = query(lessons, "bread on the sea", project, MANY + 3)
        legs = []
        for settings, _ in loaded.retrievers.values():
            with closing(loaded.client(settings)) as client:
                legs.append(client.ask(asked, 50))
        whole, wanted = loaded.ask(asked, 50), reciprocal_rank_fusion(legs, 50)
        assert [match.number for match in whole] == [match.number for match in wanted]
        assert [match.score for match in whole] == pytest.approx([match.score for match in wanted])


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_an_ordinary_user_runs_it() -> None:
    with tempfile.TemporaryDirectory(prefix="pgmnemo-test-") as folder:
        Path(folder).chmod(0o755)
        done = subprocess.run(
            [sys.executable, "-B", "-c", ORDINARY, folder, *sys.path, str(ROOT)], cwd="/",
            env={"HOME": folder}, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
    assert done.stdout.split()[:1] == ["65534"], done.stderr
