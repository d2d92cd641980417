"""The table of several runs beside one another, in this repository's README."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools"))

from side_by_side import LEGEND, main  # noqa: E402

RUN = "v0.4.0_20261122_minilm_side-by-side"


@pytest.fixture
def lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, list[str]]:
    """The cells of each system on BEAM, on part of which 0.4.0 was tuned, and on REALTALK."""
    folders = [str(ROOT / "benchmarks" / suite / "results" / RUN) for suite in ("beam", "realtalk")]
    assert main([str(tmp_path / "plot.svg"), *folders]) == 0
    out = capsys.readouterr().out
    assert out.rstrip().endswith(LEGEND)
    rows = (line.split("|")[1:-1] for line in out.splitlines() if line.startswith("|"))
    return {name.strip(): [cell.strip() for cell in cells] for name, *cells in rows}


def test_a_figure_of_a_corpus_that_a_system_was_tuned_on_is_marked(lines: dict[str, list[str]]) -> None:
    marked = {name: [cell.endswith("‡") for cell in cells] for name, cells in lines.items()}
    assert marked["pgmnemo"] == [True, False, False]  # BEAM, REALTALK, p50
    assert marked["pgmnemo@0.3.1"] == [False, False, False]
    assert not any(any(cells) for name, cells in marked.items() if name != "pgmnemo")
