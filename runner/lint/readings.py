"""The rows of the artefacts that a figure can be of, by what its sentence, its block and its headings say."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from runner.cite.results import Cited
from runner.lint.artefacts import Row, Shelf, rows
from runner.lint.binding import BREAK, DEFAULT, bind, stands_with
from runner.lint.citations import scopes_cited
from runner.lint.context import Context
from runner.lint.facets import (
    ALL_OF_THEM,
    ROW_FACETS,
    RUN_FACETS,
    RUN_VALUES,
    Mention,
    arms_of,
    defaults,
    mentions,
    scopes_of,
)
from runner.lint.figures import Figure
from runner.lint.number import Number
from runner.lint.sides import by_direction
from runner.lint.variants import of_variants, spoken_of

Place = tuple[Cited, Row]
Wanted = dict[str, tuple[str, ...]]  # facet → the values of it that can be meant; "" is the default


@dataclass(frozen=True, slots=True)
class Reading:
    """What a figure can be of. `every` where it is said of all the scopes at once."""

    runs: tuple[Cited, ...]
    wanted: Wanted
    every: bool = False


def read(figure: Figure, around: Context, runs: Sequence[Cited], shelf: Shelf) -> Reading:
    """How the figure can be read beside `runs`, which its document names."""
    wanted = said_of(figure, around, runs, shelf)
    if not figure.header:
        wanted = _of_variants(figure, wanted, runs)
    return Reading(_runs(runs, wanted, shelf), wanted, ALL_OF_THEM.search(figure.said.text) is not None)


def said_of(figure: Figure, around: Context, runs: Sequence[Cited], shelf: Shelf) -> Wanted:
    """The values of each facet that the figure's own words give it, else those of the words around it."""
    found = mentions(figure.said.text, runs, shelf.versions(runs))
    wanted: Wanted = {}
    for facet in (*ROW_FACETS, *RUN_FACETS):
        own = [one for one in found if one.facet == facet and not one.denied]
        if facet in RUN_FACETS and facet != "version":
            held = {RUN_VALUES[facet](run) for run in runs}
            own = [one for one in own if one.value in held] or own
        values = _in_table(own) if figure.header else _in_sentence(figure, own)
        if facet in ("arm", "version") and not figure.header:
            values = by_direction(figure, facet, own, runs, shelf) or values
        if "" in values or not values:
            values += _outside(facet, around, runs, shelf, values)
        wanted[facet] = tuple(dict.fromkeys(values))
    return wanted


def _in_table(own: list[Mention]) -> list[str]:
    return [one.value for one in own]


def _in_sentence(figure: Figure, own: list[Mention]) -> list[str]:
    """The values that a number in a sentence can be of; what it is compared with counts only beside it."""
    text, number = figure.said.text, figure.number
    weak = [one.value for one in own if one.weak]
    firm = [one for one in own if not one.weak]
    usable = [one for one in firm if not one.aside or _beside_it(text, one, figure)]
    if not usable:
        return ["", *weak] if own else []
    numbers = _values(figure)
    chosen = [
        usable[p].value if p != DEFAULT else "" for p in bind(text, usable, numbers)[numbers.index(number)]
    ]
    if number.paired:
        return [*(one.value for one in own), ""]
    return [
        *chosen,
        *weak,
        *_modes(figure, own, chosen),
        *([""] if number.moved and len(usable) == 1 else []),
    ]


def _modes(figure: Figure, own: list[Mention], chosen: list[str]) -> list[str]:
    """The mode in which the system named before the number is: "in keyword mode, pgmnemo has …"."""
    text, start = figure.said.text, figure.number.start
    modes = [one for one in own if one.end <= start and re.match(r"\s+mode\b", text[one.end :])]
    taken = any(modes[-1].end <= n.start < start for n in figure.said.numbers) if modes else True
    return [] if taken or not set(chosen) - {modes[-1].value} else [modes[-1].value]


def _beside_it(text: str, one: Mention, figure: Figure) -> bool:
    """Whether what something is compared with is what this number is of: "than bm25 (94.1 %)"."""
    if stands_with(text, one, figure.number):
        return True
    between = text[one.end : figure.number.start]
    first = not any(one.end <= n.start < figure.number.start for n in figure.said.numbers)
    return one.end <= figure.number.start and first and BREAK.search(between) is None


def _values(figure: Figure) -> list[Number]:
    """The numbers that compete for words: the differences among each other, and the values."""
    return [n for n in figure.said.numbers if n.change == figure.number.change]


def _outside(facet: str, around: Context, runs: Sequence[Cited], shelf: Shelf, inner: list[str]) -> list[str]:
    """What the headings say, else what the words before say beside the default."""
    if facet in RUN_FACETS:
        return [] if inner else _run_words(facet, around, runs, shelf)
    versions = shelf.versions(runs)
    headed = [
        one.value
        for one in mentions(around.headings, runs, versions)
        if one.facet == facet and not one.denied
    ]
    if headed:
        return headed
    before = [
        one.value
        for one in mentions(around.introduction, runs, versions)
        if one.facet == facet and not one.denied
    ]
    cited = _cited_scopes(around, runs) if facet == "scope" else []
    return [*before, *(cited or [""])]


def _cited_scopes(around: Context, runs: Sequence[Cited]) -> list[str]:
    """The scopes that the citations of a section name, where no figure of it stands in a citation itself."""
    named = next(filter(None, map(scopes_cited, around.wide)), frozenset[str]())
    return sorted(named & frozenset().union(*map(scopes_of, runs)))


def _run_words(facet: str, around: Context, runs: Sequence[Cited], shelf: Shelf) -> list[str]:
    """Corpus, level, embedder or version by a heading or a citation, where one of the runs is of it."""
    of_runs = {RUN_VALUES[facet](run) for run in runs}
    for text in (around.citation, around.headings):
        said = {one.value for one in mentions(text, runs, shelf.versions(runs)) if one.facet == facet}
        if said and (said & of_runs or text is around.citation):
            return sorted(said)
    return []


def _of_variants(figure: Figure, wanted: Wanted, runs: Sequence[Cited]) -> Wanted:
    """Where passages or a reranker are spoken of, a system is itself or the one with them."""
    arms = frozenset().union(*map(arms_of, runs))
    if not spoken_of(figure.said.text, arms):
        return wanted
    own = next((defaults(run)["arm"] for run in runs), "")
    meant = [arm or own for arm in wanted["arm"] or ("",)]
    found = of_variants(figure.said.text, figure.number, _values(figure), meant, arms)
    return {**wanted, "arm": tuple(found)}


def _runs(runs: Sequence[Cited], wanted: Wanted, shelf: Shelf) -> tuple[Cited, ...]:
    """The runs that what is said can be of; those of another version that lie beside them, if none is."""
    kept = [
        run
        for run in runs
        if all(
            not wanted[facet] or {"", RUN_VALUES[facet](run)} & set(wanted[facet])
            for facet in RUN_FACETS
            if facet != "version"
        )
    ]
    versions = wanted["version"]
    if not versions or "" in versions:
        return tuple(kept)
    named = [run for run in kept if RUN_VALUES["version"](run) in versions or _beside(run, versions)]
    return tuple(named or [e for run in kept for v in versions for e in shelf.earlier(v, run)])


def _beside(run: Cited, versions: tuple[str, ...]) -> bool:
    """Whether another version of the system was measured in the same run."""
    return any(str(row["arm"]) in _arms(run, versions) for row in run.metrics["results"])


def _arms(run: Cited, versions: tuple[str, ...]) -> set[str]:
    return {f"{run.run.system}@{version}" for version in versions}


def places(reading: Reading, metric: str) -> list[Place]:
    """Every row of the metric that the reading allows."""
    return [(run, row) for run in reading.runs for row in rows(run, metric) if _allowed(reading, run, row)]


def _allowed(reading: Reading, run: Cited, row: Row) -> bool:
    standard = defaults(run)
    versions = reading.wanted["version"]
    for facet in ROW_FACETS:
        values = {value or standard[facet] for value in reading.wanted[facet] or ("",)}
        if reading.every and facet == "scope":
            continue
        if facet == "arm" and versions and standard["arm"] in values:
            if RUN_VALUES["version"](run) not in versions and "" not in versions:
                values -= {standard["arm"]}
            values |= _arms(run, versions)
        if facet == "view" and not reading.wanted["view"] and row["type"] != "all":
            values.add("all")
        if str(row[facet]) not in values:
            return False
    return True
