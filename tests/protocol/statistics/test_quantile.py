import pytest

from runner.protocol.statistics.quantile import t_quantile


@pytest.mark.parametrize(
    ("freedom", "expected"),
    [(1, 12.7062047), (2, 4.3026527), (3, 3.1824463), (9, 2.2621572), (30, 2.0422725), (120, 1.9799304)],
)
def test_agrees_with_printed_tables(freedom: int, expected: float) -> None:
    assert t_quantile(0.975, freedom) == pytest.approx(expected, abs=5e-8)


def test_agrees_with_scipy_on_both_sides_of_the_switch_to_the_expansion() -> None:
    stats = pytest.importorskip("scipy.stats")
    for freedom in [*range(1, 130), 500, 1981]:
        for probability in (0.025, 0.6, 0.95, 0.975, 0.995):
            expected = stats.t.ppf(probability, freedom)
            assert t_quantile(probability, freedom) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("probability", "freedom"), [(0, 3), (1, 3), (float("nan"), 3), (0.975, 0)])
def test_refuses_what_has_no_quantile(probability: float, freedom: int) -> None:
    with pytest.raises(ValueError, match="no t quantile"):
        t_quantile(probability, freedom)
