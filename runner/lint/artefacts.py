"""The results folders that a document names, and what stands in them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from runner.cite.comparable import difference
from runner.cite.results import Cited, read_cited
from runner.errors import RunnerError
from runner.runs.reading import Results

PATH = re.compile(
    r"(?<![\w./-])(?:[\w.:-]{0,80}/){0,20}results/(?P<name>v?\d[\w.+-]{0,200}[\w+-])|"
    r"(?<=/)results/(?P<named>v?\d[\w.+-]{0,200}[\w+-])"
)
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
    _named: dict[tuple[str, Path], list[Source]] = field(default_factory=dict)
    _versions: dict[Path, frozenset[str]] = field(default_factory=dict)

    def sources(self, text: str, file: Path) -> list[Source]:
        """Every results folder that `text`, which stands in `file`, names."""
        if (text, file) not in self._named:
            found = {match[0]: self._source(match[0], file) for match in PATH.finditer(text)}
            self._named[text, file] = list(found.values())
        return self._named[text, file]

    def versions(self, runs: Iterable[Cited]) -> frozenset[str]:
        """The versions of which there are runs beside `runs`: those that a sentence can speak of."""
        places = {run.folder.parent for run in runs}
        for place in places - self._versions.keys():
            names = (folder.name.partition("_")[0] for folder in place.glob("v*_*"))
            self._versions[place] = frozenset(name.removeprefix("v") for name in names)
        return frozenset().union(*(self._versions[place] for place in places))

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


@lru_cache(maxsize=1024)
def rows(results: Cited, metric: str) -> list[Row]:
    """Every row of metrics.json that is of `metric`."""
    return [row for row in results.metrics["results"] if row["metric"] == metric]
