"""Intervals, and the number that each belongs to."""

from __future__ import annotations

import re
from dataclasses import replace

from runner.lint.written.digits import MINUS, PERCENT, PLAIN, POINTS, plain
from runner.lint.written.number import Number

NUM = rf"[+{MINUS}-]?{PLAIN}\s{{0,4}}%?"
TO = r"\s{0,4}(?:,|;|–|—|-|to|and|\.\.)\s{0,4}"  # noqa: RUF001
INTERVAL = re.compile(
    rf"[\[(](?:95\s?%\s?(?:CI|"
    rf"interval)?:?\s?(?:from\s)?)?(?P<low>{NUM}){TO}(?P<high>{NUM})(?:\s?(?:{POINTS}))?[\])]"
    rf"|(?:\bCI|\binterval)\b[^\d\[({MINUS}+]{{0,24}}(?P<low2>{NUM}){TO}(?P<high2>{NUM})"
    rf"|(?:\bCI|\binterval)\b(?:[^\d\[(:;]|@\d+|(?<![\d.])\d\.\d\.\d(?![\d.])){{0,80}}:\s{{0,3}}(?P<low3>{NUM}){TO}(?P<high3>{NUM})",
    re.IGNORECASE,
)
PLUS_MINUS = re.compile(
    rf"\s{{0,3}}(?:±|\+/-|\+-)\s{{0,3}}(?P<half>{PLAIN})(?P<unit>\s{{0,3}}{PERCENT})?", re.IGNORECASE
)
FAR = 120  # characters between a difference and its interval
ENDS = re.compile(
    r"\b(?:interval|CI)\b.*\b(?:runs?|ranges?|extends?|reach\w*|goes|spans?|lies|"
    r"is)\s+from\b",
    re.I | re.S,
)


def is_interval(match: re.Match[str]) -> bool:
    """Whether two numbers in brackets are an interval: in round ones only where they are called so, or lie
    around the number in front; "(0.855 and 0.856)" are two values."""
    if not match[0].startswith("("):
        return True
    near = match.string[max(0, match.start() - 40) : match.end()]
    last = re.search(
        rf"({PLAIN})\s*(?:{PERCENT}|{POINTS})?[\s†*`]*$", match.string[: match.start()], re.IGNORECASE
    )
    low, high = plain(match["low"]), plain(match["high"])
    around = last is not None and low <= plain(last[1]) <= high
    return low <= high and (around or re.search(r"\bintervals?\b|\bCI\b|95\s?%", near) is not None)


def with_intervals(numbers: list[Number], intervals: list[re.Match[str]], text: str) -> list[Number]:
    """Each interval goes with the last number in front of it, or with the first where none is."""
    for match in intervals:
        low, high = (
            match["low"] or match["low2"] or match["low3"],
            match["high"] or match["high2"] or match["high3"],
        )
        before = [place for place, number in enumerate(numbers) if number.end <= match.start()]
        signed = bool(before) and plain(low) < 0 and not numbers[before[-1]].change
        if signed:  # no value lies below zero, so that it is the interval of a difference
            before = [place for place in before if numbers[place].change]
        place = before[-1] if before else 0
        between = text[numbers[place].end : match.start()] if before else ""
        spoken = re.search(r"\b(?:intervals?|CI)\b", text[: match.end()], re.IGNORECASE) is not None
        alone = spoken and len(numbers) == 1 and len(between) <= FAR
        near = alone or (before and (_together(between) or (signed and len(between) <= FAR)))
        if numbers and near and numbers[place].interval is None:
            numbers[place] = replace(numbers[place], interval=(plain(low), plain(high)))
    return numbers


def _together(between: str) -> bool:
    """Whether the words between a number and an interval say that they belong together."""
    between = re.sub(r"\b(?:recall\w*|R|MRR|nDCG|any|frac|all|hit rate)@\d+", " ", between)
    if re.fullmatch(r"[\s,;:†*`(]*(?:95\s*%)?[\s,;:(]*", between):
        return True
    return (
        len(between) <= 60
        and re.fullmatch(
            r"[\s\S]{0,40}?(?:,|\(|\bwith|\band|\bis|\bits)\s*(?:\w+\s+){0,2}(?:95\s*%\s*)?(?:confidence\s*)?"
            r"(?:CI\s*|interval\s*)?(?:of\s*|is\s*|from\s*)?",
            between,
            re.IGNORECASE,
        )
        is not None
    )


def without_ends(found: list[Number], text: str) -> list[Number]:
    """The numbers, with the ends of "its interval runs from … to …" as the interval of the one in front,
    else of the one behind."""
    ends = [number for number in found if number.moved and not number.change]
    if len(ends) != 2 or not ENDS.search(text):
        return found
    low, high = (number.shown for number in ends)
    rest = [number for number in found if number not in ends]
    last = max((number for number in rest if number.end <= ends[0].start), key=lambda n: n.end, default=None)
    last = last or next((number for number in rest if number.start >= ends[1].end), None)
    return [replace(n, interval=(low, high)) if n is last and n.interval is None else n for n in rest]
