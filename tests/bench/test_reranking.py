"""A run with a reranker: base and reranked are two arms, and what a rerank cost is counted and verified."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import runner
from pgmnemo.models import http
from runner.bench.finish import RunResult
from runner.runs.results import read_results
from runner.stages.rerankers import RerankOptions
from tests.service import Server, reranked, serving

pytest.importorskip("bm25s")
Make = Callable[..., RunResult]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """A run of the sample by an in-process system, behind a service."""
    monkeypatch.setenv("PYTHONHASHSEED", "42")
    monkeypatch.setattr(http, "LONGEST_PAUSE", 0.0)

    def run(server: Server, resume: Path | None = None, **told: Any) -> RunResult:
        options = RerankOptions(
            rerank_url=server.url, rerank_model="m", rerank_cache=tmp_path / "cache", **told
        )
        request = runner.Request(
            "sample", system="bm25s", embedder="none", rerank="endpoint", rerank_options=options,
            output=tmp_path / "out", resume=resume,
        )  # fmt: skip
        return runner.run(request)

    return run


def test_base_and_reranked_are_two_arms_and_the_sums_are_verified(make: Make) -> None:
    with serving(reranked) as server:
        first = make(server, rerank_depth=20)
        asked = len(server.requests)
        second = make(server, rerank_depth=20)
    arms = {arm.name: arm for arm in first.run.arms}
    assert first.run.system == "bm25s"
    assert list(arms)[-1] == "bm25s+rerank"
    assert arms["bm25s+rerank"].remarks[0] == (
        "recall at k = 20, recall at k = 50 cannot move: 20 candidates are reordered, and k is no smaller"
    )
    whole = {row.scope: row for row in first.run.reranks if row.type == "all"}
    assert {(row.n, row.failures) for row in whole.values()} == {(36, 0)}
    assert all(row.calls and row.changed and row.added_p50_ms is not None for row in whole.values())
    by_type = [row for row in first.run.reranks if row.type != "all" and row.scope == "pool"]
    assert sum(row.changed for row in by_type) == whole["pool"].changed
    cached = [row for row in second.run.reranks if row.type == "all"]
    assert all(row.calls == 0 and row.cached == row.pairs + row.cached for row in cached)
    assert len(server.requests) > asked  # what is timed is asked anew
    assert first.run.deviations[1].endswith("behind the reranker endpoint, too (--rerank)")
    names = ("raw_retrievals.jsonl",)
    assert [(first.folder / name).read_bytes() for name in names] == [
        (second.folder / name).read_bytes() for name in names
    ]
    checks = {answer.check: answer for answer in runner.verify(first.folder).answers}
    assert checks["reranks"].found == "holds", checks["reranks"]
    assert checks["schema"].found == "holds", checks["schema"]
    assert checks["report"].found == "holds", checks["report"]
    assert "## Reranked" in (first.folder / "report.md").read_text()
    (first.folder / "reranks.jsonl").write_text("")
    assert not runner.verify(first.folder).intact


def test_a_failed_rerank_keeps_the_order_and_is_counted(make: Make) -> None:
    def some(path: str, body: Any) -> Any:
        return {"oops": 1} if "compost" in body["query"].lower() else reranked(path, body)

    with serving(some) as server:
        done = make(server)
    failed = [one for one in read_results(done.folder).reranks if one.failed]
    assert failed
    assert sum(row.failures for row in done.run.reranks if row.type == "all") == len(failed)
    rows = {(row.question, row.arm, row.scope): row for row in read_results(done.folder).rows}
    for one in failed:
        base, other = (rows[one.question, arm, one.scope] for arm in ("bm25s", "bm25s+rerank"))
        assert base.ranking == other.ranking


@pytest.mark.parametrize("mode", ["hybrid", "vector", "keyword"])
def test_a_reranker_goes_behind_every_mode(mode: str, bench: Callable[..., Any], tmp_path: Path) -> None:
    ended = bench("--mode", mode, "--rerank", "linear", "--limit", 6)
    assert ended.code == 0, ended.err
    [place] = (tmp_path / "results").glob("*/manifest.json")
    results = read_results(place.parent)
    rows = {(row.arm, row.scope, row.question): row.ranking for row in results.rows}
    base = {key[1:]: ranking for key, ranking in rows.items() if key[0] == "pgmnemo"}
    behind = {key[1:]: ranking for key, ranking in rows.items() if key[0] == "pgmnemo+rerank"}
    assert len(base) == 12
    assert {key: set(ranking) for key, ranking in behind.items()} == {key: set(r) for key, r in base.items()}
    assert any(behind[key] != ranking for key, ranking in base.items())
