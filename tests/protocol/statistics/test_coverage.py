"""How often each interval holds the truth, by simulation; `pytest -s` on this file prints the figures.

Clusters are LoCoMo's: ten, of 105 to 260 questions. Each draws its own success probability from a beta
distribution around the truth, with the intra-cluster correlation `rho` (BM25 on LoCoMo's sessions shows
0.007 to 0.010). One column is one simulated benchmark, so a thousand of them are one call.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from runner.protocol.statistics import (
    bootstrap_difference,
    difference_interval,
    mcnemar,
    mean_interval,
    score_interval,
)
from runner.protocol.statistics.clusters import Floats, Interval, by_cluster
from runner.protocol.statistics.quantile import t_quantile

SIZES = (197, 105, 193, 260, 242, 158, 190, 239, 196, 202)
CLUSTERS = [name for name, size in enumerate(SIZES) for _ in range(size)]
RUNS = 800
RHOS = (0.0, 0.01, 0.03, 0.1)
TRUTHS = (0.5, 0.8, 0.93, 0.97, 0.99)

Method = Callable[[Floats], Interval]


def chances(rng: np.random.Generator, truth: float, rho: float) -> Floats:
    """Success probability of each question's cluster, (questions, runs)."""
    if rho == 0:
        return np.full((len(CLUSTERS), RUNS), truth)
    spread = 1 / rho - 1
    drawn: Floats = rng.beta(truth * spread, (1 - truth) * spread, (len(SIZES), RUNS))
    return drawn[CLUSTERS]


def hits(rng: np.random.Generator, truth: float, rho: float) -> Floats:
    return (rng.random((len(CLUSTERS), RUNS)) < chances(rng, truth, rho)).astype(float)


def thirds(rng: np.random.Generator, truth: float, rho: float) -> Floats:
    return rng.binomial(3, chances(rng, truth, rho)) / 3


def clustered(values: Floats) -> Interval:
    return mean_interval(values, CLUSTERS)


def bootstrap(values: Floats) -> Interval:
    """The percentile bootstrap over clusters; one set of 1,000 resamples serves every run."""
    groups = by_cluster(values, CLUSTERS)
    share = np.full(len(SIZES), 1 / len(SIZES))
    weights = np.random.default_rng(0).multinomial(len(SIZES), share, 1000)
    means = (weights @ groups.sums) / (weights @ groups.counts)[:, None]
    low, high = np.quantile(means, (0.025, 0.975), axis=0)
    return Interval(groups.mean, low, high)


def coverage(interval: Interval, truth: float) -> tuple[float, float]:
    """Share of the intervals that hold the truth, and their mean width."""
    slack = 1e-12
    held = (interval.low <= truth + slack) & (truth - slack <= interval.high)
    return float(held.mean()), float((interval.high - interval.low).mean())


def survey(method: Method, draw: Callable[[np.random.Generator, float, float], Floats]) -> Floats:
    """(coverage, width, width of a t interval that knows the variance) by rho and truth."""
    rng = np.random.default_rng(42)
    return np.array([[row(rng, method, draw, rho, truth) for truth in TRUTHS] for rho in RHOS])


def row(
    rng: np.random.Generator,
    method: Method,
    draw: Callable[[np.random.Generator, float, float], Floats],
    rho: float,
    truth: float,
) -> tuple[float, float, float]:
    values = draw(rng, truth, rho)
    known = 2 * t_quantile(0.975, len(SIZES) - 1) * float(values.mean(axis=0).std())
    return (*coverage(method(values), truth), known)


def show(name: str, found: Floats) -> None:
    print(f"\n{name}\n  rho   " + "".join(f"   p={truth:<12}" for truth in TRUTHS) + "(coverage / width)")
    for rho, line in zip(RHOS, found, strict=True):
        print(f"  {rho:<6}" + "".join(f"   {c:.3f} / {w:.4f}" for c, w, _ in line))


@pytest.mark.parametrize("draw", [hits, thirds])
def test_ten_unequal_clusters_are_covered_from_one_half_to_nearly_one(
    draw: Callable[[np.random.Generator, float, float], Floats],
) -> None:
    found = survey(clustered, draw)
    show(f"Wilson t on the effective sample size, {draw.__name__}", found)
    assert found[..., 0].min() >= 0.92  # 0.93 less the noise of 800 runs
    assert found[..., 0].mean() >= 0.95


def test_the_price_is_a_bearable_width() -> None:
    found = survey(clustered, hits)
    ratio = found[..., 1] / found[..., 2]
    print("\nwidth over that of a t interval that knows the variance, by rho and p:\n", ratio.round(2))
    assert ratio[RHOS.index(0.01)].mean() < 1.4
    assert ratio.max() < 3  # no correlation at all, and 20 misses


@pytest.mark.parametrize("n", [5, 30, 100, 500])
@pytest.mark.parametrize("levels", [1, 3])
def test_without_clusters_hits_and_fractions_are_covered(n: int, levels: int) -> None:
    rng = np.random.default_rng(7)
    found = [
        coverage(mean_interval(rng.binomial(levels, p, (n, 4000)) / levels), p)[0] for p in (0.5, 0.8, 0.95)
    ]
    print(f"\nunclustered, n={n}, values in {levels + 1} steps: {found}")
    assert min(found) >= 0.93


def discordant(rng: np.random.Generator, won: float, lost: float, rho: float) -> Floats:
    """Differences of 1, -1 and 0, their shares drawn anew for each cluster from a Dirichlet distribution."""
    shares = np.array([won, lost, 1 - won - lost])
    parts = np.broadcast_to(shares, (len(SIZES), RUNS, 3))
    if rho > 0:
        gammas = rng.standard_gamma(parts * (1 / rho - 1))
        parts = gammas / gammas.sum(axis=2, keepdims=True)
    draws: NDArray[np.float64] = rng.random((len(CLUSTERS), RUNS))
    first, second = parts[CLUSTERS, :, 0], parts[CLUSTERS, :, 1]
    return np.where(draws < first, 1.0, np.where(draws < first + second, -1.0, 0.0))


def t_interval(differences: Floats, clusters: list[int] | None = None) -> Interval:
    return difference_interval(differences, clusters)


def score(differences: Floats, clusters: list[int] | None = None) -> Interval:
    return score_interval(differences, clusters)


def studentised(differences: Floats, clusters: list[int] | None = None) -> Interval:
    """The interval of `compare`, with fewer resamples than in use."""
    return bootstrap_difference(differences, clusters, resamples=2000).interval


Paired = Callable[..., Interval]
EFFECTS = (
    (0.002, 0.001),
    (0.01, 0.01),
    (0.02, 0.005),
    (0.03, 0.0),
    (0.1, 0.05),
)  # shares of questions won and lost


def paired_row(method: Paired, rho: float) -> list[tuple[float, float, float]]:
    """(coverage, width, spread of the estimate) for each effect."""
    rng, found = np.random.default_rng(11), []
    for won, lost in EFFECTS:
        interval = method(discordant(rng, won, lost, rho), CLUSTERS)
        found.append((*coverage(interval, won - lost), float(interval.value.std())))
    cells = "".join(f"   {c:.3f} / {w:.4f}" for c, w, _ in found)
    print(f"\npaired, {method.__name__}, rho={rho}: {cells}  (coverage / width)", end="")
    return found


@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize("method", [score, studentised])
def test_paired_differences_over_clusters_are_covered(method: Paired, rho: float) -> None:
    """At rho = 0.1 too, where most of what differs stands in one or two of the ten clusters."""
    assert min(held for held, _, _ in paired_row(method, rho)) >= 0.935  # 0.95 less the noise of 800 runs


def test_the_price_is_bearable_at_the_correlation_of_real_runs() -> None:
    ratios = [
        found[1] / known[1]
        for found, known in zip(paired_row(score, 0.01), paired_row(t_interval, 0.01), strict=True)
    ]
    assert max(ratios[1:]) < 1.4  # the first has six questions that differ
    assert ratios[-1] < 1.1


@pytest.mark.parametrize("method", [t_interval, score, studentised])
@pytest.mark.parametrize("n", [36, 246])
def test_paired_differences_without_clusters_are_covered(method: Paired, n: int) -> None:
    rng = np.random.default_rng(13)
    for won, lost in ((0.01, 0.0), (0.03, 0.01), (0.1, 0.05)):
        draws = rng.random((n, 1500))
        differences = np.where(draws < won, 1.0, np.where(draws < won + lost, -1.0, 0.0))
        held, width = coverage(method(differences), won - lost)
        print(f"\npaired, {method.__name__}, n={n}, won {won}, lost {lost}: {held:.3f} / {width:.4f}")
        assert held >= 0.93


def test_differences_of_reciprocal_ranks_are_covered_too() -> None:
    rng = np.random.default_rng(17)
    shift = rng.normal(0.01, 0.02, (len(SIZES), RUNS))[CLUSTERS]
    moved = rng.random((len(CLUSTERS), RUNS)) < 0.2
    steps = rng.choice(np.array([-0.5, -0.25, 0.25, 0.5]), (len(CLUSTERS), RUNS))
    differences = np.where(moved, steps, 0.0) + shift
    for method in (score, studentised):
        held, width = coverage(method(differences, CLUSTERS), 0.01)
        print(f"\npaired, {method.__name__}, reciprocal ranks: {held:.3f} / {width:.4f}")
        assert held >= 0.93


def test_mcnemar_calls_a_difference_where_clusters_alone_make_one() -> None:
    """Why no verdict rests on it: it takes the questions of a conversation for independent."""
    rng = np.random.default_rng(19)
    for rho in (0.0, 0.01, 0.03):
        moves = discordant(rng, 0.03, 0.03, rho)
        won, lost = (moves > 0).sum(axis=0), (moves < 0).sum(axis=0)
        exact = np.array([mcnemar(int(w), int(x)) for w, x in zip(won, lost, strict=True)])
        mine = bootstrap_difference(moves, CLUSTERS, resamples=2000).p
        alarms = float((exact < 0.05).mean()), float((mine < 0.05).mean())
        print(
            f"\nfalse alarms, rho={rho}: McNemar {alarms[0]:.3f}, studentised bootstrap {alarms[1]:.3f}",
            end="",
        )
        assert alarms[1] <= 0.06
        assert alarms[0] <= 0.06 if rho == 0 else alarms[0] > 0.1
