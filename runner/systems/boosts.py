"""Boosts: wrappers for any system that raise lessons which share features with the question.

Each asks the system for a deeper pool and reduces the distance of every lesson that has a feature of the
question: its words, its proper names, its quoted phrases, or a wish of the speaker. The choice of boosts
follows MemPalace's published benchmarks; code, word lists and weights are our own, and
docs/results/strategies.md has figures, including the losses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from pgmnemo.progress import QUIET, Progress
from runner.systems.system import Lessons, Match, Query, SupportsAsk, System
from runner.systems.wrappers import Wrapped, Wrapper

FACTOR, FLOOR = 3, 50  # candidates: three times the requested ranks, but at least fifty
WORD = re.compile(r"[a-z][a-z'-]{2,}")
NAME = re.compile(r"\b[A-Z][a-z]{2,}\b")
QUOTED = re.compile(r"[\"“]([^\"”]{3,60})[\"”]|(?<!\w)['‘]([^'’]{3,60})['’](?!\w)")  # noqa: RUF001
COMMON = """
the and for are was were been being have has had does did doing what when where which who whom whose why how
that this these those there here with from into about your you yours mine our ours their them they she her
his him its not but can could should would will shall may might must any some many much more most than then
also just very tell remind know think get got say said made make time day week month year ago last first one
two
"""
CAPITALS = """
What When Where Which Who Whom Whose Why How The This That These Those There Did Does Was Were Are Has Have
Had Can Could Should Would Will May Might Must And But For Monday Tuesday Wednesday Thursday Friday Saturday
Sunday January February March April June July August September October November December
"""
STOP, NO_NAME = frozenset(COMMON.split()), frozenset(CAPITALS.split())
WISH = re.compile(
    r"\b(?:i (?:\w+ )?(?:prefer|love|like|enjoy|hate|dislike|want|need|wish|hope|plan|usually|always|never|"
    r"struggle)"
    r"|i(?:'m| am|'ve been| have been) (?:\w+ )?(?:looking for|thinking (?:of|about)|trying|interested in|"
    r"worried about|struggling with|a fan of|into)"
    r"|my favou?rite|i'd (?:rather|love|like))\b[^.!?\n]{0,120}"
)
ADVICE = re.compile(
    r"\b(?:recommend|suggest|advice|advise|tips?|ideas?|what should i|any thoughts|help me)\b"
)


@dataclass(frozen=True, slots=True)
class Boost:
    """A boost. `weight` is the share of a distance that a full match removes.

    `asks` extracts the question's features; `bears` returns the share of these features in a text, from 0 to
    1.
    """

    weight: float
    asks: Callable[[str], frozenset[str]]
    bears: Callable[[frozenset[str], str], float]


class Boosted(Wrapped):
    """A system whose ranks a boost changes."""

    def __init__(self, name: str, system: System, boost: Boost) -> None:
        super().__init__(name, system)
        self._boost = boost
        self._texts: dict[int, str] = {}

    def load(self, lessons: Lessons, progress: Progress = QUIET) -> Mapping[str, float]:
        self._texts = {lesson.number: lesson.text for lesson in lessons}
        return self.system.load(lessons, progress)

    def asked(self, asking: SupportsAsk, query: Query, k: int) -> Sequence[Match]:
        """Return the `k` best matches of a deeper pool after the boost.

        The unchanged answer if the question has no feature. Matches have no components, because a boosted
        score is not the sum of the wrapped system's components.
        """
        wanted = self._boost.asks(query.text)
        if not wanted:
            return [replace(match, components=()) for match in asking.ask(query, k)]
        found = asking.ask(query, max(FACTOR * k, FLOOR))
        weight, bears = self._boost.weight, self._boost.bears
        moved = [
            (distance * (1 - weight * bears(wanted, self._texts[match.number])), match)
            for match, distance in zip(found, distances(found), strict=True)
        ]
        best = sorted(moved, key=lambda pair: (pair[0], pair[1].number))[:k]
        return [replace(match, score=1 - distance, components=()) for distance, match in best]


def distances(found: Sequence[Match]) -> list[float]:
    """Return the distance of each match: 1 - score if all scores are in [-1, 1].

    Cosines and fused scores are in that range. Other scores (BM25's have no bound) are spread from 0.5 to 1
    by min-max, or ranks if there are no scores.
    """
    known = [match.score for match in found if match.score is not None]
    if len(known) < len(found):
        known = [float(-rank) for rank in range(len(found))]
    elif not known or (max(known) <= 1 and min(known) >= -1):
        return [1 - score for score in known]
    low, span = min(known), max(known) - min(known)
    return [1 - 0.5 * ((score - low) / span if span else 1.0) for score in known]


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text without common words."""
    return frozenset(WORD.findall(text.lower())) - STOP


def names_of(text: str) -> frozenset[str]:
    """Return the capitalised words of a text, without question words, months and days."""
    return frozenset(name.lower() for name in NAME.findall(text) if name not in NO_NAME)


def keywords_of(text: str) -> frozenset[str]:
    """Return the words of a text without names, which occur in half of a conversation."""
    return words_of(text) - names_of(text)


def quotes_of(text: str) -> frozenset[str]:
    """Return the texts in quotation marks."""
    return frozenset((double or single).lower() for double, single in QUOTED.findall(text))


def wishes_of(text: str) -> frozenset[str]:
    """Return the keywords of a question that asks for advice; empty for another question."""
    return keywords_of(text) if ADVICE.search(text.lower()) else frozenset()


def share_of_words(wanted: frozenset[str], text: str) -> float:
    """Return the share of the words that occur in a text, as a word or as the beginning of a word."""
    there = " ".join(["", *WORD.findall(text.lower())])
    return sum(f" {word}" in there for word in wanted) / len(wanted)


def any_phrase(wanted: frozenset[str], text: str) -> float:
    """Return 1 for a text that contains one of the phrases, else 0."""
    return float(any(phrase in text.lower() for phrase in wanted))


def share_of_wishes(wanted: frozenset[str], text: str) -> float:
    """Return 0.5 plus half the share of `wanted` in the text's likes, wants and struggles; 0 without any.

    0 without any.
    """
    wishes = " ".join(WISH.findall(text.lower()))
    return (0.5 + 0.5 * share_of_words(wanted, wishes)) if wishes else 0.0


def _wrapper(words: str, boost: Boost) -> Wrapper:
    return Wrapper(f"boosted by {words}", partial(Boosted, boost=boost))


KEYWORD = _wrapper("the question's words", Boost(0.5, keywords_of, share_of_words))
NAMES = _wrapper("proper names", Boost(0.2, names_of, share_of_words))
QUOTED_PHRASES = _wrapper("quoted phrases", Boost(0.6, quotes_of, any_phrase))
PREFERENCE = _wrapper("wishes of the speaker", Boost(0.3, wishes_of, share_of_wishes))
