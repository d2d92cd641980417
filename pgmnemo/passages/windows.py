"""Rules to cut a text into passages: by turns (PROTOCOL.md §2.6) or by characters.

The rules are the same for every corpus. Turns that are not given are parsed from a lesson's text:

1. A first line that consists of brackets, as `[8 May 2023]`, is a date and is in no passage.
2. A line that begins with `user:` or `assistant:` makes the text a talk with an assistant. Such a line begins
   a turn, which ends before the next such line. The assistant's turns are in no passage; of the user's turns,
   the words without `user:` are embedded, the first 700 characters of a passage. Turns without a word are
   left out. A memory cuts longer passages further instead, so that all of them is embedded (`pieces`).
3. In any other text each line with a word is a turn, such as `Ana: I sold the kite.`, and a passage is
   embedded in full.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Protocol

from pgmnemo.errors import UsageError
from pgmnemo.records import Passage

WINDOW = re.compile(r"(\d{1,6})/(\d{1,6})")


class Rule(Protocol):
    """A rule for windows of at most `turns`, one every `step` turns.

    In a talk with an assistant, the first `characters` of a window are embedded.
    """

    @property
    def turns(self) -> int: ...

    @property
    def step(self) -> int: ...

    @property
    def characters(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Windows:
    """The rule of PROTOCOL.md §2.6, which the product also follows."""

    turns: int = 4
    step: int = 2
    characters: int = 700


@dataclass(frozen=True, slots=True)
class Line:
    """A turn of a lesson: its line in the text, the `words` to embed, and whether a person says it."""

    line: str
    words: str
    person: bool = True  # False: an assistant


@dataclass(frozen=True, slots=True)
class Characters:
    """A rule for passages of `size` characters; each begins with the last `overlap` of the passage before."""

    size: int
    overlap: int

    def cut(self, text: str) -> tuple[Passage, ...]:
        """Return the passages of a text, in order; the last passage ends with the text."""
        step = self.size - self.overlap
        starts = range(0, max(len(text) - self.overlap, 1), step) if text else ()
        pieces = (text[start : start + self.size] for start in starts)
        return tuple(Passage(piece, piece) for piece in pieces)


def characters(given: str) -> Characters:
    """Return the rule for a text such as `1200/200` (size/overlap); raise UsageError for another form."""
    match = WINDOW.fullmatch(given)
    size, overlap = (int(match[1]), int(match[2])) if match else (0, 0)
    if overlap >= size:
        raise UsageError(
            "--passages takes turns, or the size of a passage in characters and how many it shares with the "
            f"one before, such as 1200/200, not {given!r}"
        )
    return Characters(size, overlap)


def cut(turns: Sequence[Line], pins: Rule, characters: int | None = None) -> tuple[Passage, ...]:
    """Return the passages of a text, in order; `characters` of each are embedded at most (None: all of
    it).
    """
    return tuple(
        Passage(
            "\n".join(turn.line for turn in window), "\n".join(turn.words for turn in window)[:characters]
        )
        for window in windows(turns, pins)
    )


def windows(turns: Sequence[Line], pins: Rule) -> Iterator[Sequence[Line]]:
    """Yield windows of consecutive turns of people; the last window of each stretch ends at its last turn.

    An assistant's turn is in no window and ends a stretch. If only an assistant speaks, yield the first turn.
    """
    stretches = [list(group) for person, group in groupby(turns, lambda turn: turn.person) if person]
    for stretch in stretches or ([list(turns[:1])] if turns else []):
        last = max(len(stretch) - pins.turns, 0)
        starts = range(0, last + 1, pins.step)
        for start in [*starts, last] if starts[-1] < last else starts:
            yield stretch[start : start + pins.turns]


WINDOWS = Windows()
DATE = re.compile(r"\[[^\[\]]*\]")
ROLE = re.compile(r"(user|assistant): ?")


def passages_of(content: str, rule: Rule = WINDOWS) -> tuple[Passage, ...]:
    """Return the passages of a lesson's text, in order; no passages for a text without a word."""
    turns, chat = turns_of(content)
    return cut(turns, rule, rule.characters if chat else None)


def turns_of(content: str) -> tuple[list[Line], bool]:
    """Return the turns parsed from a lesson's text, and whether it is a talk with an assistant."""
    lines = content.split("\n")
    if len(lines) > 1 and DATE.fullmatch(lines[0].strip()):
        del lines[0]
    if any(ROLE.match(line) for line in lines):
        return _messages(lines), True
    return [Line(line, line) for line in lines if line.strip()], False


def _messages(lines: list[str]) -> list[Line]:
    """Return the turns of a talk with an assistant; the text before the first message is a turn by itself."""
    messages: list[list[str]] = []
    for line in lines:
        if not messages or ROLE.match(line):
            messages.append([])
        messages[-1].append(line)
    return [turn for message in messages if (turn := _turn("\n".join(message))).words.strip()]


def _turn(text: str) -> Line:
    role = ROLE.match(text)
    if role is None:
        return Line(text, text)
    return Line(text, text[role.end() :], person=role[1] != "assistant")
