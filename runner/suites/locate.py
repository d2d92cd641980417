"""Where a corpus is looked for: --data, then the suite's variable, then the folder that `fetch` fills."""

from __future__ import annotations

from collections.abc import Mapping
from os.path import isdir, isfile  # unlike Path's, false where a folder above may not be entered
from pathlib import Path

import platformdirs

from runner.editions import current
from runner.errors import CorpusError

PACKINGS = ("", ".xz", ".gz")


def data_folder(suite: str) -> Path:
    """The user's own data folder of `suite`, which `fetch` fills."""
    return Path(platformdirs.user_data_dir("pgmnemo", appauthor=False)) / suite


def locate(
    suite: str,
    data: Path | None,
    environ: Mapping[str, str],
    file: str = "",
    other_files: tuple[str, ...] = (),
    committed: Path | None = None,
) -> Path:
    """The file of `suite`. The first way that is used must lead to it; CorpusError says what was missing.

    `data` and the variable name a file or a folder; in a folder the registered file name is tried
    first (`file` where none is registered), then `other_files`, each plain, as .xz and as .gz.
    """
    pins = current().suites.get(suite)
    names = (pins.file if pins else file or f"{suite}.json", *other_files)
    if data is not None:
        return _inside(data.expanduser(), names, "--data")
    variable = pins.data_variable if pins else None
    if variable and environ.get(variable):
        return _inside(Path(environ[variable]).expanduser(), names, variable)
    if committed is not None:
        return _inside(committed, names, "the repository")
    return _fetched(suite, names, variable)


def _inside(place: Path, names: tuple[str, ...], origin: str) -> Path:
    if isfile(place):
        return place
    if not isdir(place):
        raise CorpusError(
            f"{origin} names {place}, which does not exist or may not be read; name {names[0]} or its folder"
        )
    found = _first(place, names)
    if found is None:
        raise CorpusError(f"the folder {place} ({origin}) holds no {names[0]}, nor one as .xz or .gz")
    return found


def _fetched(suite: str, names: tuple[str, ...], variable: str | None) -> Path:
    found = _first(data_folder(suite), names)
    if found is not None:
        return found
    ways = "name it with --data"
    if variable is not None:
        fetch = f"run 'python -m runner fetch {suite}', which puts it into {data_folder(suite)}"
        ways = f"{ways}, set {variable} to its folder, or {fetch}"
    raise CorpusError(f"no {names[0]} was found: {ways}")


def _first(folder: Path, names: tuple[str, ...]) -> Path | None:
    candidates = (folder / f"{name}{packing}" for name in names for packing in PACKINGS)
    return next((path for path in candidates if isfile(path)), None)
