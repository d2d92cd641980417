"""A text is cut into windows of people's turns; what an assistant says ends a window."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from pgmnemo.passages.windows import Line, cut
from pgmnemo.records import Passage
from runner.protocol.editions import PassagePins, current

PINS = PassagePins(turns=4, step=2, characters=700)


def talk(names: str) -> list[Line]:
    """A turn for each letter; capitals are the assistant's."""
    return [Line(f"{name}: {name}!", f"{name}!", person=name.islower()) for name in names]


def windows(names: str, pins: PassagePins = PINS) -> list[str]:
    """The letters of each passage."""
    return [one.embedded.replace("!", "").replace("\n", "") for one in cut(talk(names), pins)]


@pytest.mark.parametrize(
    ("names", "wanted"),
    [
        ("", []), ("a", ["a"]), ("abcde", ["abcd", "bcde"]), ("abcdef", ["abcd", "cdef"]),
        ("abcdefg", ["abcd", "cdef", "defg"]), ("aBcD", ["a", "c"]), ("abCdefghI", ["ab", "defg", "efgh"]),
        ("ABC", ["A"]),
    ],
)  # fmt: skip
def test_windows_are_of_four_turns_every_two_and_end_at_the_last(names: str, wanted: list[str]) -> None:
    assert windows(names) == wanted


def test_the_width_and_the_step_are_those_of_the_edition() -> None:
    assert current().passages == PINS
    assert windows("abcdef", replace(PINS, turns=3, step=1)) == ["abc", "bcd", "cde", "def"]
    assert windows("abcdef", replace(PINS, turns=2, step=3)) == ["ab", "de", "ef"]


def test_lines_are_indexed_and_words_are_embedded_up_to_a_limit() -> None:
    assert cut(talk("ab"), PINS) == (Passage("a: a!\nb: b!", "a!\nb!"),)
    assert cut(talk("ab"), PINS, 4) == (Passage("a: a!\nb: b!", "a!\nb"),)
