"""Which word of a sentence a number belongs to: a metric, an arm, a type, a scope or a version.

A list of words goes with a list of numbers of its length; else words and numbers take turns; else the
nearest one is meant. Where a reading is not certain every possible one is given, so that no right sentence is
called wrong.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Protocol

from runner.lint.written.intervals import INTERVAL

DEFAULT = -1  # no word of the sentence: what is meant when nothing is said
BETWEEN = re.compile(
    r"[\s,/|:&+·>]*(?:(?:and|or|to|then|→|questions|arms?|legs?|over|within|in|on|for|at|"
    r"the|an?|fusion|blend|search|retrieval|baseline|control|system|engine|plain|its|our|own|leg|arm|"
    r"vs\.?|versus|against)[\s,/]*)*"
)
WORD_FIRST = re.compile(
    r"(?:['\u2019]s|s['\u2019])?\s*(?:v?\d+\.\d+\.\d+\b\s*|(?:arm|leg|mode|alone|search|order|baseline|"
    r"systems?|questions?|"
    r"here|now|"
    r"already|is|are|was|has|have|had|"
    r"it['\u2019]s|that['\u2019]s|at|of|with|a|an|the|recall\S*|any@\d+|MRR\S*|nDCG\S*|R@\d+|reaches|"
    r"reached|reach|finds|found|gets|got|stands|stops|"
    r"ends|comes|lies|sits|lands|scores|scored|shows|gives|returns|achieves|attains|hits|measures|posts|"
    r"records|"
    r"leaves|misses|fails|manages|makes|brings|delivers|yields|obtains|keeps|"
    r",\s(?:which|that|whose|with|an?)\b|still|only|about|nearly|just|even|alone|[(:=])\s*)*[*_`]*\s*"
)
NUMBER_FIRST = re.compile(
    r"[\s%)*_`]*(?:\((?:for\s+)?(?:v\b)?|,?\s*(?:for|by|in|on|with|from|at|using|under|over|of|as for)\s)\s*"
    r"(?:(?:the|its|our|their|a|an|own|plain|mere|version|release|mode|arm|variant|questions|ones|those|"
    r"that|which|are)\s+|\d[\d,]{0,6}\s+(?:of\s+(?:the\s+)?)?)*"
)
IN_BRACKETS = re.compile(
    r"[\s%*_`]*(?:(?:percent|of|the|its|questions|cases|time|answered|in|first|top|ten|five|within|"
    r"answers|turns|sessions|"
    r"recall_\w+@\d+|MRR@\d+|nDCG@\d+)\s+){0,6}[(\[][^()\[\]\d]{0,30}"
)
IN_BRACKETS_BEHIND = re.compile(r"(?:\s+v?\d+\.\d+\.\d+)?(?:\s+(?:arm|leg|alone|only|search))?[*_`]*[)\]]")
OF_IT = re.compile(r"[\s%*_`]*(?:(?:recall\w*|MRR|nDCG|any)@\d+\s+)?(?:for|by|using)\s", re.IGNORECASE)
LIST = re.compile(r"\b(?:and|or|for|with|the|recall\w*|any|MRR|nDCG|points?)(?:@\d+)?\b", re.IGNORECASE)
TAKEN = re.compile(r"(?:'s)?\s*[:=]\s*[+−-]?[\d.]")  # noqa: RUF001
ANEW = re.compile(  # another clause begins, which may have another subject
    r"[,;:]\s(?:so|and|but|while|whereas|where|now|then|which)?\s?(?:the|we|our|it|its|this)\s|"
    r"[,;:]\s(?:so|but|while|whereas|where|now|then)\s(?:recall\S*|MRR\S*|nDCG\S*)\s",
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
    return _bind(text, tuple(words), tuple(numbers))


@lru_cache(maxsize=256)
def _bind(text: str, words: tuple[Span, ...], numbers: tuple[Span, ...]) -> list[tuple[int, ...]]:
    """The same, once for all the numbers of a sentence."""
    if not words:
        return [(DEFAULT,)] * len(numbers)
    text = INTERVAL.sub(lambda match: " " * len(match[0]), text)
    if told := _listed(text, words, numbers) or in_turn(words, numbers):
        return told
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
    if not before and after is None:
        return (DEFAULT,)
    if before and _in_brackets(text, words[before[-1]], numbers):
        own = after is not None and stands_with(text, words[after], number)
        return (after,) if after is not None and own else (DEFAULT, *reversed(before))
    if after is None:
        return _before(text, words, numbers, number, before)
    if not before:
        return _behind(text, words, numbers, number, after)
    sides = [place for place in (before[-1], after) if stands_with(text, words[place], number)]
    if after in sides and _leads(text, words[after], number, numbers):
        sides.remove(after)
        if not sides:
            return _before(text, words, numbers, number, before)
    if len(sides) == 2 and OF_IT.match(text, number.end):
        return (after,)
    if sides:
        return (sides[0] if leads else sides[-1],)
    if leads:
        return _before(text, words, numbers, number, before)
    owned = any(
        number.end <= n.start < words[after].start and stands_with(text, words[after], n) for n in numbers
    )
    told = (
        owned and re.search(r"[A-Za-z]{3}", LIST.sub(" ", text[number.end : words[after].start])) is not None
    )
    return (after, before[-1], DEFAULT) if told else (after,)


def _in_brackets(text: str, word: Span, numbers: Sequence[Span]) -> bool:
    """Whether a word stands in brackets behind a number, which has it for itself: "73.2 % (bm25) to …"."""
    closed = IN_BRACKETS_BEHIND.match(text, word.end) is not None
    return closed and any(
        number.end <= word.start and IN_BRACKETS.fullmatch(text[number.end : word.start])
        for number in numbers
    )


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
        return (DEFAULT, after) if _leads(text, words[after], number, numbers) else (after,)
    other = any(one.start >= number.end for one in numbers)
    return (after, DEFAULT) if other else (after,)


def _leads(text: str, word: Span, number: Span, numbers: Sequence[Span]) -> bool:
    """Whether a word behind a comma stands in front of the next number: "97.4 %, in the pool 96.5 %"."""
    behind = [n for n in numbers if n.start >= word.end]
    return (
        "," in text[number.end : word.start]
        and bool(behind)
        and WORD_FIRST.fullmatch(text[word.end : behind[0].start]) is not None
    )


def stands_with(text: str, word: Span, number: Span) -> bool:
    """Whether a word and a number stand right beside each other: "bm25 (94.1 %)", "94.1 % for bm25"."""
    if word.end <= number.start:
        return WORD_FIRST.fullmatch(text[word.end : number.start]) is not None
    if TAKEN.match(text, word.end):
        return False
    if OWN_PREPOSITION.match(text, word.start) and not text[number.end : word.start].strip(" %*_`"):
        return True
    between = text[number.end : word.start]
    return (NUMBER_FIRST.fullmatch(between) or IN_BRACKETS.fullmatch(between)) is not None
