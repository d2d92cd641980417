"""What the plots are drawn from agrees with metrics.json, and by hand with small cases."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from runner.records import RankedSegment, Retrieval
from runner.report.formats import figure, percents
from runner.report.html.gold_ranks import FAMILIES, arm_curves, ceiling_curves, first_ranks, ranks_by_scope
from runner.report.html.panels import component_bars
from runner.report.html.plots import CEILING, buckets, names
from runner.report.html.svg import number, ticks


@pytest.mark.parametrize("which", ["locomo", "sample", "large"])
def test_every_curve_goes_through_the_figures_of_metrics_json(
    which: str, request: pytest.FixtureRequest
) -> None:
    run = request.getfixturevalue(which)
    scopes = ranks_by_scope(run.rows)
    whole = [row for row in run.metrics["results"] if (row["view"], row["type"]) == ("all", "all")]
    seen = 0
    for name, scope in scopes.items():
        curves = {arm: arm_curves(scope, arm, 50) for arm in scope.answers} | {
            CEILING: ceiling_curves(scope, 50)
        }
        for row in whole:
            family, _, k = row["metric"].partition("@")
            if row["scope"] == name and family in FAMILIES:
                curve = curves[row["arm"]][family]
                assert curve[int(k) - 1] == pytest.approx(row["value"], abs=1e-9)
                assert f"{percents(curve)[int(k) - 1]:.1f}" == figure(row["metric"], row["value"])
                seen += 1
    assert seen == len(scopes) * (len(scope.answers) + 1) * 15


def retrieval(gold: list[str], ranking: list[RankedSegment], key: str = "q0") -> Retrieval:
    return Retrieval(key, "a", "pgmnemo", "pool", "p", 3, tuple(gold), tuple(ranking))


Bars = Callable[..., tuple[list[Any], int]]


@pytest.fixture
def bars(record: Callable[..., Any]) -> Bars:
    """The bars of some rows, and how many questions they count."""

    def make(rows: list[Retrieval], components: dict[str, str]) -> tuple[list[Any], int]:
        run = record(components=components, guc_state={"pgmnemo.a_weight": "2"})
        return component_bars(run, ranks_by_scope(rows)["pool"], "pgmnemo")

    return make


def test_a_component_alone_orders_the_candidates_anew(bars: Bars) -> None:
    row = retrieval(
        ["x"],
        [
            RankedSegment("y", 3.0, (1.0, 0.2)),
            RankedSegment("x", 2.0, (0.5, 0.9)),
            RankedSegment("z", 1.0, (0.7, 0.1)),
        ],
    )
    (score, a, b), _ = bars([row], {"a": "active", "b": "active"})
    assert "2–3: 100.0 %" in score.plot  # noqa: RUF001
    assert "2–3: 100.0 %" in a.plot  # noqa: RUF001
    assert "1: 100.0 %" in b.plot
    assert (a.words, b.words) == ("× 2", "")  # noqa: RUF001


def test_an_inactive_component_says_why_and_is_not_drawn(bars: Bars) -> None:
    row = retrieval(["x"], [RankedSegment("y", 3.0, (1.0, 0.0)), RankedSegment("x", 2.0, (0.5, 0.0))])
    (*_, b), _ = bars([row], {"a": "active", "b": "inactive: no edges"})
    assert (b.words, b.plot) == ("inactive: no edges", "")


def test_questions_without_gold_or_anything_else_among_the_candidates_do_not_count(
    bars: Bars,
) -> None:
    rows = [
        retrieval(["x"], [RankedSegment("y", 3.0, (1.0,))], "q0"),
        retrieval(["x"], [RankedSegment("x", 3.0, (1.0,))], "q1"),
        retrieval(["x"], [RankedSegment("x", 3.0, (1.0,)), RankedSegment("y", 1.0, (0.5,))], "q2"),
    ]
    assert bars(rows, {"a": "active"})[1] == 1


def test_ranks_fall_into_the_bucket_that_ends_at_or_after_them() -> None:
    assert first_ranks([[3, 1], [0, 7], [0, 0]]) == [1, 7, 0]
    assert buckets([1, 2, 5, 6, 50, 51, 0, 0], [1, 5, 50]) == [1 / 8, 2 / 8, 2 / 8, 3 / 8]
    assert names([1, 5, 50], "no") == ["1", "2–5", "6–50", "no"]  # noqa: RUF001


@pytest.mark.parametrize(
    ("low", "high", "wanted"),
    [(0, 1, ["0", "0.2", "0.4", "0.6", "0.8", "1"]), (-0.3, 0.8, ["−0.2", "0", "0.2", "0.4", "0.6", "0.8"]),  # noqa: RUF001
     (0, 7, ["0", "2", "4", "6"])],
)  # fmt: skip
def test_ticks_are_round_and_within_the_axis(low: float, high: float, wanted: list[str]) -> None:
    assert [number(tick) for tick in ticks(low, high, 6 if low < 0 else 5)] == wanted
