"""What a check is: a name, and a function from the evidence to a sentence, or to one of two other ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

from runner.errors import RunnerError
from runner.runs.reading import Results, Unreadable

# Files that are of their schema can still contradict each other in ways that no check foresees.
HOSTILE = (LookupError, TypeError, ValueError, ArithmeticError)


E = TypeVar("E", bound=Results)  # the evidence


class Wrong(Exception):
    """The check found a fault; the message is one sentence that says where."""


class NotAsked(Exception):
    """The check had nothing to look at, such as no corpus; the message says what it would need."""


class Found(StrEnum):
    """How a check ended."""

    HOLDS = "holds"
    WRONG = "wrong"
    NOT_ASKED = "not asked"


@dataclass(frozen=True, slots=True)
class Answer:
    """What one check found, in one sentence."""

    check: str
    found: Found
    sentence: str


@dataclass(frozen=True, slots=True)
class Check(Generic[E]):
    """A named check. `look` returns what holds, in words, or raises Wrong or NotAsked."""

    name: str
    look: Callable[[E], str]

    def __call__(self, evidence: E) -> Answer:
        """Look; what cannot be looked at, because a file is missing or malformed, counts as wrong."""
        try:
            return Answer(self.name, Found.HOLDS, self.look(evidence))
        except NotAsked as end:
            return Answer(self.name, Found.NOT_ASKED, str(end))
        except Unreadable as end:
            return Answer(self.name, Found.WRONG, f"could not be checked: {end}")
        except HOSTILE as end:
            return Answer(self.name, Found.WRONG, f"could not be checked: {type(end).__name__}: {end}")
        except (Wrong, RunnerError) as end:
            return Answer(self.name, Found.WRONG, str(end))
