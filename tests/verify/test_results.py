"""Every results folder of this repository verifies; none is changed once it is there."""

from __future__ import annotations

from pathlib import Path

import pytest

import runner

ROOT = Path(__file__).parents[2]
FOLDERS = sorted(path.parent for path in (ROOT / "benchmarks").glob("*/results/*/manifest.json"))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_committed_results_verify(folder: Path) -> None:
    assert not runner.verify(folder).faults


@pytest.mark.parametrize("suite", ["sample", "locomo", "longmemeval"])
def test_0_3_1_ranks_as_0_3_0_as_the_readme_says(suite: str) -> None:
    rankings = [
        (ROOT / f"benchmarks/{suite}/results/{version}_20261121_minilm/raw_retrievals.jsonl").read_bytes()
        for version in ("v0.3.0", "v0.3.1")
    ]
    assert rankings[0] == rankings[1]
