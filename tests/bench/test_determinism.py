"""The same command gives the same bytes, and its figures follow from the raw rankings alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runner.metrics.document import metrics_of
from runner.runs.raw import read_raw
from runner.runs.reading import read_results
from tests.helping import CURRENT

RAW = "raw_retrievals.jsonl"


def folders(base: Path) -> list[Path]:
    return sorted(base.glob("v*"), key=lambda place: place.stat().st_mtime)


def test_two_runs_of_the_sample_give_the_same_bytes(bench: Callable[..., Any], tmp_path: Path) -> None:
    assert [bench().code, bench().code] == [0, 0]
    one, other = folders(tmp_path / "results")
    assert (one / RAW).read_bytes() == (other / RAW).read_bytes()
    figures = [json.loads((place / "metrics.json").read_bytes()) for place in (one, other)]
    assert figures[0] == figures[1]


def test_two_runs_of_locomo_give_the_same_bytes(
    cli: Callable[..., Any], server: Any, locomo_path: Path, tmp_path: Path
) -> None:
    words = ["--data", locomo_path, "--embedder", "hash", "--limit", 100, "--cache", tmp_path / "cache"]
    for database in (["--dsn", server.dsn()], []):  # a database that was used before, and a fresh one
        ended = cli("locomo", "--quiet", *words, *database, "--output", tmp_path / "results")
        assert ended.code == 0, ended.err
    one, other = folders(tmp_path / "results")
    assert (one / RAW).read_bytes() == (other / RAW).read_bytes()


def test_the_figures_follow_from_the_raw_file_alone(bench: Callable[..., Any], tmp_path: Path) -> None:
    bench()
    [place] = folders(tmp_path / "results")
    document = json.loads((place / "metrics.json").read_bytes())
    wanted = metrics_of(read_results(place).run, list(read_raw(place / RAW)))
    assert document == json.loads(json.dumps(wanted))


@pytest.mark.parametrize("metric", ["recall_any@5", "recall_any@10", "MRR@50"])
def test_on_the_sample_both_legs_together_are_not_below_either(
    metric: str, sample_figures: dict[tuple[str, str, str], float]
) -> None:
    for scope in ("conversation", "pool"):
        legs = [sample_figures[arm, scope, metric] for arm in ("bm25", "cosine")]
        assert sample_figures["pgmnemo", scope, metric] >= max(legs)


@pytest.fixture(scope="module")
def made() -> dict[tuple[str, str, str], float]:
    return {}


@pytest.fixture
def sample_figures(
    made: dict[tuple[str, str, str], float], bench: Callable[..., Any], tmp_path: Path
) -> dict[tuple[str, str, str], float]:
    """Value of each arm, scope and metric over all questions of the sample."""
    if not made:
        bench()
        [place] = folders(tmp_path / "results")
        rows = json.loads((place / "metrics.json").read_bytes())["results"]
        made.update({(row["arm"], row["scope"], row["metric"]): row["value"]
                     for row in rows if (row["view"], row["type"]) == ("all", "all")})  # fmt: skip
    return made


@pytest.mark.parametrize(
    ("version", "megabytes"),
    [
        pytest.param("v0.2.1", 16, id="0.2.1: four arms, five components"),
        pytest.param(f"v{CURRENT}", 28, id="the current one: six arms, of four the components"),
    ],
)
def test_locomo_takes_little_room(
    version: str, megabytes: float, cli: Callable[..., Any], server: Any, locomo_path: Path, tmp_path: Path
) -> None:
    """A tenth of the questions, with vectors, in a tenth of the room."""
    words = [
        "--version",
        version,
        "--data",
        locomo_path,
        "--embedder",
        "hash",
        "--limit",
        198,
        "--cache",
        tmp_path / "cache",
    ]
    assert cli("locomo", "--quiet", *words, "--dsn", server.dsn(), "--output", tmp_path / "results").code == 0
    [place] = folders(tmp_path / "results")
    fixed = sum(path.stat().st_size for path in place.iterdir() if path.name != RAW)
    assert fixed + 1982 / 198 * (place / RAW).stat().st_size < megabytes * 1e6
