"""How figures look, and how tables stand."""

from __future__ import annotations

import pytest

from runner.markdown import table
from runner.report.formats import change, seconds


@pytest.mark.parametrize(
    ("metric", "value", "printed"),
    [
        ("recall_any@5", 0.012, "+1.2"),
        ("recall_any@5", -0.012, "−1.2"),  # noqa: RUF001
        ("recall_any@5", -0.0001, "0.0"),
        ("MRR@50", 0.0, "0.000"),
        ("MRR@50", 0.01, "+0.010"),
    ],
)
def test_a_change_bears_its_sign_unless_it_is_nothing(metric: str, value: float, printed: str) -> None:
    assert change(metric, value) == printed


@pytest.mark.parametrize(
    ("value", "printed"), [(0.412, "0.41 s"), (17.24, "17.2 s"), (119.6, "2 min 00 s"), (185.4, "3 min 05 s")]
)
def test_seconds_read_as_a_person_would_say_them(value: float, printed: str) -> None:
    assert seconds(value) == printed


def test_a_table_is_aligned_and_a_bar_in_a_cell_is_escaped() -> None:
    assert table(("name", "n"), [("a|b", "1,982"), ("two\nlines", "7")], "lr") == (
        "| name      |     n |\n"
        "|-----------|------:|\n"
        "| a\\|b      | 1,982 |\n"
        "| two lines |     7 |"
    )  # fmt: skip
