"""Intervals and p of a paired difference: what the methods have in common, and their formulas by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import sqrt

import numpy as np
import pytest

from runner.protocol.statistics import bootstrap_difference, difference_interval, score_interval
from runner.protocol.statistics.clusters import Floats, Interval
from runner.protocol.statistics.paired_score import score_p, score_test_input
from runner.protocol.statistics.quantile import t_central, t_quantile

Paired = Callable[..., tuple[Interval, Floats | None]]
TEN = [i % 10 for i in range(300)]


def t_test(values: Floats, clusters: Sequence[object] | None = None) -> tuple[Interval, None]:
    return difference_interval(values, clusters), None


def score(values: Floats, clusters: Sequence[object] | None = None) -> tuple[Interval, Floats]:
    return score_interval(values, clusters), score_p(values, clusters)


def bootstrap(values: Floats, clusters: Sequence[object] | None = None) -> tuple[Interval, Floats]:
    found = bootstrap_difference(values, clusters)
    return found.interval, found.p


METHODS = (t_test, score, bootstrap)


def answers(won: int, lost: int, n: int) -> Floats:
    return np.array([1.0] * won + [-1.0] * lost + [0.0] * (n - won - lost))[:, None]


def drawn() -> Floats:
    return np.random.default_rng(3).choice([-1.0, -0.5, 0.0, 0.0, 0.25, 1.0], (300, 2))


@pytest.mark.parametrize("clusters", [None, TEN])
@pytest.mark.parametrize("method", METHODS)
def test_swapping_the_arms_mirrors_the_interval_and_keeps_p(
    method: Paired, clusters: list[int] | None
) -> None:
    (there, p), (back, same) = method(drawn(), clusters), method(-drawn(), clusters)
    np.testing.assert_allclose([back.low, back.high], [-there.high, -there.low], atol=1e-12)
    assert p is None or np.allclose(p, same)


@pytest.mark.parametrize("method", METHODS)
def test_one_cluster_leaves_everything_open(method: Paired) -> None:
    interval, p = method(np.full((9, 1), 0.5), ["a"] * 9)
    assert (interval.low[0], interval.high[0]) == (-1.0, 1.0)
    assert p is None or p[0] == 1.0


@pytest.mark.parametrize("clusters", [None, TEN])
@pytest.mark.parametrize("method", [score, bootstrap])
def test_p_is_below_five_percent_exactly_where_the_interval_leaves_zero_out(
    method: Paired, clusters: list[int] | None
) -> None:
    for won in range(0, 40, 5):
        interval, p = method(np.random.default_rng(won).permutation(answers(won, 5, 300)), clusters)
        assert p is not None
        assert (p[0] < 0.05) == (interval.low[0] > 0 or interval.high[0] < 0)


@pytest.mark.parametrize(
    ("method", "n", "clusters", "reach"),
    [
        (t_test, 246, None, 0.01123), (t_test, 2000, [i % 10 for i in range(2000)], 0.0016),
        (score, 246, None, 0.01553), (bootstrap, 246, None, 0.01553),  # less than four questions
    ],
)  # fmt: skip
def test_arms_that_agree_everywhere_do_not_claim_certainty(
    method: Paired, n: int, clusters: list[int] | None, reach: float
) -> None:
    interval, p = method(np.zeros((n, 1)), clusters)
    assert interval.high[0] == pytest.approx(reach, abs=5e-5)
    assert interval.low[0] == pytest.approx(-reach, abs=5e-5)
    assert p is None or p[0] == 1.0


def test_unclustered_hits_get_the_adjusted_interval_of_bonett_and_price() -> None:
    won, lost, n = 9, 3, 100
    interval = difference_interval(answers(won, lost, n))
    assert interval.value[0] == pytest.approx((won - lost) / n)
    share = (won + lost + 2) / (n + 2)
    theirs = np.sqrt((share - ((won - lost) / (n + 2)) ** 2) / (n + 2))
    assert interval.high[0] - interval.value[0] == pytest.approx(t_quantile(0.975, n - 1) * theirs, rel=0.01)


def test_the_ends_of_the_score_satisfy_tangos_equation_solved_by_hand() -> None:
    """Of n, b won and c lost, an end d has (b - c - nd)² = t² n (2q + d(1 - d)), with Tango's q."""
    n, b, c = 200, 12, 5
    interval, t = score_interval(answers(b, c, n)), t_quantile(0.975, n - 1)
    for d in (float(interval.low[0]), float(interval.high[0])):
        linear = -b - c + (2 * n - b + c) * d
        q = (sqrt(linear**2 + 8 * n * c * d * (1 - d)) - linear) / (4 * n)
        assert (b - c - n * d) ** 2 == pytest.approx(t**2 * n * (2 * q + d * (1 - d)), rel=1e-9)
    found = score_test_input(answers(b, c, n), None)  # without a true difference it is McNemar's statistic
    assert found.statistic(np.zeros(1))[0] == pytest.approx((b - c) / sqrt(b + c))


@pytest.mark.parametrize("value", [0.5, 1.0])
def test_equal_differences_keep_a_width_and_stay_inside(value: float) -> None:
    interval = score_interval(np.full((246, 1), value), [i % 10 for i in range(246)])
    assert -1 <= interval.low[0] <= value <= interval.high[0] <= 1
    assert 0.001 < interval.high[0] - interval.low[0] < 0.05


def test_differences_that_crowd_into_one_cluster_leave_two_degrees_of_freedom() -> None:
    clusters = [i // 30 for i in range(300)]
    spread = np.concatenate([answers(2, 0, 30) for _ in range(10)])
    found = [score_test_input(values, clusters) for values in (answers(20, 0, 300), spread)]
    assert [one.freedom for one in found if one] == [[2], [9]]
    wide, narrow = (score_interval(values, clusters) for values in (answers(20, 0, 300), spread))
    assert wide.high[0] - wide.low[0] > 3 * (narrow.high[0] - narrow.low[0])


def test_the_bootstrap_gives_the_same_figures_twice_and_another_seed_others() -> None:
    first, again, other = (bootstrap_difference(drawn(), TEN, seed=seed) for seed in (42, 42, 43))
    np.testing.assert_array_equal([first.interval.low, first.p], [again.interval.low, again.p])
    assert (first.interval.low != other.interval.low).any()


@pytest.mark.parametrize("clusters", [None, TEN])
def test_the_bootstrap_is_never_narrower_than_the_t_interval_and_hardly_wider_where_all_is_well(
    clusters: list[int] | None,
) -> None:
    values = np.random.default_rng(3).choice([-1.0, 0.0, 0.0, 0.0, 1.0], (300, 2))
    (mine, _), (t, _) = bootstrap(values, clusters), t_test(values, clusters)
    ratio = (mine.high - mine.low) / (t.high - t.low)
    assert (ratio > 0.99).all()  # the t interval is centred on the same mean
    assert (ratio < 1.5).all()


def test_p_under_no_difference_is_uniform_enough_with_ten_clusters() -> None:
    rng = np.random.default_rng(5)
    clusters = [i % 10 for i in range(1000)]
    tilt = rng.normal(0, 0.02, (10, 1000))[clusters]
    draws = rng.random((1000, 1000))
    null = np.where(draws < 0.1 + tilt, 1.0, np.where(draws > 0.9 + tilt, -1.0, 0.0))
    p = bootstrap_difference(null, clusters, resamples=2000).p
    print(f"\nfalse alarms at 0.05: {(p < 0.05).mean():.3f}, at 0.01: {(p < 0.01).mean():.3f}")
    assert (p < 0.05).mean() <= 0.06
    assert (p < 0.01).mean() <= 0.016


def test_the_probability_within_t_agrees_with_its_quantile_and_with_scipy() -> None:
    for freedom in (1, 2, 9, 100, 101, 245, 1981):
        assert t_central(t_quantile(0.975, freedom), freedom) == pytest.approx(0.95, abs=1e-5)
    stats = pytest.importorskip("scipy.stats")
    for freedom in (1, 9, 245):
        for t in (0.0, 1.0, 6.0):
            assert t_central(t, freedom) == pytest.approx(1 - 2 * stats.t.sf(t, freedom), abs=2e-5)
    with pytest.raises(ValueError, match="no probability"):
        t_central(-1.0, 9)
