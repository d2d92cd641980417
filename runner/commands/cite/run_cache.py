"""The runs that marks name, each read once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

from pgmnemo.errors import UsageError
from runner.commands.cite.citation import check_findings, check_kept, read_cited
from runner.commands.compare.compared_run import ComparedRun
from runner.errors import UnusableRunError
from runner.report.formats import Figures, Row
from runner.runs.results import is_run

COUNTED = "n"  # in place of a metric: how many questions


class RunCache:
    """Runs by their folder, or by a name below benchmarks/*/results of `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._read: dict[Path, ComparedRun] = {}
        self.older: set[str] = set()  # what was said of runs of older editions

    @cached_property
    def _named(self) -> dict[str, list[Path]]:
        """Every kept run by its own name, and by the name behind that of its suite."""
        found = defaultdict(list)
        for place in sorted(self.root.glob("benchmarks/*/results/*")):
            for name in (place.name, f"{place.parents[1].name}/{place.name}"):
                found[name].append(place)
        return found

    def run(self, name: str, beside: Path) -> ComparedRun:
        """Return the run that `name` is of, or leads to from the root or from the folder `beside`.

        Raises UsageError where it is of none or of several, UnusableRunError for a run that nothing may cite.
        """
        places = [place for place in (self.root / name, beside / name) if is_run(place)]
        places = places[:1] or self._named.get(name.strip("/"), [])
        if not places:
            raise UsageError(f"there is no run {name}: name a folder, or one below benchmarks/*/results")
        if len(places) > 1:
            several = ", ".join(f"{place.parents[1].name}/{place.name}" for place in places)
            raise UsageError(f"{name} is the name of several runs: write one of {several}")
        place = places[0].resolve()
        if place not in self._read:
            self._read[place] = _checked(place)
        return self._read[place]


def _checked(place: Path) -> ComparedRun:
    cited = read_cited(place)
    check_kept(cited)
    if not cited.run.corpus.citable:
        raise UnusableRunError(f"{place}: its corpus proves that an installation works, and no recall")
    check_findings(cited, "history")
    return cited


def row_of(cited: ComparedRun, arm: str, scope: str, metric: str, part: str = "") -> Row:
    """Return one result, of all questions or of a `part`: a view or a type. UsageError lists the
    known names.
    """
    figures = cited.figures
    check_known("arm", arm, figures.arms, cited)
    check_known("scope", scope, [one.name for one in cited.run.scopes], cited)
    check_known("metric", metric, [*figures.names, COUNTED], cited)
    view, kind = view_and_type(figures, part, cited)
    names = figures.names if metric == COUNTED else [metric]
    found = next((row for one in names if (row := figures.row(arm, scope, one, view, kind))), None)
    if found is None:
        raise UsageError(
            f"{cited.run.name} has no {metric} of {arm} in scope {scope}, {part or 'all questions'}"
        )
    return found


def view_and_type(figures: Figures, part: str, cited: ComparedRun) -> tuple[str, str]:
    """Return the view and the type that `part` names: one of both, the other being all."""
    if not part or part in figures.views:
        return part, "all"
    check_known("type or view", part, (*figures.types, *figures.views), cited)
    return "", part


def check_known(what: str, name: str, known: Iterable[str], cited: ComparedRun) -> None:
    """Raise UsageError, listing the known names, if `name` is not among them."""
    listed = list(known)
    if name not in listed:
        raise UsageError(f"{cited.run.name} has no {what} {name!r}: it has {', '.join(listed)}")
