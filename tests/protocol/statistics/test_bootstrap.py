import numpy as np
import pytest

from runner.protocol.statistics import bootstrap_difference, difference_interval
from runner.protocol.statistics.clusters import Floats
from runner.protocol.statistics.quantile import t_central, t_quantile


def answers(n: int = 300, seed: int = 3) -> Floats:
    return np.random.default_rng(seed).choice([-1.0, 0.0, 0.0, 0.0, 1.0], (n, 2))


def test_two_calls_give_the_same_figures_and_another_seed_others() -> None:
    clusters = [i % 10 for i in range(300)]
    first, again, other = (bootstrap_difference(answers(), clusters, seed=seed) for seed in (42, 42, 43))
    np.testing.assert_array_equal([first.interval.low, first.p], [again.interval.low, again.p])
    assert (first.interval.low != other.interval.low).any()


def test_swapping_the_arms_mirrors_the_interval_and_keeps_p() -> None:
    clusters = [i % 10 for i in range(300)]
    there, back = (bootstrap_difference(sign * answers(), clusters) for sign in (1, -1))
    np.testing.assert_allclose(back.interval.low, -there.interval.high)
    np.testing.assert_allclose(back.p, there.p)


@pytest.mark.parametrize("clusters", [None, [i % 10 for i in range(300)]])
def test_it_is_never_narrower_than_the_t_interval_and_hardly_wider_where_all_is_well(
    clusters: list[int] | None,
) -> None:
    mine, t = bootstrap_difference(answers(), clusters).interval, difference_interval(answers(), clusters)
    ratio = (mine.high - mine.low) / (t.high - t.low)
    assert (ratio > 0.99).all()  # the t interval is centred on the same mean
    assert (ratio < 1.5).all()


@pytest.mark.parametrize("clusters", [None, [i % 10 for i in range(300)]])
def test_p_is_below_five_percent_exactly_where_the_interval_leaves_zero_out(
    clusters: list[int] | None,
) -> None:
    for won in range(0, 40, 3):
        differences = np.array([1.0] * won + [-1.0] * 5 + [0.0] * (295 - won))[:, None]
        differences = np.random.default_rng(won).permutation(differences)
        found = bootstrap_difference(differences, clusters)
        outside = found.interval.low[0] > 0 or found.interval.high[0] < 0
        assert (found.p[0] < 0.05) == outside


def test_arms_that_agree_everywhere_keep_a_width_and_a_p_of_one() -> None:
    found = bootstrap_difference(np.zeros((246, 1)))
    assert found.interval.high[0] == pytest.approx(0.01553, abs=5e-5)
    assert found.interval.low[0] == pytest.approx(-0.01553, abs=5e-5)
    assert found.p[0] == 1.0


def test_one_cluster_leaves_everything_open() -> None:
    found = bootstrap_difference(np.full((9, 1), 0.5), ["a"] * 9)
    assert (found.interval.low[0], found.interval.high[0], found.p[0]) == (-1.0, 1.0, 1.0)


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
    for freedom in (1, 9, 35, 245):
        for t in (0.0, 0.3, 1.0, 2.5, 6.0):
            assert t_central(t, freedom) == pytest.approx(1 - 2 * stats.t.sf(t, freedom), abs=2e-5)
    with pytest.raises(ValueError, match="no probability"):
        t_central(-1.0, 9)
