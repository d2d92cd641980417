"""What people say, without who says it: no turn of an assistant, no caption, no date."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from runner.editions import PassagePins
from runner.texts.text import Session, Text, Written, write


def said(session: Session, pins: PassagePins, *, date: bool = False) -> Written:
    """The turns of people; where nobody else speaks the first turn, as in passages (PROTOCOL.md §2.6)."""
    turns = [turn for turn in session.turns if turn.person] or session.turns[:1]
    bare = tuple(replace(turn, speaker="") for turn in turns)
    return write(replace(session, turns=bare), pins, date=date, captions=False)


USER_ONLY = Text("the words of people alone, without who says them and without the date", said)
USER_ONLY_DATED = Text(
    "the words of people alone, without who says them, below the date", partial(said, date=True)
)
