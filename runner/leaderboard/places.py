"""From what the command line names to runs: a folder or an archive, a folder of them, or a pattern."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from glob import glob, has_magic
from pathlib import Path

from runner.errors import UsageError
from runner.runs.archive import is_archive
from runner.runs.reading import is_run


def results_folders(names: Iterable[Path | str]) -> tuple[Path, ...]:
    """Every results folder and every archive of one that `names` lead to, each once, in the order named.

    Raises UsageError for a name that leads to none.
    """
    found: dict[Path, Path] = {}
    for name in names:
        for folder in _runs(str(name)):
            found.setdefault(folder.resolve(), folder)
    if not found:
        raise UsageError("a leaderboard needs results folders: name at least one")
    return tuple(found.values())


def _runs(name: str) -> list[Path]:
    pattern = has_magic(name) and not Path(name).exists()  # a folder may bear the name [a]
    places = [Path(place) for place in sorted(glob(name))] if pattern else [Path(name)]
    runs = [run for place in places for run in _inside(place)]
    if not runs:
        raise UsageError(f"{name} holds no run; name results folders, or a folder that holds some")
    return runs


def _inside(place: Path) -> Iterator[Path]:
    if _stands_for_run(place):
        yield place
    elif place.is_dir():
        found = (child for child in sorted(place.iterdir()) if child.name[0] != ".")
        yield from filter(_stands_for_run, found)


def _stands_for_run(place: Path) -> bool:
    return is_run(place) or is_archive(place)
