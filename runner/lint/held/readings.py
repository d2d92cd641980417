"""The rows of the artefacts that a figure can be of, by what its sentence, its block and its headings say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from runner.cite.results import Cited
from runner.lint.around.citations import DEPARTURES, scopes_cited
from runner.lint.around.context import Context
from runner.lint.artefacts import Row, Shelf, rows
from runner.lint.document.figures import Figure
from runner.lint.said.facets import (
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
from runner.lint.said.releases import named_in
from runner.lint.said.sides import by_direction
from runner.lint.said.together import of_arms, of_each_type, of_every_scope
from runner.lint.said.variants import Spoken, of_cell, of_variants, spoken_of
from runner.lint.said.words import counts, in_sentence, in_table, rivals

Place = tuple[Cited, Row]
Wanted = dict[str, tuple[str, ...]]  # facet → the values of it that can be meant; "" is the default


@dataclass(frozen=True, slots=True)
class Reading:
    """What a figure can be of. `every` where it is said of all the scopes at once."""

    runs: tuple[Cited, ...]
    wanted: Wanted
    every: bool = False
    each: bool = False  # a bound of every type at once
    shared: frozenset[str] = frozenset()  # the arms that are said to have a value alike


def read(figure: Figure, around: Context, runs: Sequence[Cited], shelf: Shelf) -> Reading:
    """How the figure can be read beside `runs`, which its document names."""
    wanted = said_of(figure, around, runs, shelf)
    wanted = _of_variants(figure, wanted, runs, shelf)
    found = mentions(figure.said.text, runs, shelf.versions(runs))
    every = of_every_scope(figure, found)
    if ALL_OF_THEM.search(figure.said.text) and not every and wanted["scope"] == ("",):
        wanted = {**wanted, "scope": tuple(sorted(frozenset().union(*map(scopes_of, runs))))}
    return Reading(
        _runs(runs, wanted, shelf),
        wanted,
        every=every,
        each=of_each_type(figure),
        shared=of_arms(figure, wanted["arm"], found),
    )


def said_of(figure: Figure, around: Context, runs: Sequence[Cited], shelf: Shelf) -> Wanted:
    """The values of each facet that the figure's own words give it, else those of the words around it."""
    found = named_in(figure, runs, shelf)
    wanted: Wanted = {}
    for facet in (*ROW_FACETS, *RUN_FACETS):
        own = sorted(
            (one for one in found if one.facet == facet and counts(one, figure)), key=lambda one: one.start
        )
        if facet in RUN_FACETS and facet != "version":
            own = [one for one in own if not _departs(figure.said.text, one)] or own
            held = {RUN_VALUES[facet](run) for run in runs}
            own = [one for one in own if one.value in held] or own
        values = in_table(own) if figure.header else in_sentence(figure, own)
        if facet in ("arm", "version") and not figure.header:
            values = by_direction(figure, facet, own, runs, shelf) or values
        if "" in values or not values:
            values += _outside(facet, around, runs, shelf, values)
        wanted[facet] = tuple(dict.fromkeys(values))
    return wanted


def _departs(text: str, one: Mention) -> bool:
    """Whether a word stands in what a citation says of its run's departures: "granularity: turn level"."""
    return any(match.start() <= one.start < match.end() for match in DEPARTURES.finditer(text))


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
    if facet == "version":
        of_runs |= {
            arm.partition("@")[2].partition("+")[0] for run in runs for arm in arms_of(run) if "@" in arm
        }
    for text in (around.citation, around.headings):
        said = {one.value for one in mentions(text, runs, shelf.versions(runs)) if one.facet == facet}
        if said and (said & of_runs or text is around.citation):
            return sorted(said)
    return []


def _of_variants(figure: Figure, wanted: Wanted, runs: Sequence[Cited], shelf: Shelf) -> Wanted:
    """Where passages or a reranker are spoken of, a system is itself or the one with them."""
    arms = frozenset().union(*map(arms_of, runs))
    wanted = {
        **wanted,
        "arm": tuple(dict.fromkeys(_in_full(wanted["arm"], _arms_named(figure, runs, shelf), arms))),
    }
    spoken = figure.block.raw if figure.header else f"{figure.lead} {figure.said.before} {figure.said.text}"
    if not spoken_of(spoken, arms):
        return wanted
    own = next((defaults(run)["arm"] for run in runs), "")
    meant = [arm or own for arm in wanted["arm"] or ("",)]
    if figure.header:
        return {**wanted, "arm": tuple(of_cell(figure.said.text, meant, arms))}
    told = Spoken(figure.said.text, spoken, figure.number, tuple(rivals(figure)))
    found = of_variants(told, meant, arms)
    return {**wanted, "arm": tuple(found)}


def _arms_named(figure: Figure, runs: Sequence[Cited], shelf: Shelf) -> list[str]:
    return [one.value for one in mentions(figure.said.text, runs, shelf.versions(runs)) if one.facet == "arm"]


def _in_full(said: Sequence[str], named: Sequence[str], arms: frozenset[str]) -> Iterator[str]:
    """The arms that are said, those that no run has as the ones that go on so: pg-textsearch-bm25."""
    for arm in said:
        longer = [] if arm in arms else sorted(other for other in arms if arm and other.startswith(f"{arm}-"))
        own = [f"{other}-{arm}" for other in named if f"{other}-{arm}" in arms]  # "pg-textsearch's BM25 half"
        yield from (arm, *longer, *own)


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
        if reading.each and facet == "type" and values == {"all"}:
            if row["type"] == "all":
                return False
            continue
        if facet == "arm" and versions:
            values = _at_versions(run, values, versions)
        if facet == "view" and values == {standard["view"]} and "" in (reading.wanted["view"] or ("",)):
            values.add("all")
        if str(row[facet]) not in values:
            return False
    return True


def _at_versions(run: Cited, arms: set[str], versions: tuple[str, ...]) -> set[str]:
    """`arms`, our own system among them, with or without a reranker, at the versions that are said."""
    own = defaults(run)["arm"]
    meant = set(arms)
    for arm in arms:
        base, plus, variant = arm.partition("+")
        if base == own:
            if RUN_VALUES["version"](run) not in versions and "" not in versions:
                meant -= {arm}
            meant |= {f"{other}{plus}{variant}" for other in _arms(run, versions)}
    return meant
