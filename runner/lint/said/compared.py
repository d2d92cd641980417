"""What a sentence compares: which arm or version with which, and in which direction."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from runner.cite.results import Cited
from runner.lint.artefacts import Shelf
from runner.lint.document.figures import Figure
from runner.lint.said.facets import Mention, arms_of, mentions
from runner.lint.said.releases import as_arms
from runner.lint.said.variants import NAMED
from runner.lint.written.binding import BREAK, DEFAULT, bind

UP = re.compile(
    r"\b(?:beats?|beating|ahead|above|over|better|outperform\w*|gain\w*|adds?|added|improv\w*|ris(?:es|"
    r"ing|en|e)|rose|more|higher|"
    r"overtak\w*|overtook|pass(?:es|ed)|edg(?:es|ed)\s+out|outscores?|outruns?|outpaces?|bests|trumps|"
    r"outranks?|outdoes|eclips\w*|"
    r"rais(?:es?|ed|ing)|lift(?:s|ed)?|pull(?:s|ed)\s+ahead|lead\w*|led|exceed\w*|surpass\w*|wins?|won|"
    r"tops|topped|increas\w*|grew|grows?|climb\w*|advantage|plus|"
    r"up|boost\w*|"
    r"jump\w*|stronger|superior|margin)\b",
    re.IGNORECASE,
)
DOWN = re.compile(
    r"\b(?:los(?:es|ing|e|t|s)|behind|below|under|trail\w*|lags?|lagging|lagged|worse|less|lower\w*|"
    r"fewer|fall\w*|fell|drop\w*|decreas\w*|"
    r"declin\w*|short|down|deficit|costs?|cost|weaker|inferior|lower(?:s|ed)|hurts?|reduc\w+|sinks?|"
    r"sank|shed|sheds|regress\w*|"
    r"gives? up|gave up)\b",
    re.IGNORECASE,
)
NOT = re.compile(r"\b(?:not|no|never|neither|hardly|instead of)\s+(?:\w+\s+)?$", re.IGNORECASE)
MISS = re.compile(
    r"\b(?:rerank\w*\s+behind|behind\s+(?:(?:the|our|a|an|its|linear)\s+){0,3}rerank\w*|leads? to|"
    r"over (?:the|all) (?:pool|conversations?|questions|whole)|under protocol|"
    r"(?:under|below|over|above) (?:one\b|half|two\b|a\b|\d(?!\.\d\.\d))|over (?:turns|sessions|"
    r"messages)|up to|(?:more|less) than(?!\s+(?:v?\d+\.\d+\.\d+|[a-z]))|"
    r"no more than|over all|at least)\b",
    re.IGNORECASE,
)
RERANKER = re.compile(rf"\b{NAMED}\b", re.IGNORECASE)
REMOVED = re.compile(
    r"\b(?:without|leaving|dropping|removing|taking away|minus|turning off)\s+(?:\w+\s+){0,2}"
    r"rerank(?:er|ers|ing)\b|\b(?:taking|leaving|switching|turning)\s+(?:\w+\s+){0,2}rerank(?:er|ers|"
    r"ing)\s+(?:away|out|off)\b",
    re.IGNORECASE,
)
PASSAGES = re.compile(r"(?<!\+)\bpassages\b", re.IGNORECASE)
NO_PASSAGES = re.compile(
    r"\b(?:without|leaving|dropping|removing|minus)\s+(?:\w+\s+){0,2}passages\b", re.IGNORECASE
)
BROUGHT = (("+rerank", RERANKER, REMOVED), ("+passages", PASSAGES, NO_PASSAGES))


PRONOUN = re.compile(r"[\s*_]*(?:it|this|that|they|its)\b", re.IGNORECASE)
NEITHER = re.compile(r"\bneither\b[^.;]*\bnor\b", re.IGNORECASE)
FAVOUR = re.compile(
    r"\b(?:in\s+favou?r\s+of|to\s+the\s+(?:advantage|benefit)\s+of|(?:won|led|headed)\s+by)\s+(?:the\s+|"
    r"our\s+)?[`*_]*$",
    re.IGNORECASE,
)
SUBTRACTED = re.compile(r"[\s`*_)]*(?:−|–|-|\bminus\b)[\s`*_(]*(?:the\s+)?", re.IGNORECASE)  # noqa: RUF001


@dataclass(frozen=True, slots=True)
class Subtraction:
    """One subtraction of a sentence, "pgmnemo minus bm25"."""

    start: int
    end: int
    pair: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Compared:
    """What is compared with what; None where it is not said. `sign` is 0 where no direction is."""

    subject: str | None
    other: str | None
    sign: int


def compared(figure: Figure, runs: Sequence[Cited], shelf: Shelf) -> Compared:
    """The pair and the direction that the words around a difference say."""
    text, number = figure.said.text, figure.number
    found = mentions(text, runs, shelf.versions(runs))
    arms = _sides(found, runs) if not figure.header else []
    if len({one.value for one in arms}) == 1 and not any(one.facet == "version" for one in arms):
        derived = [one for one in as_arms(text, found, runs) if one.value != arms[0].value]
        arms = sorted([*arms, *derived], key=lambda one: one.start)
    if (favoured := _favoured(text, arms)) is not None:
        return Compared(*favoured, 1)
    if (pair := _subtracted(figure, arms)) is not None:
        return Compared(*pair, number.sign or 1)
    arms = _of_number(figure, arms)
    verb, sign = _between(text, arms) or _direction(text, number.start, number.end)
    subject, other = _of_variant(text, arms, runs) or _pair(
        text, arms, verb if verb is not None else number.start
    )
    if subject == "" and any(one.facet == "arm" and one.weak for one in found):
        subject = None
    if subject == "" and other in {run.run.system for run in runs}:
        subject = None
    if subject == "" and PRONOUN.match(text) and figure.said.before.strip():
        subject = None
    if verb is not None and (_far(figure, arms, verb) or _one_sided(arms, verb)):
        sign = 0
    if figure.header:
        sign = number.sign or 1
    elif number.sign and not sign:
        sign = number.sign
    elif number.sign < 0:
        sign = -sign if sign > 0 else sign
    return Compared(subject, other, sign)


def _between(text: str, arms: list[Mention]) -> tuple[int, int] | None:
    """The direction that stands between the only two sides: "rrf outranks convex over turns"."""
    names = list(dict.fromkeys(map(_arm, arms)))
    if len(names) != 2 or len(arms) != 2 or arms[0].aside or NEITHER.search(text):
        return None
    start, end = arms[0].end, arms[1].start
    found = [
        (match.start(), sign)
        for sign, pattern in ((1, UP), (-1, DOWN))
        for match in pattern.finditer(text, start, end)
        if not (sign > 0 and _within(match, text))
        and not any(s.start() <= match.start() < s.end() for s in MISS.finditer(text))
        if not NOT.search(text[start : match.start()][-30:])
    ]
    beside = bool(found) and re.search(r"\d|[,;:]\s", text[found[0][0] : end]) is None
    return found[0] if len(found) == 1 and beside else None


def _favoured(text: str, arms: list[Mention]) -> tuple[str, str | None] | None:
    """The pair of "… in favour of A": A is ahead of the other arm that is named."""
    found = [FAVOUR.search(text[: one.start]) is not None for one in arms]
    names = list(dict.fromkeys(map(_arm, arms)))
    if found.count(True) != 1 or len(names) > 2:
        return None
    (ahead,) = (_arm(one) for one, favoured in zip(arms, found, strict=True) if favoured)
    return ahead, next((name for name in names if name != ahead), None)


def _subtracted(figure: Figure, arms: list[Mention]) -> tuple[str, str] | None:
    """The arms of a subtraction, where a sentence writes its differences so: of several the nearest one's."""
    text = figure.said.text
    pairs = [
        Subtraction(a.start, b.end, (_arm(a), _arm(b)))
        for a, b in pairwise(arms)
        if SUBTRACTED.fullmatch(text[a.end : b.start])
    ]
    changes = [number for number in figure.said.numbers if number.change]
    if not pairs or figure.header or figure.number not in changes:
        return None
    (place, *others) = bind(text, pairs, changes)[changes.index(figure.number)]
    return None if others or place == DEFAULT else pairs[place].pair


def named_before(figure: Figure, runs: Sequence[Cited], shelf: Shelf) -> bool:
    """Whether the words in front of a sentence name an arm, which it may go on about."""
    return any(
        one.facet == "arm" and one.value for one in mentions(figure.said.before, runs, shelf.versions(runs))
    )


def _one_sided(arms: list[Mention], verb: int) -> bool:
    """Whether two arms stand on one side of the word of direction, neither as what is compared with."""
    sides = {one.start > verb for one in arms}
    return len({_arm(one) for one in arms}) == 2 and len(sides) == 1 and not any(one.aside for one in arms)


def _far(figure: Figure, arms: list[Mention], verb: int) -> bool:
    """Whether a word of direction is another difference's: "keyword is 3.2 points behind, vector 29.6"."""
    text, number = figure.said.text, figure.number
    changes = [one for one in figure.said.numbers if one.change and one is not number]
    if any(verb < one.start < number.start or number.end <= one.start < verb for one in changes):
        return True
    return bool(changes) and any(verb < one.start and BREAK.search(text[verb : one.start]) for one in arms)


def _of_number(figure: Figure, arms: list[Mention]) -> list[Mention]:
    """The arms of one of several differences: "keyword is 1.1 points behind, vector 9.2"."""
    changes = [number for number in figure.said.numbers if number.change]
    if len(changes) < 2 or figure.number not in changes or len({_arm(one) for one in arms}) < len(changes):
        return arms
    places = bind(figure.said.text, arms, changes)[changes.index(figure.number)]
    return [arms[place] for place in places if place != DEFAULT] or arms


def _sides(found: Iterable[Mention], runs: Sequence[Cited]) -> list[Mention]:
    """The arms and versions that are named; of two for one place the arm."""
    newest = {str(run.run.version).removeprefix("v") for run in runs}
    found = [one for one in found if not one.weak and not one.denied]
    arms = [one for one in found if one.facet == "arm"]
    if len({one.value for one in arms}) > 1:
        return arms
    versions = [
        replace(one, facet="arm", value="") if one.value in newest else one
        for one in found
        if one.facet == "version"
    ]
    if not any(one.value for one in versions) and not any("@" in one.value for one in arms):
        versions = []
    return sorted([*arms, *versions], key=lambda one: one.start)


def _direction(text: str, start: int, end: int) -> tuple[int | None, int]:
    """Where the word of direction nearest to a number begins, and its sign."""
    if NEITHER.search(text):
        return None, 0
    skipped = [match.span() for match in MISS.finditer(text)]
    nearest: tuple[int, int, int] | None = None
    for sign, pattern in ((1, UP), (-1, DOWN)):
        for match in pattern.finditer(text):
            if any(a <= match.start() < b for a, b in skipped) or (sign > 0 and _within(match, text)):
                continue
            away = start - match.end() if match.end() <= start else match.start() - end
            turned = -sign if NOT.search(text[: match.start()][-30:]) else sign
            turned = 0 if turned != sign else sign
            if nearest is None or away < nearest[0]:
                nearest = (away, match.start(), turned)
    return (nearest[1], nearest[2]) if nearest and nearest[0] < 90 else (None, 0)


def _within(match: re.Match[str], text: str) -> bool:
    """Whether a word upwards is part of a phrase downwards: "gives up"."""
    near = text[max(0, match.start() - 12) : match.end()]
    return any(found.end() == len(near) and len(found[0]) > len(match[0]) for found in DOWN.finditer(near))


def _pair(text: str, arms: list[Mention], verb: int) -> tuple[str | None, str | None]:
    """Subject and object: by the side of the verb on which they stand, and by what they are compared with."""
    names = list(dict.fromkeys(_arm(one) for one in arms))
    if len(names) == 1:
        (name,) = names
        first = arms[0]
        return ("", name) if first.start > verb or first.aside else (name, None)
    before = [one for one in arms if one.end <= verb]
    after = [one for one in arms if one.start > verb]
    if before and after:
        subject = next((one for one in reversed(before) if not one.aside), before[-1])
        return _arm(subject), _arm(after[0])
    sides = before or after
    aside = [one for one in sides if one.aside]
    free = [one for one in sides if not one.aside]
    if len(names) == 2 and len(aside) == 1 and len(free) == 1:
        return _arm(free[0]), _arm(aside[0])
    return (names[0], names[1]) if len(names) == 2 else (None, None)


def _of_variant(text: str, arms: list[Mention], runs: Sequence[Cited]) -> tuple[str, str] | None:
    """The two sides of what a reranker or passages bring: an arm that is named, or ours, with and without."""
    own = {run.run.system for run in runs}
    names = {_arm(one) or next(iter(own)) for one in arms} or own
    known = frozenset().union(*map(arms_of, runs))
    if len(names) != 1:
        return None
    (name,) = names
    for suffix, spoken, removed in BROUGHT:
        if spoken.search(text) and not removed.search(text) and f"{name}{suffix}" in known:
            return f"{name}{suffix}", name
    return None


def _arm(one: Mention) -> str:
    return one.value if one.facet == "arm" else f"@{one.value}"
