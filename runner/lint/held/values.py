"""Whether a figure is the one in the artefacts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from runner.cite.results import Cited
from runner.lint.around.citations import COUNT, DEPARTURES, TOLD
from runner.lint.around.context import Context
from runner.lint.artefacts import Shelf, rows
from runner.lint.document.figures import Figure
from runner.lint.held.differences import wrong_difference
from runner.lint.held.readings import Place, Reading, places, read
from runner.lint.said.facets import RUN_FACETS, RUN_VALUES, mentions
from runner.lint.written.names import Name

POPULATION = re.compile(
    r"\b(?:over|on|of|for|across|among|all|the|these|its)\s+(?:all\s+|the\s+|"
    r"its\s+){0,2}(?P<n>\d[\d,]{0,8})\s+"
    r"(?:\w+\s+){0,2}(?:questions|items|queries)\b",
    re.IGNORECASE,
)


OVER_ALL = re.compile(
    r"\b(?:over|on|across)\s+all\s+(?:the\s+)?\d[\d,]*\s+(?:scored\s+)?(?:questions|items|queries)\b"
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
CALLED = re.compile(r"\bembedder\b(?:\s+(?:was|is|behind)\b|:)(?:[^.;]|\.\d)*$", re.IGNORECASE)
TYPED = re.compile(
    r"\b(?:of|on|over|for|in|the|all|are|its)\s+(?:the\s+|its\s+|"
    r"all\s+)?(?P<n>\d[\d,]{0,8})\s+(?P<type>[\w-]+(?:\s+[\w-]+)?)\s+"
    r"(?:questions|ones|items)\b",
    re.IGNORECASE,
)


def mismatch(figure: Figure, around: Context, runs: list[Cited], shelf: Shelf) -> str | None:
    """What the artefacts hold instead, as a sentence; None when the figure is theirs, or cannot be placed."""
    reading = read(figure, around, runs, shelf)
    if not reading.runs:
        return _not_of_any(reading, runs)
    meant = keys(figure, reading)
    if not meant:
        return None
    if figure.number.change:
        wrong = [wrong_difference(figure, key, around, runs, shelf) for key in meant]
        return None if None in wrong else wrong[0]
    found = [place for key in meant for place in places(reading, key)]
    if not found:
        return f"{meant[0]} of {_said(reading)} does not stand in {_names(runs)}"
    if wrong_value := _wrong_value(figure, meant[0], found, reading):
        return wrong_value
    return next(_facts(figure, around, found, reading), None)


def keys(figure: Figure, reading: Reading) -> list[str]:
    """The metrics that the figure can be of; every recall for a count of which none is said."""
    if figure.name.family == "questions":
        return sorted({row["metric"] for run in reading.runs for row in run.metrics["results"]
                       if row["metric"].startswith("recall_")})  # fmt: skip
    return [key for name in figure.names for key in _of_name(name, reading)]


def _of_name(name: Name, reading: Reading) -> list[str]:
    """The key of a metric; of an MRR or nDCG without its depth the only one of its family."""
    if name.key is not None or name.family == "recall":
        return [] if name.key is None else [name.key]
    key = only_depth(name, reading.runs)
    return [key] if key else []


def only_depth(name: Name, runs: Sequence[Cited]) -> str | None:
    """The metric that is meant by an MRR or nDCG without its depth, where `runs` have it at one alone."""
    results = (row["metric"] for run in runs for row in run.metrics["results"])
    known = {metric for metric in results if metric.startswith(f"{name.family}@")}
    alone = name.family != "recall" and name.k is None and len(known) == 1
    return known.pop() if alone else None


def _wrong_value(figure: Figure, key: str, found: list[Place], reading: Reading) -> str | None:
    number = figure.number
    agreeing = [place for place in found if number.agrees(place[1]["value"], place[1]["n"])]
    scopes = {str(row["scope"]) for _, row in found}
    if reading.every and {str(row["scope"]) for _, row in agreeing} != scopes:
        agreeing = []
    if not reading.shared <= {str(row["arm"]) for _, row in agreeing}:
        agreeing = []
    if reading.each and {str(row["type"]) for _, row in agreeing} != {str(row["type"]) for _, row in found}:
        agreeing = []
    if not agreeing and figure.name.family == "questions":
        return f"no recall in {_names(run for run, _ in found)} has this count"
    if not agreeing:
        there = "" if number.bound else _elsewhere(figure, key, reading)
        values = " or ".join(dict.fromkeys(f"{row['value']:.4f}" for _, row in found))
        return f"{key} is {values} in {_names(run for run, _ in found)}{there}"
    if not any(number.interval_agrees(row["ci95_low"], row["ci95_high"]) for _, row in agreeing):
        bands = " or ".join(
            dict.fromkeys(f"[{row['ci95_low']:.3f}, {row['ci95_high']:.3f}]" for _, row in agreeing)
        )
        return f"the interval of {key} is {bands} in {_names(run for run, _ in agreeing)}"
    return None


def _not_of_any(reading: Reading, runs: Sequence[Cited]) -> str | None:
    """Corpus, embedder, level or version that is said and that no cited run has."""
    for facet in RUN_FACETS:
        said = [value for value in reading.wanted[facet] if value]
        held = sorted({RUN_VALUES[facet](run) for run in runs})
        if said and not set(said) & set(held):
            if facet == "version":
                return f"no run of v{said[0]} that may be its previous value lies beside the artefacts"
            return f"{TOLD[facet]} {' or '.join(said)} is said, its run is of {', '.join(held)}"
    return f"no run that is named is of {_said(reading)}"


def _said(reading: Reading) -> str:
    told = [" or ".join(v for v in values if v) for values in reading.wanted.values()]
    return ", ".join(words for words in told if words) or "the headline"


def _elsewhere(figure: Figure, key: str, reading: Reading) -> str:
    """Where the value does stand, if it does: another scope, arm, view or type that is not said."""
    for run in reading.runs:
        for row in rows(run, key):
            if figure.number.agrees(row["value"], row["n"]):
                place = ", ".join(f"{c} {row[c]}" for c in ("arm", "scope", "view", "type"))
                return f"; the figure is that of {place}, which is not said"
    return ""


def _facts(figure: Figure, around: Context, found: list[Place], reading: Reading) -> Iterator[str]:
    """n, where it is said: of the number that it stands nearest to."""
    agreeing = [row for _, row in found if figure.number.agrees(row["value"], row["n"])]
    said = _count(figure, around)
    counts = {row["n"] for row in agreeing}
    if said is None and not any(
        reading.wanted[facet][:1] not in ((), ("",), ("all",)) for facet in ("view", "type")
    ):
        said = _population(figure, reading)
    if said is None:
        text, end = figure.said.text, figure.number.end
        after = ON_SO_MANY.match(text, end) or OF_SO_MANY.match(text, end) or RESTS.search(text)
        said = (
            int((after.groupdict().get("left") or after["n"]).replace(",", ""))
            if after
            else _of_type(figure, reading)
        )
    if said is not None and said not in counts:
        yield f"n = {said:,} is said, {', '.join(f'{n:,}' for n in sorted(counts))} questions were scored"


def other_embedder(figure: Figure, runs: Sequence[Cited]) -> str | None:
    """What is wrong with an embedder that the block around a figure says in so many words."""
    held = {RUN_VALUES["embedder"](run) for run in runs}
    text = DEPARTURES.sub(" ", figure.block.raw)
    said = {
        one.value
        for one in mentions(text, runs, frozenset())
        if one.facet == "embedder"
        and not one.denied
        and CALLED.search(text[max(0, one.start - 120) : one.start])
    }
    if not said or said & held or len(held) != 1:
        return None
    return f"embedder {' or '.join(sorted(said))} is said, its run is of {', '.join(held)}"


def _population(figure: Figure, reading: Reading) -> int | None:
    """The questions that a value is over, where a sentence says them in passing: "over all 108 questions"."""
    said = {int(match["n"].replace(",", "")) for match in POPULATION.finditer(figure.said.text)}
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
    return int(found[0]["n"].replace(",", "")) if named else None


def _count(figure: Figure, around: Context) -> int | None:
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
        return int(found[0][1].replace(",", ""))
    if len(found) == len(figure.said.numbers):
        return int(found[figure.said.numbers.index(number)][1].replace(",", ""))
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
            return int(match[1].replace(",", ""))
    return None


def _names(runs: Iterable[Cited]) -> str:
    return ", ".join(dict.fromkeys(str(run.run.name) for run in runs))
