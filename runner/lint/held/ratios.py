"""How many times one value is another: held against the two values of its sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from runner.lint.document.figures import Figure
from runner.lint.written.misses import misses
from runner.lint.written.number import Number

WORDS = {
    "twice": 2, "double": 2, "two": 2, "thrice": 3, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "half": 0.5,
}  # fmt: skip
OF_VALUES = (
    r"(?:as\s+(?:many|much|often|high|good|well|large)\b|(?:the|that|those|its)\b"
    r"(?!\s+(?:time|memory|size|latency|cost|price|space|disk|index)))"
)
RATIO = re.compile(
    r"(?:\b(?P<near>about|around|roughly|nearly|almost|some|close to|approximately|just under|just over)\s+|"
    r"\b(?P<low>more than|over|at least|above)\s+|"
    r"\b(?P<high>less than|fewer than|under|at most|below|not)\s+)?"
    rf"(?:\b(?P<times>\d{{1,3}}(?:\.\d{{1,3}})?|{'|'.join(WORDS)})\s*(?:times|x|\u00d7)\s+{OF_VALUES}|"
    rf"\b(?P<word>twice|thrice|double|half)\s+{OF_VALUES})",
    re.IGNORECASE,
)


STEP = re.compile(
    r"\b(?:gives?\s+up|gave\s+up|gain(?:s|ed)?|w[io]ns?|los(?:es|t)|worth|saves?|costs?|recovers?|"
    r"adds?)\s+(?:only\s+|just\s+)?"
    r"(?P<step>\d{1,4})\s+(?:more\s+)?(?:of\s+the\s+[\d,]+\s+)?questions\b",
    re.IGNORECASE,
)
FRACTIONS = {"half": 1 / 2, "third": 1 / 3, "quarter": 1 / 4, "fifth": 1 / 5, "tenth": 1 / 10}
FRACTION = re.compile(
    rf"\b(?P<many>a|one|two|three|four)?\s*(?P<part>{'|'.join(FRACTIONS)})s?\s+of\s+(?=what|that\s+of|"
    rf"pgmnemo|hybrid|the\s+hybrid|bm25)",
    re.IGNORECASE,
)


def _wrong_fraction(found: re.Match[str], a: Number, b: Number) -> bool:
    """Whether two values are not, by a tenth of the whole, the part of each other that is said."""
    if a.percent != b.percent or a.hits is not None or b.hits is not None or not max(a.shown, b.shown):
        return False
    said = WORDS.get((found["many"] or "one").lower(), 1) * FRACTIONS[found["part"].lower()]
    return abs(min(a.shown, b.shown) / max(a.shown, b.shown) - said) > 0.1


def wrong_ratios(figures: list[Figure]) -> Iterator[tuple[Figure, str]]:
    """The last figure of each sentence whose two values are not as many times apart as it says."""
    sentences = groupby((f for f in figures if not f.header), key=lambda f: (id(f.block), id(f.said)))
    for _, group in sentences:
        pair = [figure for figure in group if not figure.number.change]
        found = RATIO.search(pair[0].said.text) if len(pair) == 2 else None
        step = STEP.search(pair[0].said.text) if len(pair) == 2 else None
        hits = [f.number.hits for f in pair]
        apart = abs((hits[0] or 0) - (hits[1] or 0)) if step and None not in hits else None
        if step and apart is not None and int(step["step"]) != apart:
            yield pair[1], f"{step['step']} questions are said, {apart} lie between the two counts"
        part = FRACTION.search(pair[0].said.text) if len(pair) == 2 else None
        if part and pair[0].names == pair[1].names and _wrong_fraction(part, *(f.number for f in pair)):
            yield pair[1], f"{' '.join(part[0].split())} is said, {_apart(*(f.number for f in pair))}"
        if found and pair[0].names == pair[1].names and not _holds(found, *(f.number for f in pair)):
            yield pair[1], f"{' '.join(found[0].split())} is said, {_apart(*(f.number for f in pair))}"


def _holds(found: re.Match[str], a: Number, b: Number) -> bool:
    """Whether two values are, within their own rounding, as many times apart as is said; of what is missed,
    where the sentence speaks of it, in place of what is found."""
    if a.hits is not None and b.hits is not None:
        return _times(found, max(a.hits, b.hits), min(a.hits, b.hits), 0.5)
    if a.percent != b.percent or a.hits is not None or b.hits is not None:
        return True
    whole = 100 if a.percent else 1
    pairs = [(a.shown, b.shown)]
    if misses(found.string):
        pairs.append((whole - a.shown, whole - b.shown))
    step = (a.step + b.step) / 2
    return any(_times(found, max(pair), min(pair), step) for pair in pairs)


def _times(found: re.Match[str], high: float, low: float, step: float) -> bool:
    word = str(found["times"] or found["word"]).lower()
    said = float(WORDS[word]) if word in WORDS else float(word)
    said = 1 / said if said < 1 else said
    least, most = max(high - step, 0) / (low + step), (high + step) / max(low - step, 1e-9)
    if found["low"]:
        return bool(most > said)
    if found["high"]:
        return bool(least < said)
    rounding = 0.5 * 10 ** -len(word.partition(".")[2]) if said > 2 or not word.isalpha() else 0.25
    slack = max(rounding, 0.15 * said if found["near"] else 0.0)
    return bool(least - slack <= said <= most + slack)


def _apart(a: Number, b: Number) -> str:
    low, high = sorted((a.shown, b.shown))
    return f"the values are {high / low:.1f} times apart" if low > 0 else "one of the values is zero"
