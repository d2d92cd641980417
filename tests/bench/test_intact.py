"""Honest runs of each kind are intact, as their runner leaves them: with passages, and unregistered, too."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import runner
from runner.protocol.editions import current
from runner.verification import CheckStatus
from tests.helping import CURRENT

KINDS = {
    "in mode vector, beside what has another, reranked at three":
        "--mode vector --baselines rrf,convex+quoted --rerank linear --rerank-depth 3",
    "with more weight for words, of the tenant, and a small pool":
        "--set bm25_weight=2.5 --set pool_depth=10 --set statistics_scope=tenant --baselines pgmnemo+names",
    "without a weight for words, reranked deeper than is kept":
        "--set bm25_weight=0 --rerank linear --rerank-depth 100 --baseline-scopes headline "
        "--baselines sqlite-fts5",
    "without vectors, of another text, cut short":
        "--embedder none --template user-only --passages 40/10 --max-chars 90 "
        "--baselines pgmnemo+keyword,bm25s",
    "of another system, of one type in one scope":
        "--system sqlite-fts5 --baselines bm25s,bm25s+passages --types multi-hop --scopes pool --k 1,5",
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_an_honest_run_is_intact(
    kind: str, bench: Callable[..., Any], sql: Path, sample_path: Path, tmp_path: Path
) -> None:
    ended = bench("--limit", 5, *KINDS[kind].split())
    assert ended.code == 0, ended.err
    [folder] = (tmp_path / "results").glob("*/manifest.json")
    answers = runner.verify(folder.parent, corpus=sample_path, sql=sql).answers
    assert {one.check: one.sentence for one in answers if one.found is CheckStatus.WRONG} == {}


def test_a_run_with_passages_verifies(bench: Callable[..., Any], sql: Path, tmp_path: Path) -> None:
    ended = bench("--version", CURRENT)
    assert ended.code == 0, ended.err
    folder = next((tmp_path / "results").glob(f"v{CURRENT}_*"))
    document = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    assert tuple(document["components"]) == current().engine(CURRENT).components
    assert document["components"]["passage_cosine"] == "active"
    assert document["passages"] == {"count": 48, "distinct": 48}
    arms = [arm["name"] for arm in document["arms"]]
    assert arms == ["pgmnemo", "bm25", "keyword", "vector", "cosine", "random", "plain-bm25"]
    assert document["resources"]["vectors_embedded"] == 39 + 36 + 48
    assert runner.verify(folder, sql=sql).intact
    assert "Passages: 48, of them 48 distinct." in (folder / "report.md").read_text(encoding="utf-8")
    lines = map(json.loads, (folder / "raw_retrievals.jsonl").read_text(encoding="utf-8").splitlines())
    ranks = [rank for line in lines if line["arm"] == "pgmnemo" for rank in line["ranking"][:10]]
    assert len(ranks) > 600
    assert {len(parts) for _, _, parts in ranks} == {len(document["components"])}


def test_an_unregistered_corpus_is_unverified_with_the_flag(
    bench: Callable[..., Any], altered: Callable[..., Path], tmp_path: Path
) -> None:
    data = altered(lambda projects: projects[0]["sessions"][0]["turns"].append("Mira: That is all."))
    ended = bench("--data", data, "--allow-unregistered-corpus")
    assert ended.code == 0
    assert f"the sample, pgmnemo v{CURRENT}: unverified" in ended.out
    [place] = (tmp_path / "results").glob("v*")
    assert "**Unverified: not to be cited.**" in (place / "report.md").read_text()
    assert "- verdict: unverified" in (tmp_path / "results" / "HISTORY.md").read_text()
