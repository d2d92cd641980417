"""Every results folder of this repository verifies; none is changed once it is there.

Runs whose raw files were taken out of the checkout are held by what they keep, and one of them is restored.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import runner
from runner.history.raw import restore
from runner.runs.history import logged_manifests
from runner.runs.manifest import MANIFEST
from runner.runs.metrics import METRICS
from runner.runs.reading import REPORT, read_results
from runner.runs.run import RUN
from tests.repositories import git

ROOT = Path(__file__).parents[2]
THIN = json.loads((ROOT / "benchmarks" / "raw.json").read_text())  # the commit that has a run's raw files
FOLDERS = sorted(path.parent for path in (ROOT / "benchmarks").glob("*/results/*/manifest.json"))


def is_thin(folder: Path) -> bool:
    return folder.relative_to(ROOT / "benchmarks").as_posix() in THIN


@pytest.mark.parametrize("folder", [one for one in FOLDERS if not is_thin(one)], ids=lambda one: one.name)
def test_committed_results_verify(folder: Path) -> None:
    assert not runner.verify(folder).faults


@pytest.mark.parametrize("folder", [one for one in FOLDERS if is_thin(one)], ids=lambda one: one.name)
def test_what_a_run_without_raw_files_keeps_is_what_it_left(folder: Path) -> None:
    results = read_results(folder, files=(RUN, METRICS, REPORT))
    assert logged_manifests(ROOT / "HISTORY.md", folder.relative_to(ROOT).as_posix()) == (
        results.digest(MANIFEST),
    )
    assert results.names == sorted([RUN, METRICS, REPORT, MANIFEST])


def test_a_run_without_raw_files_is_restored_and_verifies(tmp_path: Path) -> None:
    if git(ROOT, "rev-parse", "--is-shallow-repository") != "false":
        pytest.skip("a shallow clone lacks the commits that have the raw files")
    name = min(THIN)
    git(tmp_path, "clone", "-q", "--shared", "--no-checkout", str(ROOT), "clone")
    clone = tmp_path / "clone"
    git(clone, "checkout", "HEAD", "--", "HISTORY.md", "benchmarks/raw.json", f"benchmarks/{name}")
    assert restore(clone / "benchmarks" / name)
    assert not runner.verify(clone / "benchmarks" / name).faults


@pytest.mark.parametrize("suite", ["sample", "locomo", "longmemeval"])
def test_0_3_1_ranks_as_0_3_0_as_the_readme_says(suite: str) -> None:
    rankings = [
        (ROOT / f"benchmarks/{suite}/results/{name}/raw_retrievals.jsonl").read_bytes()
        for name in ("v0.3.0_20261121_minilm", "v0.3.1_20261121_minilm")
    ]
    assert rankings[0] == rankings[1]
