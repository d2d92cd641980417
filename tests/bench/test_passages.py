"""An engine of passages, from the corpus to a run that verifies, and its arms beside it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import runner
from runner.protocol.editions import current
from tests.helping import CURRENT


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
