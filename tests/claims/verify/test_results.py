"""Every results folder of this repository verifies; none is changed once it is there."""

from __future__ import annotations

from pathlib import Path

import pytest

import runner

ROOT = Path(__file__).parents[3]
FOLDERS = sorted(path.parent for path in (ROOT / "benchmarks").glob("*/results/*/manifest.json"))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_committed_results_verify(folder: Path) -> None:
    assert not runner.verify(folder).faults
