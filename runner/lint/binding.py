"""Which word of a sentence a number belongs to: a metric, an arm, a type, a scope or a version.

A list of words goes with a list of numbers of its length; else words and numbers take turns; else the
nearest one is meant. Where a reading is not certain every possible one is given, so that no right sentence is
called wrong.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Protocol

DEFAULT = -1  # no word of the sentence: what is meant when nothing is said
BETWEEN = re.compile(
    r"[\s,/|:&+·]*(?:(?:and|or|to|then|→|questions|arms?|legs?|over|within|in|on|for|at|"
    r"the|an?)[\s,/]*)*"
)
WORD_FIRST = re.compile(
    r"(?:['\u2019]s|s['\u2019])?\s*(?:(?:arm|leg|mode|alone|search|order|baseline|systems?|questions?|"
    r"here|now|"
    r"already|is|are|was|has|have|had|"
    r"at|of|with|a|an|the|recall\S*|reaches|reached|reach|finds|found|gets|got|stands|stops|ends|comes|lies|"
    r",\s(?:which|that|whose|with|an?)\b|still|only|about|nearly|[(:=])\s*)*[*_`]*\s*"
)
NUMBER_FIRST = re.compile(
    r"[\s%)*_`]*(?:\((?:for\s+)?(?:v\b)?|,?\s*(?:for|by|in|on|with|from|at|using|under|over|of|as for)\s)\s*"
    r"(?:(?:the|its|our|a|an|version|release)\s+)*"
)
TAKEN = re.compile(r"(?:'s)?\s*[:=]\s*[+−-]?[\d.]")  # noqa: RUF001
ANEW = re.compile(  # another clause begins, which may have another subject
    r"[,;:]\s(?:so|and|but|while|whereas|where|now|then|which)?\s?(?:the|we|our|it|its|this|recall\S*|"
    r"MRR\S*|nDCG\S*)\s",
    re.IGNORECASE,
)
OWN_PREPOSITION = re.compile(  # a word such as "within the conversation", which brings its own
    r"(?:with|within|in|inside|across|over|on|at|by|per|without|excluding|behind|after|when|once)\b",
    re.IGNORECASE,
)
BREAK = re.compile(r"[,;:]\s|\s(?:and|but|while|whereas|where)\s")


class Span(Protocol):
    """A stretch of a text."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...


def bind(text: str, words: Sequence[Span], numbers: Sequence[Span]) -> list[tuple[int, ...]]:
    """For each number the places in `words` that it may belong to; DEFAULT where none may be meant."""
    if not words:
        return [(DEFAULT,)] * len(numbers)
    if listed := _listed(text, words, numbers):
        return listed
    leads = bool(numbers) and (words[0].start < numbers[0].start or _word_first(text, words, numbers))
    return [_nearest(text, words, numbers, number, leads=leads) for number in numbers]


def _listed(text: str, words: Sequence[Span], numbers: Sequence[Span]) -> list[tuple[int, ...]]:
    """A list of words before or behind a list of numbers that is as long, or a multiple of it."""
    many = len(words)
    apart = bool(numbers) and (words[-1].end <= numbers[0].start or numbers[-1].end <= words[0].start)
    if many < 2 or not apart or len(numbers) % many:
        return []
    if not all(BETWEEN.fullmatch(text[a.end : b.start]) for a, b in pairwise(words)):
        return []
    block = len(numbers) // many
    return [tuple(dict.fromkeys((place % many, place // block))) for place in range(len(numbers))]


def in_turn(words: Sequence[Span], numbers: Sequence[Span]) -> list[tuple[int, ...]]:
    """Words with a number each, and behind them further numbers, as many again or a multiple of it:
    "recall_any@5 95.5 % and MRR@50 0.855, bm25 94.0 % and 0.842"; nothing where it is not so."""
    many = len(words)
    if many < 2 or len(numbers) <= many or len(numbers) % many:
        return []
    first = numbers[:many]
    ahead = all(word.end <= number.start for word, number in zip(words, first, strict=True))
    behind = all(number.end <= word.start for word, number in zip(words, first, strict=True))
    turns = sorted([*words, *first], key=lambda span: span.start)
    alternate = all((a in words) != (b in words) for a, b in pairwise(turns))
    if not (ahead or behind) or not alternate or turns[-1].end > numbers[many].start:
        return []
    return [(place % many,) for place in range(len(numbers))]


def _nearest(
    text: str, words: Sequence[Span], numbers: Sequence[Span], number: Span, *, leads: bool
) -> tuple[int, ...]:
    """The word that one number stands nearest to; `leads` where the words of the sentence stand in front."""
    before = [place for place, word in enumerate(words) if word.end <= number.start]
    after = min((place for place, word in enumerate(words) if word.start >= number.end), default=None)
    if after is None:
        return _before(text, words, numbers, number, before)
    if not before:
        return _behind(text, words, numbers, number, after)
    sides = [place for place in (before[-1], after) if stands_with(text, words[place], number)]
    if sides:
        return (sides[0] if leads else sides[-1],)
    return _before(text, words, numbers, number, before) if leads else (after,)


def _word_first(text: str, words: Sequence[Span], numbers: Sequence[Span]) -> bool:
    """Whether each word stands right in front of a number, and none right behind one."""
    ahead = [any(w.end <= n.start and stands_with(text, w, n) for n in numbers) for w in words]
    behind = any(n.end <= w.start and stands_with(text, w, n) for w in words for n in numbers)
    return all(ahead) and not behind


def _before(
    text: str, words: Sequence[Span], numbers: Sequence[Span], number: Span, before: list[int]
) -> tuple[int, ...]:
    """The last word in front, and those before it that no number has taken, unless it stands right beside."""
    last = before[-1]
    if stands_with(text, words[last], number):
        return (last,)
    between = [other for other in numbers if words[last].end <= other.start < number.start]
    if between and ANEW.search(text[between[-1].end : number.start]):
        return (last, DEFAULT)
    taken = max((other.end for other in numbers if other.end <= words[last].start), default=0)
    return tuple(place for place in reversed(before) if words[place].start >= taken)


def _behind(
    text: str, words: Sequence[Span], numbers: Sequence[Span], number: Span, after: int
) -> tuple[int, ...]:
    """The first word behind; perhaps none, where more numbers follow that it may be of."""
    if stands_with(text, words[after], number):
        return (after,)
    other = any(one.start >= number.end for one in numbers)
    return (after, DEFAULT) if other else (after,)


def stands_with(text: str, word: Span, number: Span) -> bool:
    """Whether a word and a number stand right beside each other: "bm25 (94.1 %)", "94.1 % for bm25"."""
    if word.end <= number.start:
        return WORD_FIRST.fullmatch(text[word.end : number.start]) is not None
    if TAKEN.match(text, word.end):
        return False
    if OWN_PREPOSITION.match(text, word.start) and not text[number.end : word.start].strip(" %*_`"):
        return True
    return NUMBER_FIRST.fullmatch(text[number.end : word.start]) is not None
