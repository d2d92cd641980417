"""Honest runs of each kind, as their runner leaves them: none is called damaged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import runner
from runner.verification import CheckStatus

KINDS = {
    "in mode vector, beside what has another, reranked at three":
        "--mode vector --systems rrf,convex+quoted --rerank linear --rerank-depth 3",
    "with more weight for words, of the tenant, and a small pool":
        "--set bm25_weight=2.5 --set pool_depth=10 --set statistics_scope=tenant --systems pgmnemo+names",
    "without a weight for words, reranked deeper than is kept":
        "--set bm25_weight=0 --rerank linear --rerank-depth 100 --beside headline --systems sqlite-fts5",
    "without vectors, of another text, cut short":
        "--embedder none --text user-only --passages 40/10 --max-chars 90 --systems pgmnemo+keyword,bm25s",
    "of another system, of one type in one scope":
        "--system sqlite-fts5 --systems bm25s,bm25s+passages --types multi-hop --scopes pool --k 1,5",
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
