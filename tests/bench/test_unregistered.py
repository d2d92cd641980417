"""A corpus that is not registered is blocked, as the development split of LongMemEval-S is, or unverified."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.helping import CURRENT


def test_the_development_split_is_blocked(
    cli: Callable[..., Any], server: Any, longmemeval_path: Path, tmp_path: Path
) -> None:
    words = ("--quiet", "--embedder", "none", "--data", longmemeval_path, "--dsn", server.dsn())
    ended = cli("longmemeval", *words, "--output", tmp_path)
    assert ended.code == 1
    what = "which is the 246-item development split of LongMemEval-S; shape: 246 projects instead of 500"
    assert ended.sentence.startswith("blocked: 2 gates failed (dataset: sha256 1b6e84ec6f26")
    assert what in ended.sentence
    report = next(tmp_path.glob("v*/BLOCKED.md")).read_text()
    assert "--allow-unregistered-corpus" in report
    assert not list(tmp_path.glob("v*/metrics.json"))


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
