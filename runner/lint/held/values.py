"""Whether a figure is the one in the artefacts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from runner.cite.results import Cited
from runner.lint.around.citations import DEPARTURES, TOLD
from runner.lint.around.context import Context
from runner.lint.artefacts import Shelf, rows
from runner.lint.document.figures import Figure
from runner.lint.held.differences import wrong_difference
from runner.lint.held.population import population
from runner.lint.held.readings import Place, Reading, places, read
from runner.lint.said.facets import RUN_FACETS, RUN_VALUES, mentions
from runner.lint.written.names import Name

CALLED = re.compile(r"\bembedder\b(?:\s+(?:was|is|behind)\b|:)(?:[^.;]|\.\d)*$", re.IGNORECASE)


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
    return _wrong_value(figure, meant[0], found, reading) or _wrong_population(figure, around, found, reading)


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


def _wrong_population(figure: Figure, around: Context, found: list[Place], reading: Reading) -> str | None:
    """n, where it is said and is that of none of the rows that agree."""
    counts = {row["n"] for _, row in found if figure.number.agrees(row["value"], row["n"])}
    said = population(figure, around, reading)
    if said is None or said in counts:
        return None
    return f"n = {said:,} is said, {', '.join(f'{n:,}' for n in sorted(counts))} questions were scored"


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


def _names(runs: Iterable[Cited]) -> str:
    return ", ".join(dict.fromkeys(str(run.run.name) for run in runs))
