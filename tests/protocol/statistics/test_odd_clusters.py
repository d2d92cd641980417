"""What the intervals hold when clusters are not alike: an odd one in ten, and few of them.

`pytest -s` on this file prints the figures of statistics.md. A conversation is odd with a chance of one in
ten; in an odd one a question is hit 30 points less often. The truth is the mean over all that could be.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from runner.protocol.statistics import mean_interval
from runner.protocol.statistics.clusters import Floats

DOCUMENT = (Path(__file__).parents[3] / "docs" / "explanation" / "statistics.md").read_text(encoding="utf-8")
RUNS = 800
SIZES = {  # questions of each cluster: LoCoMo's conversations, BEAM's chats, LifeBench's persons
    "ten": (197, 105, 193, 260, 242, 158, 190, 239, 196, 202),
    "twenty": (10,) * 20,
    "four": (186,) * 4,
}
SHIFT, SHARE = 0.3, 0.1


def simulated(sizes: tuple[int, ...], usual: float, rho: float, shift: float, share: float) -> float:
    """Share of simulated benchmarks whose interval holds the truth."""
    rng = np.random.default_rng(7)
    odd = rng.random((len(sizes), RUNS)) < share
    center = np.where(odd, usual - shift, usual)
    spread = 1 / rho - 1 if rho else np.inf
    chance: Floats = rng.beta(center * spread, (1 - center) * spread) if rho else center
    clusters = [name for name, size in enumerate(sizes) for _ in range(size)]
    values = (rng.random((len(clusters), RUNS)) < chance[clusters]).astype(float)
    interval = mean_interval(values, clusters)
    truth = usual - share * shift
    return float(((interval.low <= truth) & (truth <= interval.high)).mean())


def row(name: str, usual: float) -> str:
    """A row of the document's table: coverage of clusters that are alike, then with an odd one in ten."""
    cells = [
        " / ".join(f"{100 * simulated(SIZES[name], usual, rho, shift, share):.1f}" for rho in (0.01, 0.1))
        for shift, share in ((0.0, 0.0), (SHIFT, SHARE))
    ]
    return f"| {name} | {usual} | {cells[0]} | {cells[1]} |"


@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize("usual", [0.8, 0.93, 0.97])
def test_the_document_has_the_coverage_of_clusters_that_are_not_alike(
    name: str, usual: float, capsys: pytest.CaptureFixture[str]
) -> None:
    with capsys.disabled():
        print(f"\n{row(name, usual)}", end="")
    assert row(name, usual) in DOCUMENT


def test_an_odd_cluster_in_ten_costs_coverage() -> None:
    alike = simulated(SIZES["ten"], 0.93, 0.1, 0.0, 0.0)
    assert simulated(SIZES["ten"], 0.93, 0.1, SHIFT, SHARE) < alike - 0.01


@pytest.mark.parametrize(("clusters", "floor"), [(10, 0.00195), (4, 0.125), (2, 0.5)])
def test_the_smallest_p_of_flipped_signs(clusters: int, floor: float) -> None:
    """Every cluster favours one run: of all 2 ** clusters flips of signs two are as extreme."""
    signs = np.array(np.meshgrid(*[[-1, 1]] * clusters)).reshape(clusters, -1)
    extreme = np.abs(signs.sum(axis=0)) >= clusters
    assert extreme.mean() == pytest.approx(floor, rel=0.01)
