"""Every committed run of an edition that is read here verifies; none is changed once it is there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import runner
from runner.protocol.editions import known

ROOT = Path(__file__).parents[2]
RUNS = sorted(path.parent for path in (ROOT / "benchmarks").glob("*/results/*/run.json"))


def is_read(folder: Path) -> bool:
    return json.loads((folder / "run.json").read_bytes())["protocol"]["version"] in known()


@pytest.mark.parametrize("folder", [one for one in RUNS if is_read(one)], ids=lambda one: one.name)
def test_committed_results_verify(folder: Path) -> None:
    assert not runner.verify(folder).faults
