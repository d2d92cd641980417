"""What a check is: a name, and a function from the evidence to a sentence, or to one of two other ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from itertools import zip_longest
from typing import Any, Generic, TypeVar

from pgmnemo.errors import PgmnemoError
from runner.runs.reading import Results, Unreadable

# Files that are of their schema can still contradict each other in ways that no check foresees.
HOSTILE = (LookupError, TypeError, ValueError, ArithmeticError)
MOST = 80  # characters of a value in a sentence

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
        except (Wrong, PgmnemoError) as end:
            return Answer(self.name, Found.WRONG, str(end))


def unlike(found: Any, wanted: Any, place: str = "") -> str:
    """Where two documents first differ: what stands there, and what was made again; empty for equal ones.

    An item of a list goes by its name, or by its texts, so that one that is missing is named.
    """
    if isinstance(found, dict) and isinstance(wanted, dict):
        inner = place and f"{place}."
        pairs = [(f"{inner}{name}", found.get(name), wanted.get(name)) for name in {**wanted, **found}]
    elif isinstance(found, list) and isinstance(wanted, list) and any(map(_label, (*found, *wanted))):
        pairs = []
        for number, (one, other) in enumerate(zip_longest(found, wanted)):
            if _label(one) != _label(other):
                return f"{place}[{number}] is {_told(_label(one))}, made again {_told(_label(other))}"
            pairs.append((f"{place}[{_label(one)}]", one, other))
    else:
        return "" if found == wanted else f"{place} is {_told(found)}, made again {_told(wanted)}"
    return next((fault for name, one, other in pairs if (fault := unlike(one, other, name))), "")


def _label(item: Any) -> str:
    """What an item of a list goes by; empty for one without a name or a text."""
    if not isinstance(item, dict):
        return ""
    name = item.get("name", item.get("gate"))
    return str(name or ", ".join(text for text in item.values() if isinstance(text, str)))


def _told(value: Any) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list) else "" if value is None else str(value)
    text = text or "nothing"
    return text if len(text) <= MOST else f"{text[: MOST - 1]}…"


def differing_line(found: str, wanted: str) -> int:
    """Number, from 1, of the first line in which two texts differ."""
    pairs = zip_longest(found.split("\n"), wanted.split("\n"))
    return next(number for number, (one, other) in enumerate(pairs, start=1) if one != other)
