"""A toy text: everything in capitals."""

from __future__ import annotations

from dataclasses import replace

from runner.protocol.editions import PassagePins
from runner.protocol.templates import Session, Template, WrittenText, write


def loud(session: Session, pins: PassagePins) -> WrittenText:
    turns = tuple(replace(turn, words=turn.words.upper()) for turn in session.turns)
    return write(replace(session, turns=turns), pins)


TOY = Template("every word in capitals", loud)
