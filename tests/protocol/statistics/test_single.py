import numpy as np
import pytest

from pgmnemo.errors import UsageError
from runner.protocol.statistics import mean_interval
from runner.protocol.statistics.clusters import Floats
from runner.protocol.statistics.quantile import t_quantile

LOCOMO = [
    name for name, size in enumerate((197, 105, 193, 260, 242, 158, 190, 239, 196, 202)) for _ in range(size)
]


def column(*values: float) -> Floats:
    return np.array(values, dtype=float)[:, None]


def ends(values: Floats, clusters: list[int] | None = None) -> tuple[float, float, float]:
    interval = mean_interval(values, clusters)
    return float(interval.value[0]), float(interval.low[0]), float(interval.high[0])


def test_hits_without_clusters_get_wilsons_interval_of_plain_n() -> None:
    value, low, high = ends(column(*[1] * 8, *[0] * 2))
    t = t_quantile(0.975, 9)
    for end in (low, high):  # Wilson's ends are where the score test just rejects
        assert abs(value - end) == pytest.approx(t * np.sqrt(end * (1 - end) / 10))


@pytest.mark.parametrize("value", [0.0, 1.0, 0.5, 1 / 3])
@pytest.mark.parametrize("clusters", [None, [0, 0, 1, 1, 2, 2]])
def test_equal_values_keep_a_width(value: float, clusters: list[int] | None) -> None:
    mean, low, high = ends(column(*[value] * 6), clusters)
    assert 0 <= low <= mean <= high <= 1
    assert high - low > 0.02


def test_an_end_reaches_0_and_1_exactly_there() -> None:
    assert ends(column(*[1] * 50))[2] == 1.0
    assert ends(column(*[0] * 50))[1] == 0.0
    assert ends(column(*[1] * 49, 0))[2] < 1.0


@pytest.mark.parametrize("clusters", [["a"] * 5, ["a"]])
def test_one_cluster_says_nothing_of_others(clusters: list[str]) -> None:
    interval = mean_interval(np.ones((len(clusters), 1)), clusters)
    assert (interval.low[0], interval.high[0]) == (0.0, 1.0)


def test_misses_are_hits_mirrored() -> None:
    values = np.random.default_rng(5).binomial(1, 0.9, (len(LOCOMO), 1)).astype(float)
    value, low, high = ends(values, LOCOMO)
    assert ends(1 - values, LOCOMO) == pytest.approx((1 - value, 1 - high, 1 - low))


@pytest.mark.parametrize(
    ("rows", "clusters", "sentence"), [(0, None, "no question"), (3, ["a"], "one for each")]
)
def test_refuses_no_question_and_stray_clusters(rows: int, clusters: list[str] | None, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        mean_interval(np.ones((rows, 1)), clusters)
