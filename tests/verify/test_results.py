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
        (ROOT / f"benchmarks/{suite}/results/{name}/raw_retrievals.jsonl").read_bytes()
        for name in ("v0.3.0_20261121_minilm", "v0.3.1_20261121_minilm")
    ]
    assert rankings[0] == rankings[1]
