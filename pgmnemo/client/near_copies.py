"""Hits that say nearly the same: a context shows the newest of them, with the number of the others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from pgmnemo.client.records import Hit
from pgmnemo.errors import UsageError

WORDS = re.compile(r"\w+")
LEAST_WORDS = 0.8  # words that both texts have, of the words that either has
EARLIEST = datetime.min.replace(tzinfo=UTC)


def merge_near_copies(hits: Sequence[Hit], least_words: float | None = LEAST_WORDS) -> list[Hit]:
    """Return the hits with near-copies as one: the newest, in the place of the best, which counts the others.

    Near-copies share at least `least_words` of their words (None: every hit is returned). Texts that differ
    in a number are no near-copies: ports, dates and amounts are what such lessons are kept for.
    """
    if least_words is None:
        return list(hits)
    if not isinstance(least_words, int | float) or not 0.5 <= least_words <= 1:
        raise UsageError(f"least_words is {repr(least_words)[:40]}, but must be a number from 0.5 to 1")
    groups: list[list[Hit]] = []
    words: list[frozenset[str]] = []
    for hit in hits:
        own = frozenset(WORDS.findall(hit.text.casefold()))
        place = next((n for n, other in enumerate(words) if _near(own, other, least_words)), None)
        if place is None:
            groups.append([hit])
            words.append(own)
        else:
            groups[place].append(hit)
    return [_newest(group) for group in groups]


def _near(one: frozenset[str], other: frozenset[str], least: float) -> bool:
    if len(one & other) < least * len(one | other):
        return False
    return not any(character.isdigit() for word in one ^ other for character in word)


def _newest(group: list[Hit]) -> Hit:
    newest = max(group, key=lambda hit: (hit.at or EARLIEST, hit.id))
    return newest if len(group) == 1 else replace(newest, near_copies=len(group) - 1)
