"""A cache of the runs that marks name; each run is read once."""

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

COUNTED = "n"  # the name for the number of questions, in place of a metric


class RunCache:
    """Runs by their folder, or by their name below benchmarks/*/results of `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._read: dict[Path, ComparedRun] = {}
        self.older: set[str] = set()  # errors already reported on runs of older editions

    @cached_property
    def _named(self) -> dict[str, list[Path]]:
        """The folders of every kept run, by `name` and by `suite/name`."""
        found = defaultdict(list)
        for place in sorted(self.root.glob("benchmarks/*/results/*")):
            for name in (place.name, f"{place.parents[1].name}/{place.name}"):
                found[name].append(place)
        return found

    def run(self, name: str, beside: Path) -> ComparedRun:
        """Return the run with this name, or the run at this path from the root or from the folder `beside`.

        Raises UsageError if no run or several runs match, and UnusableRunError for a run that may not be
        cited.
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
    """Return one row of the metrics, over all questions or over `part`, a view or a type.

    Raises UsageError with the known names.
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
    """Return (view, "all") if `part` names a view or is empty, and ("", type) if it names a type."""
    if not part or part in figures.views:
        return part, "all"
    check_known("type or view", part, (*figures.types, *figures.views), cited)
    return "", part


def check_known(what: str, name: str, known: Iterable[str], cited: ComparedRun) -> None:
    """Raise UsageError, listing the known names, if `name` is not among them."""
    listed = list(known)
    if name not in listed:
        raise UsageError(f"{cited.run.name} has no {what} {name!r}: it has {', '.join(listed)}")
