"""The results folders that a document names, and what stands in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runner.cite.comparable import difference
from runner.cite.results import Cited, read_cited
from runner.errors import RunnerError
from runner.runs.reading import Results

PATH = re.compile(r"(?:[\w.-]+/)*results/(?P<name>v?\d[\w.+-]*[\w+-])")
SYSTEM = re.compile(r"\b(?:hybrid|extension)\b", re.IGNORECASE)
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Source:
    """One path as it is written. `results` is None where nothing can be read; `trouble` says why."""

    path: str
    results: Cited | None
    trouble: str = ""
    blocked: bool = False


@dataclass(slots=True)
class Shelf:
    """Cited folders under `root`, each read once."""

    root: Path
    _read: dict[Path, Source] = field(default_factory=dict)

    def sources(self, text: str, file: Path) -> list[Source]:
        """Every results folder that `text`, which stands in `file`, names."""
        return list({m[0]: self._source(m[0], file) for m in PATH.finditer(text)}.values())

    def _source(self, path: str, file: Path) -> Source:
        _, repository, rest = path.rpartition("benchmarks/")
        places = (self.root / f"{repository}{rest}", file.parent / path)
        folder = next((place for place in places if place.is_dir()), places[0])
        if folder not in self._read:
            self._read[folder] = self._open(path, folder)
        return self._read[folder]

    def _open(self, path: str, folder: Path) -> Source:
        if Results(folder).blocked:
            return Source(path, None, f"{path} is blocked", blocked=True)
        if not folder.is_dir():
            return Source(path, None, f"there is no results folder {path}")
        try:
            return Source(path, read_cited(folder))
        except RunnerError as error:
            return Source(path, None, str(error).replace(str(folder), path))

    def earlier(self, version: str, after: Cited) -> Iterator[Cited]:
        """Citable runs of another `version` beside `after` that its citation may name as previous."""
        for folder in sorted(after.folder.parent.glob(f"v{version}_*")):
            source = self._open(folder.name, folder)
            if source.results is not None and difference(source.results.run, after.run) is None:
                yield source.results


def rows(results: Cited, metric: str) -> list[Row]:
    """Every row of metrics.json that is of `metric`."""
    return [row for row in results.metrics["results"] if row["metric"] == metric]


def chosen(results: Cited, metric: str, text: str) -> list[Row]:
    """The rows that `text` speaks of: its arm, scope, view and type, else what a headline is.

    Where it names the headline's own beside another ("the hybrid … its bm25 leg"), both are meant.
    """
    found = rows(results, metric)
    run = results.run
    arm, scope, view = run.system, run.scopes[0].name, run.headline_view
    for column, default in (("arm", arm), ("scope", scope), ("view", view), ("type", "all")):
        values = dict.fromkeys(str(row[column]) for row in found)
        named = [value for value in values if value != default and _says(text, value)]
        both = column == "arm" and SYSTEM.search(text) is not None
        if not named or both or _says(text, default):
            named.append(default)
        found = [row for row in found if row[column] in named]
    return found


def _says(text: str, value: str) -> bool:
    if value == "all":
        return False
    return re.search(rf"(?<![\w-]){re.escape(value)}(?:ed)?(?![\w-])", text, re.IGNORECASE) is not None
