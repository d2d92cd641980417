"""How a text of several turns is cut into passages (PROTOCOL.md §2.6), the same for every corpus."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from runner.editions import PassagePins
from runner.records import Passage


@dataclass(frozen=True, slots=True)
class Line:
    """One turn as it stands in the lesson, its `words` that are embedded, and whether a person says it."""

    line: str
    words: str
    person: bool = True  # False: an assistant


def cut(turns: Sequence[Line], pins: PassagePins, characters: int | None = None) -> tuple[Passage, ...]:
    """The passages of a text, in order; `characters` of each are embedded at most (None: all of it)."""
    return tuple(
        Passage(
            "\n".join(turn.line for turn in window), "\n".join(turn.words for turn in window)[:characters]
        )
        for window in windows(turns, pins)
    )


def windows(turns: Sequence[Line], pins: PassagePins) -> Iterator[Sequence[Line]]:
    """Windows of consecutive turns of people, the last one of each stretch ending at its last turn.

    An assistant's turn stands in none and ends a stretch. Where nobody else speaks: the first turn.
    """
    stretches = [list(group) for person, group in groupby(turns, lambda turn: turn.person) if person]
    for stretch in stretches or ([list(turns[:1])] if turns else []):
        last = max(len(stretch) - pins.turns, 0)
        starts = range(0, last + 1, pins.step)
        for start in [*starts, last] if starts[-1] < last else starts:
            yield stretch[start : start + pins.turns]
