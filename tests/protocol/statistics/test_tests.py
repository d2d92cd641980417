"""McNemar's test and Holm's correction beside their textbook values."""

import pytest

from pgmnemo.errors import UsageError
from runner.protocol.statistics import holm, mcnemar


@pytest.mark.parametrize(
    ("won", "lost", "expected"),
    [(0, 0, 1.0), (1, 0, 1.0), (5, 5, 1.0), (6, 0, 2 / 64), (9, 1, 22 / 1024), (1, 9, 22 / 1024)],
)
def test_mcnemar_is_twice_the_tail_of_a_fair_coin(won: int, lost: int, expected: float) -> None:
    assert mcnemar(won, lost) == pytest.approx(expected, rel=1e-15)


def test_mcnemar_agrees_with_scipys_binomial_test() -> None:
    stats = pytest.importorskip("scipy.stats")
    for won, lost in ((0, 3), (12, 30), (150, 149), (900, 1000)):
        assert mcnemar(won, lost) == pytest.approx(stats.binomtest(won, won + lost).pvalue, rel=1e-9)


def test_mcnemar_refuses_a_negative_count() -> None:
    with pytest.raises(UsageError, match="-1 and 3"):
        mcnemar(-1, 3)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([], []),
        ([0.04], [0.04]),
        ([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]),  # Wright (1992) and R's p.adjust
        ([0.5, 0.6], [1.0, 1.0]),
        ([0.02, 0.02, 0.02], [0.06, 0.06, 0.06]),
    ],
)
def test_holm_steps_down_and_keeps_the_order(values: list[float], expected: list[float]) -> None:
    assert holm(values) == pytest.approx(expected)


@pytest.mark.parametrize("stray", [-0.1, 1.1, float("nan")])
def test_holm_refuses_what_is_no_p_value(stray: float) -> None:
    with pytest.raises(UsageError, match="between 0 and 1"):
        holm([0.5, stray])
