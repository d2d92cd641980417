"""The development split of LongMemEval-S is blocked by its hash, and unverified with the flag."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any


def test_the_development_split_is_blocked(
    cli: Callable[..., Any], server: Any, longmemeval_path: Path, tmp_path: Path
) -> None:
    words = (
        "longmemeval",
        "--quiet",
        "--embedder",
        "none",
        "--data",
        longmemeval_path,
        "--dsn",
        server.dsn(),
    )
    ended = cli(*words, "--output", tmp_path)
    assert ended.code == 1
    what = "which is the 246-item development split of LongMemEval-S; shape: 246 projects instead of 500"
    assert ended.sentence.startswith("blocked: 2 gates failed (dataset: sha256 1b6e84ec6f26")
    assert what in ended.sentence
    report = next(tmp_path.glob("v*/BLOCKED.md")).read_text()
    assert "--allow-unregistered-corpus" in report
    assert not list(tmp_path.glob("v*/metrics.json"))
    ended = cli(*words, "--dry-run", "--allow-unregistered-corpus")
    assert ended.code == 0
    assert "the verdict would be unverified" in ended.out
