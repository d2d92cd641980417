"""docs/explanation/statistics.md speaks of the methods in use and prints what the simulations print."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from runner.protocol.metrics import DIFFERENCES, interval_methods
from runner.protocol.statistics.bootstrap import RESAMPLES, SEED

ROOT = Path(__file__).parents[3]
DOCUMENT = (ROOT / "docs" / "explanation" / "statistics.md").read_text()


@pytest.mark.parametrize("kind", ["value", "difference"])
@pytest.mark.parametrize("version", DIFFERENCES)
def test_the_methods_bear_the_names_that_metrics_json_gives_them(kind: str, version: str) -> None:
    name = interval_methods(clustered=False, version=version)[kind].partition(",")[0]
    assert f"| {name} |" in DOCUMENT


def test_the_bootstraps_constants_are_those_in_use() -> None:
    assert f"{RESAMPLES:,} times from seed {SEED}" in DOCUMENT


def test_every_command_names_a_test_file() -> None:
    files = re.findall(r"pytest (\S+)", DOCUMENT)
    assert len(files) == 4
    assert all((ROOT / file).is_file() for file in files)
