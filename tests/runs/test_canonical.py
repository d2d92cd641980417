"""Numbers and JSON are written in one way."""

from __future__ import annotations

import json
import math

import pytest

from pgmnemo.errors import OutputError
from runner.runs.canonical import compact, decimals, pretty, significant, tabular


@pytest.mark.parametrize(
    ("value", "written"),
    [(1 / 3, "0.333333"), (-0.0, "0.0"), (1234567.8, "1234570.0"), (1e-9 / 3, "3.33333e-10"), (1.0, "1.0")],
)
def test_significant_digits_count_from_the_first(value: float, written: str) -> None:
    assert compact(significant(value, 6)) == written


def test_a_negative_zero_is_a_zero_after_rounding() -> None:
    assert math.copysign(1, decimals(-0.00001, 4)) == 1


def test_nan_is_refused_everywhere() -> None:
    with pytest.raises(OutputError, match=r"the mean is nan"):
        decimals(float("nan"), 4, "the mean")
    with pytest.raises(ValueError, match="JSON compliant"):
        pretty({"value": float("nan")})


def test_a_table_has_one_row_a_line_and_is_json() -> None:
    document = {"schema": "x/1", "corpus": {"suite": "sample"}, "rows": [{"a": 1}, {"a": 2}], "none": []}
    text = tabular(document, ("rows", "none"))
    assert '\n    {"a": 1},\n    {"a": 2}\n  ]' in text
    assert json.loads(text) == document
