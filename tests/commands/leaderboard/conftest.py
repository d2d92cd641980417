"""Five runs of the sample that were made without a database, and a `verify` that knows their extension."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

from runner.verification import verify


@pytest.fixture(scope="session")
def base(finish: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three runs that are alike, one with other questions; one blocked, one with a changed figure."""
    place = tmp_path_factory.mktemp("board") / "results"
    for name, options in {
        "good": {}, "fair": {"minimum": 5}, "poor": {"minimum": 12}, "short": {"limit": 12},
    }.items():  # fmt: skip
        finish(place / name, **options)
    shutil.copytree(place / "fair", place / "spoiled")
    [spoiled] = (place / "spoiled").glob("v*")
    report = spoiled / "report.md"
    report.write_text(report.read_text().replace("0.", "1.", 1))
    (place / "blocked" / "v0.2.1_20261121_hash").mkdir(parents=True)
    (place / "blocked" / "v0.2.1_20261121_hash" / "BLOCKED.md").write_text("# BLOCKED")
    return place


@pytest.fixture(scope="session")
def check(base: Path, finish: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Any:
    """`verify`, with the list of releases that knows these runs' extension, whose seconds are made up too."""
    return cache(partial(verify, sql=finish(tmp_path_factory.mktemp("other")).sql))
