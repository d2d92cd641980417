"""The decision table, row by row, and the document that states it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from runner.commands.compare.comparison import CONDITIONS
from runner.commands.compare.rows import (
    LEVEL,
    RANK_BAND,
    RECALL_BAND,
    ComparisonFinding,
    DifferenceRow,
    Hypothesis,
    band,
    decide_comparison,
    decide_metric,
    dropped_rows,
)
from runner.protocol.editions import current
from runner.protocol.statistics.bootstrap import RESAMPLES, SEED

DOCUMENT = (Path(__file__).parents[3] / "docs" / "howto" / "compare.md").read_text()
ROW = DifferenceRow("pool", "all", "all", "recall_any@5", 0.9, 0.9, 0.0, 0.0, 0.0, 1.0, 3, 2, 1.0, 500, 0)


def moved(difference: float, low: float, high: float) -> DifferenceRow:
    return replace(ROW, difference=difference, ci95_low=low, ci95_high=high)


@pytest.mark.parametrize(
    ("difference", "low", "high", "p", "expected"),
    [
        (0.03, 0.001, 0.059, 0.04, ComparisonFinding.IMPROVED),
        (0.03, 0.001, 0.059, 0.06, ComparisonFinding.INCONCLUSIVE),  # Holm does not let it stand
        (
            0.008,
            0.002,
            0.014,
            0.01,
            ComparisonFinding.INCONCLUSIVE,
        ),  # shown, but perhaps no more than the band
        (0.004, 0.001, 0.007, 0.01, ComparisonFinding.EQUIVALENT),  # shown, and within the band
        (0.0, -0.01, 0.01, 1.0, ComparisonFinding.EQUIVALENT),
        (0.0, -0.011, 0.011, 1.0, ComparisonFinding.INCONCLUSIVE),  # too few questions to show equality
        (-0.03, -0.059, -0.001, 0.04, ComparisonFinding.REGRESSED),
    ],
)
def test_one_metric(
    difference: float, low: float, high: float, p: float, expected: ComparisonFinding
) -> None:
    assert decide_metric(moved(difference, low, high), p, 0.01) is expected


def test_where_no_question_moved_there_is_nothing_to_estimate() -> None:
    assert (
        decide_metric(replace(moved(0.0, -0.2, 0.2), won=0, lost=0), 1.0, 0.01)
        is ComparisonFinding.EQUIVALENT
    )


def member(word: ComparisonFinding, difference: float = 0.0) -> Hypothesis:
    return Hypothesis(moved(difference, -1.0, 1.0), 0.5, 0.01, word)


I, E, R, N = (  # noqa: E741
    ComparisonFinding.IMPROVED,
    ComparisonFinding.EQUIVALENT,
    ComparisonFinding.REGRESSED,
    ComparisonFinding.INCONCLUSIVE,
)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((I, E, R), R), ((R, N), R), ((I, E, E), I), ((I, N), I), ((E, E), E), ((E, N), N), ((), N),
    ],
)  # fmt: skip
def test_the_whole_comparison(words: tuple[ComparisonFinding, ...], expected: ComparisonFinding) -> None:
    assert decide_comparison([member(word) for word in words], []) is expected


def test_an_improvement_does_not_hide_what_may_have_fallen() -> None:
    assert decide_comparison([member(I), member(N, -0.02)], []) is N
    assert decide_comparison([member(I), member(N, -0.01)], []) is I


def test_a_forbidden_drop_is_a_regression_whatever_the_family_says() -> None:
    fallen = dropped_rows([moved(-0.021, -0.1, 0.1)], {"recall_any@5": 0.02})
    assert decide_comparison([member(I)], fallen) is R
    assert not dropped_rows([moved(-0.02, -0.1, 0.1)], {"recall_any@5": 0.02})
    assert not dropped_rows([replace(moved(-0.5, -1, 0), type="temporal")], {"recall_any@5": 0.02})


@pytest.mark.parametrize(
    ("suite", "metric", "expected"),
    [
        ("longmemeval", "recall_any@10", 0.005),
        ("longmemeval", "MRR@50", 0.010),
        ("locomo", "nDCG@10", 0.015),
        ("sample", "MRR@50", RANK_BAND),
    ],
)
def test_bands_are_the_protocols_or_the_stated_default(suite: str, metric: str, expected: float) -> None:
    assert band(current(), suite, metric) == expected


def test_the_document_states_every_constant_and_condition() -> None:
    for constant in (f"{RECALL_BAND:.3f}", f"{RANK_BAND:.3f}", f"{LEVEL:.0%}".replace("%", " %"),
                     f"{RESAMPLES:,}", f"seed {SEED}"):  # fmt: skip
        assert constant in DOCUMENT
    for name in CONDITIONS:
        assert f"`{name}`" in DOCUMENT
    for word in ComparisonFinding:
        assert f"**{word}**" in DOCUMENT
