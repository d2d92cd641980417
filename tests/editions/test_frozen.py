"""An edition is frozen by the first run that is committed under it."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.editions import edition
from runner.places import ROOT
from runner.runs.reading import Results

UNNAMED = {  # runs of these name the hash of PROTOCOL.md alone; that of edition.toml stands here
    "1.1.0": "71f3edbce7309242da143a1cecc368db0a21f9edf70a14a9d4314f19afe41b39",
    "1.2.0": "fc49ff70abc80dff20762979f425ae807c4c64fdf78e33b97a0d9e3ad7a67a30",
}


def committed() -> list[Path]:
    return [path.parent for path in sorted((ROOT / "benchmarks").glob("*/results/*/manifest.json"))]


@pytest.mark.parametrize("folder", committed(), ids=lambda folder: f"{folder.parts[-3]}-{folder.name}")
def test_the_edition_of_a_committed_run_is_to_the_byte_what_it_was(folder: Path) -> None:
    named = Results(folder).run.protocol
    pins = edition(named.version)
    assert pins.sha256 == named.sha256
    assert pins.pins_sha256 == (named.pins_sha256 or UNNAMED[named.version])
