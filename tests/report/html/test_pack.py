"""Columns of numbers come back as they went in, read by another hand than the page's."""

from __future__ import annotations

from base64 import b64decode

import pytest

from runner.report.html.questions import WIDEST, ColumnPack


def unpacked(pack: ColumnPack, name: str) -> list[float | None]:
    """A column, read from the bits as one large number."""
    facts, bits = pack.header[name], int.from_bytes(b64decode(pack.base64()), "little")
    values: list[float | None] = []
    for place in range(facts["n"]):
        code = (bits >> (facts["at"] + place * facts["bits"])) & ((1 << facts["bits"]) - 1)
        if facts.get("none"):
            values.append(None if code == 0 else (code - 1 + facts["low"]) / 10 ** facts["places"])
        else:
            values.append((code + facts["low"]) / 10 ** facts.get("places", 0))
    return values


@pytest.mark.parametrize("numbers", [[], [7] * 1000, [-3, 0, 5], [0, 2**WIDEST - 1], list(range(300))])
def test_whole_numbers_come_back(numbers: list[int]) -> None:
    pack = ColumnPack()
    for name, column in (("before", [1, 2, 3]), ("it", numbers), ("after", [9])):
        pack.add(name, column)
    assert [unpacked(pack, name) for name in ("before", "it", "after")] == [[1, 2, 3], numbers, [9]]
    assert (pack.header["it"]["bits"] == 0) == (len(set(numbers)) < 2)  # what is all the same takes no bit


@pytest.mark.parametrize(
    "numbers", [[0.5, None, 0.125], [None, None], [], [-0.031, 0.0, 1.0], [12.345, None, 99.999]]
)
def test_decimals_come_back_and_nothing_stays_nothing(numbers: list[float | None]) -> None:
    pack = ColumnPack()
    pack.add_decimals("it", numbers, 3)
    assert unpacked(pack, "it") == numbers


def test_a_wide_span_keeps_fewer_decimals() -> None:
    pack = ColumnPack()
    pack.add_decimals("it", [0.0, 123456.789], 3)
    assert pack.header["it"]["bits"] <= WIDEST
    assert unpacked(pack, "it") == pytest.approx([0.0, 123456.789], abs=0.06)


def test_a_span_that_cannot_be_read_back_is_refused() -> None:
    with pytest.raises(ValueError, match="column it spans 26 bits"):
        ColumnPack().add("it", [0, 2**WIDEST])
