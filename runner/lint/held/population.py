"""Over how many questions a sentence says that its value is."""

from __future__ import annotations

import re

from runner.lint.around.citations import COUNT
from runner.lint.around.context import Context
from runner.lint.document.figures import Figure
from runner.lint.held.readings import Reading
from runner.lint.written.digits import whole

POPULATION = re.compile(
    r"\b(?:over|on|of|for|across|among|all|the|these|its)\s+(?:all\s+|the\s+|"
    r"its\s+){0,2}(?P<n>\d[\d,]{0,8})\s+"
    r"(?:\w+\s+){0,2}(?:questions|items|queries)\b",
    re.IGNORECASE,
)
OVER_ALL = re.compile(
    r"(?<!not )(?<!than )\ball\s+(?:of\s+)?(?:the\s+|its\s+)?\d[\d,]*\s+(?:scored\s+)?"
    r"(?:questions|items|queries)\b"
)
ON_SO_MANY = re.compile(
    r"[\s%*_`]*(?:(?:recall\w*|MRR|nDCG|any)@\d+\s+)?(?:on|over|for)\s+(?:the\s+|"
    r"all\s+)?(?P<n>\d[\d,]{0,8})\s+(?:[\w-]+\s+){0,2}"
    r"questions\b",
    re.IGNORECASE,
)
OF_SO_MANY = re.compile(r"\s*%?\s+of\s+(?P<n>\d[\d,]{0,8})(?=\s*(?:[;:()]|[.,](?!\d)|$))")
RESTS = re.compile(
    r"\b(?:rests?|resting|based|computed|measured)\s+(?:on|over)\s+(?:all\s+|the\s+)?(?P<n>\d[\d,]{0,8})\s+(?:scored\s+)?"
    r"questions\b|\b(?P<left>\d[\d,]{0,8})\s+(?:are|remain)\s+left\b",
    re.IGNORECASE,
)
TYPED = re.compile(
    r"\b(?:of|on|over|for|in|the|all|are|its)\s+(?:the\s+|its\s+|"
    r"all\s+)?(?P<n>\d[\d,]{0,8})\s+(?P<type>[\w-]+(?:\s+[\w-]+)?)\s+"
    r"(?:questions|ones|items)\b",
    re.IGNORECASE,
)


def population(figure: Figure, around: Context, reading: Reading) -> int | None:
    """The n that is said of a figure: beside it, in passing, behind it, or of its type."""
    said = _beside(figure, around)
    if said is None and not any(
        reading.wanted[facet][:1] not in ((), ("",), ("all",)) for facet in ("view", "type")
    ):
        said = _in_passing(figure, reading)
    if said is not None:
        return said
    text, end = figure.said.text, figure.number.end
    after = ON_SO_MANY.match(text, end) or OF_SO_MANY.match(text, end) or RESTS.search(text)
    return whole(after.groupdict().get("left") or after["n"]) if after else _of_type(figure, reading)


def _in_passing(figure: Figure, reading: Reading) -> int | None:
    """The questions that a value is over, where a sentence says them in passing: "over all 108 questions"."""
    said = {whole(match["n"]) for match in POPULATION.finditer(figure.said.text)}
    known = {row["n"] for run in reading.runs for row in run.metrics["results"]}
    alone = len(said) == 1 and len(figure.said.numbers) == 1
    return said.pop() if alone and (said <= known or OVER_ALL.search(figure.said.text)) else None


def _of_type(figure: Figure, reading: Reading) -> int | None:
    """The questions of a type that are counted in passing: "of the 321 temporal ones"."""
    found = list(TYPED.finditer(figure.said.text))
    types = [one for one in reading.wanted["type"] if one]
    if len(types) != 1:
        return None
    if len(found) != 1 or found[0].start() > min(n.start for n in figure.said.numbers):
        return None
    words = [word for word in re.split(r"[ _-]", types[0].lower()) if len(word) > 4]
    named = any(word in found[0]["type"].lower() for word in words)
    return whole(found[0]["n"]) if named else None


def _beside(figure: Figure, around: Context) -> int | None:
    """The n that is said beside the number: the nearest, and only where it is nearer to no other."""
    text, number = figure.said.text, figure.number
    found = list(COUNT.finditer(text)) or list(COUNT.finditer(around.citation))
    if not found:
        return None
    if (own := _beside_number(found, figure)) is not None:
        return own
    if any(_owned(match, figure) for match in found):
        return None
    if len(found) == 1 and not figure.header and _of_another(found[0], figure):
        return None
    if len(found) == 1 or figure.header:
        return whole(found[0][1])
    if len(found) == len(figure.said.numbers):
        return whole(found[figure.said.numbers.index(number)][1])
    return None


def _of_another(match: re.Match[str], figure: Figure) -> bool:
    """Whether an n in brackets stands behind one of several values, and not behind this one."""
    numbers = [n for n in figure.said.numbers if not n.change]
    if (
        match.string is not figure.said.text
        or len(numbers) < 2
        or not match.string[: match.start()].endswith("(")
    ):
        return False
    before = [n for n in numbers if n.end <= match.start()]
    return bool(before) and before[-1] is not figure.number


def _owned(match: re.Match[str], figure: Figure) -> bool:
    """Whether an n stands in brackets right behind a number: "66.7 % (n = 15) against 97.4 %"."""
    text = figure.said.text
    return match.string is text and any(
        n.end <= match.start() and re.fullmatch(r"[\s%*_`]*[(,]\s*", text[n.end : match.start()])
        for n in figure.said.numbers
    )


def _beside_number(found: list[re.Match[str]], figure: Figure) -> int | None:
    """The n that stands in brackets right behind the number."""
    text, end = figure.said.text, figure.number.end
    for match in found:
        if (
            match.string is text
            and end <= match.start()
            and re.fullmatch(r"[\s%*_`]*[(,]\s*", text[end : match.start()])
        ):
            return whole(match[1])
    return None
