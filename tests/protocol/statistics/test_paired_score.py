"""The score interval of a difference: Tango's on whole questions, and what it does at the edges."""

from math import sqrt

import numpy as np
import pytest

from runner.protocol.statistics import score_interval
from runner.protocol.statistics.clusters import Floats
from runner.protocol.statistics.paired_score import evidence, score_p
from runner.protocol.statistics.quantile import t_quantile


def answers(won: int, lost: int, n: int) -> Floats:
    return np.array([1.0] * won + [-1.0] * lost + [0.0] * (n - won - lost))[:, None]


def test_its_ends_satisfy_tangos_equation_solved_by_hand() -> None:
    """Of n, b won and c lost, an end d has (b - c - nd)² = t² n (2q + d(1 - d)), with Tango's q."""
    n, b, c = 200, 12, 5
    interval, t = score_interval(answers(b, c, n)), t_quantile(0.975, n - 1)
    for d in (float(interval.low[0]), float(interval.high[0])):
        linear = -b - c + (2 * n - b + c) * d
        q = (sqrt(linear**2 + 8 * n * c * d * (1 - d)) - linear) / (4 * n)
        assert (b - c - n * d) ** 2 == pytest.approx(t**2 * n * (2 * q + d * (1 - d)), rel=1e-9)


def test_without_a_true_difference_it_is_mcnemars_statistic() -> None:
    found = evidence(answers(12, 5, 200), None)
    assert found is not None
    assert found.statistic(np.zeros(1))[0] == pytest.approx((12 - 5) / sqrt(12 + 5))


@pytest.mark.parametrize("clusters", [None, [i % 10 for i in range(300)]])
def test_swapping_the_arms_mirrors_it(clusters: list[int] | None) -> None:
    values = np.random.default_rng(3).choice([-1.0, -0.5, 0.0, 0.0, 0.25, 1.0], (300, 3))
    there, back = score_interval(values, clusters), score_interval(-values, clusters)
    np.testing.assert_allclose(back.low, -there.high, atol=1e-12)
    np.testing.assert_allclose(score_p(values, clusters), score_p(-values, clusters))


@pytest.mark.parametrize("clusters", [None, [i % 10 for i in range(300)]])
def test_p_is_below_five_percent_exactly_where_it_leaves_zero_out(clusters: list[int] | None) -> None:
    for won in range(0, 40, 3):
        values = np.random.default_rng(won).permutation(answers(won, 5, 300))
        interval = score_interval(values, clusters)
        outside = interval.low[0] > 0 or interval.high[0] < 0
        assert (score_p(values, clusters)[0] < 0.05) == outside


@pytest.mark.parametrize("value", [0.0, 0.5, 1.0, -1.0])
def test_equal_differences_keep_a_width_and_stay_inside(value: float) -> None:
    interval = score_interval(np.full((246, 1), value), [i % 10 for i in range(246)])
    assert -1 <= interval.low[0] <= value <= interval.high[0] <= 1
    assert 0.001 < interval.high[0] - interval.low[0] < 0.05


def test_arms_that_agree_everywhere_allow_for_fewer_than_four_questions() -> None:
    interval = score_interval(np.zeros((246, 1)))
    assert interval.high[0] == pytest.approx(0.01553, abs=5e-5)
    assert interval.low[0] == pytest.approx(-0.01553, abs=5e-5)
    assert interval.high[0] * 246 < 4


def test_differences_that_crowd_into_one_cluster_leave_two_degrees_of_freedom() -> None:
    crowded = answers(20, 0, 300)
    clusters = [i // 30 for i in range(300)]
    spread = np.concatenate([answers(2, 0, 30) for _ in range(10)])
    found = [evidence(values, clusters) for values in (crowded, spread)]
    assert [one.freedom for one in found if one] == [[2], [9]]
    wide, narrow = (score_interval(values, clusters) for values in (crowded, spread))
    assert wide.high[0] - wide.low[0] > 3 * (narrow.high[0] - narrow.low[0])


def test_one_cluster_leaves_everything_open() -> None:
    values = np.full((9, 1), 0.5)
    interval = score_interval(values, ["a"] * 9)
    assert (interval.low[0], interval.high[0], score_p(values, ["a"] * 9)[0]) == (-1.0, 1.0, 1.0)
