"""The same command gives the same bytes."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

RAW = "raw_retrievals.jsonl"


def folders(base: Path) -> list[Path]:
    return sorted(base.glob("v*"), key=lambda place: place.stat().st_mtime)


def test_two_runs_of_the_sample_give_the_same_bytes(bench: Callable[..., Any], tmp_path: Path) -> None:
    assert [bench().code, bench().code] == [0, 0]
    one, other = folders(tmp_path / "results")
    assert (one / RAW).read_bytes() == (other / RAW).read_bytes()
    figures = [json.loads((place / "metrics.json").read_bytes()) for place in (one, other)]
    assert figures[0] == figures[1]
    value = {(row["arm"], row["scope"], row["metric"]): row["value"]
             for row in figures[0]["results"] if (row["view"], row["type"]) == ("all", "all")}  # fmt: skip
    for scope, metric in product(("conversation", "pool"), ("recall_any@5", "recall_any@10", "MRR@50")):
        legs = [value[arm, scope, metric] for arm in ("bm25", "cosine")]
        assert value["pgmnemo", scope, metric] >= max(legs)


def test_two_runs_of_locomo_give_the_same_bytes(
    cli: Callable[..., Any], server: Any, locomo_path: Path, tmp_path: Path
) -> None:
    """And of six arms, four with components, they take little room: 34 MB if all 1,982 were asked."""
    words = ["--data", locomo_path, "--embedder", "hash", "--limit", 40, "--cache", tmp_path / "cache"]
    for database in (["--dsn", server.dsn()], []):  # a database that was used before, and a fresh one
        ended = cli("locomo", "--quiet", *words, *database, "--output", tmp_path / "results")
        assert ended.code == 0, ended.err
    one, other = folders(tmp_path / "results")
    assert (one / RAW).read_bytes() == (other / RAW).read_bytes()
    fixed = sum(path.stat().st_size for path in one.iterdir() if path.name != RAW)
    assert fixed + 1982 / 40 * (one / RAW).stat().st_size < 36e6
