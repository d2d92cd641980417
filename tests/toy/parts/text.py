"""A toy text: everything in capitals."""

from __future__ import annotations

from dataclasses import replace

from runner.protocol.editions import PassagePins
from runner.protocol.texts import Session, Text, Written, write


def loud(session: Session, pins: PassagePins) -> Written:
    turns = tuple(replace(turn, words=turn.words.upper()) for turn in session.turns)
    return write(replace(session, turns=turns), pins)


TOY = Text("every word in capitals", loud)
