import numpy as np
import pytest

from runner.protocol.statistics import difference_interval
from runner.protocol.statistics.quantile import t_quantile


def test_unclustered_hits_get_the_adjusted_interval_of_bonett_and_price() -> None:
    won, lost, n = 9, 3, 100
    differences = np.array([1.0] * won + [-1.0] * lost + [0.0] * (n - won - lost))[:, None]
    interval = difference_interval(differences)
    assert interval.value[0] == pytest.approx((won - lost) / n)
    share = (won + lost + 2) / (n + 2)
    theirs = np.sqrt((share - ((won - lost) / (n + 2)) ** 2) / (n + 2))
    assert interval.high[0] - interval.value[0] == pytest.approx(t_quantile(0.975, n - 1) * theirs, rel=0.01)


@pytest.mark.parametrize(
    ("n", "clusters", "reach"), [(246, None, 0.01123), (2000, [i % 10 for i in range(2000)], 0.0016)]
)
def test_arms_that_agree_everywhere_do_not_claim_certainty(
    n: int, clusters: list[int] | None, reach: float
) -> None:
    interval = difference_interval(np.zeros((n, 1)), clusters)
    assert interval.value[0] == 0
    assert interval.high[0] == -interval.low[0] == pytest.approx(reach, abs=5e-5)


def test_pairing_narrows_what_two_separate_intervals_leave_open() -> None:
    rng = np.random.default_rng(1)
    easy = rng.random((500, 1)) < 0.7
    better = easy | (rng.random((500, 1)) < 0.05)
    interval = difference_interval(better * 1.0 - easy * 1.0)
    assert interval.low[0] > 0


def test_swapping_the_arms_mirrors_the_interval() -> None:
    differences = np.random.default_rng(2).choice([-1.0, 0.0, 0.5], (60, 1))
    clusters = [i % 7 for i in range(60)]
    there, back = difference_interval(differences, clusters), difference_interval(-differences, clusters)
    np.testing.assert_allclose([back.value, back.low, back.high], [-there.value, -there.high, -there.low])


def test_one_cluster_leaves_everything_open() -> None:
    interval = difference_interval(np.full((9, 1), 0.5), ["a"] * 9)
    assert (interval.low[0], interval.high[0]) == (-1.0, 1.0)
