"""The table of forgeries: a class, what the forger gains in words, and the function that changes a draft."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.verify.forge.draft import Change


@dataclass(frozen=True, slots=True)
class Forgery:
    """One way to forge: of an older run too, of the `newest` alone, or of one with systems `beside`."""

    kind: str
    words: str
    change: Change
    newest: bool = False
    beside: bool = False


FORGERIES: list[Forgery] = []


def forgery(kind: str, words: str, newest: bool = False, beside: bool = False) -> Callable[[Change], Change]:
    """A decorator that enters a function into the table."""

    def enter(change: Change) -> Change:
        FORGERIES.append(Forgery(kind, words, change, newest, beside))
        return change

    return enter


def claim(kind: str, words: str) -> Callable[[Change], Change]:
    """A forgery of what run.json says beside the rankings."""
    return forgery(kind, words, newest=True)
