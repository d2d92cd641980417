"""The search for a corpus: --data, then the suite's variable, then the folder that `fetch` fills."""

from __future__ import annotations

from collections.abc import Mapping
from os.path import isdir, isfile  # unlike Path's, false where a folder above may not be entered
from pathlib import Path

import platformdirs

from runner.errors import CorpusError
from runner.protocol.editions import current
from runner.protocol.editions.edition import SuitePins

PACKINGS = ("", ".xz", ".gz")


def data_folder(suite: str) -> Path:
    """Return the user's data folder of `suite`, which `fetch` fills."""
    return Path(platformdirs.user_data_dir("pgmnemo", appauthor=False)) / suite


def locate(
    suite: str,
    data: Path | None,
    environ: Mapping[str, str],
    file: str = "",
    other_files: tuple[str, ...] = (),
    committed: Path | None = None,
) -> Path:
    """Return the file of `suite`.

    The first source that is set must lead to it, else CorpusError says what is missing. The sources are
    `data`, the suite's variable, the folder `committed`, and the user's data folder. `data` and the variable
    name a file or a folder; in a folder the registered file name is tried first (`file` if none is
    registered), then `other_files`, each plain, as .xz and as .gz.
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
    if (found := _first(data_folder(suite), names)) is not None:
        return found
    raise _nowhere(names[0], suite, pins)


def locate_folder(
    suite: str,
    data: Path | None,
    environ: Mapping[str, str],
    patterns: tuple[str, ...],
    file: str = "",
    title: str = "",
) -> Path:
    """Return the folder with the files of `suite`, which match `patterns`.

    Raises CorpusError if it is missing. `data` and the variable name the folder itself or its parent; the
    folder may also be inside the parent's folder `chats`, as in BEAM's repository. `file` and `title` are
    the folder's name and the corpus's if no edition pins them.
    """
    pins = current().suites.get(suite)
    name, what = (pins.file, pins.what) if pins else (file, title)
    variable = (pins.data_variable if pins else None) or ""
    ways = ((data, "--data"), (environ.get(variable), variable))
    place, origin = next(((Path(way).expanduser(), origin) for way, origin in ways if way), (None, ""))
    if place is None:
        if found := _holding(data_folder(suite), name, patterns):
            return found
        raise _nowhere(f"folder {name} of {what}", suite, pins)
    if not isdir(place):
        fault = "is a file" if isfile(place) else "does not exist or may not be read"
        raise CorpusError(
            f"{origin} names {place}, which {fault}; name the folder {name} of {what}, or the one "
            "that holds it"
        )
    found = _holding(place, name, patterns)
    if found == place and (other := _others(suite).get(place.name)):
        raise CorpusError(
            f"{origin} names {place}, which is the folder of the suite {other}; name "
            f"{name} of {what}, or the folder that holds both"
        )
    if found:
        return found
    raise CorpusError(
        f"the folder {place} ({origin}) holds no {patterns[-1]} of {what}, nor does a folder {name} in it"
    )


def _others(suite: str) -> dict[str, str]:
    """Return the names of the suites that share this suite's variable, each by its folder's name."""
    suites = current().suites
    variable = suites[suite].data_variable if suite in suites else None
    return {
        p.file: name
        for name, p in suites.items()
        if variable and name != suite and p.data_variable == variable
    }


def _holding(place: Path, name: str, patterns: tuple[str, ...]) -> Path | None:
    """Return the first of `place/name`, `place/chats/name` and `place` that contains such files.

    Returns None if none does.
    """
    folders = (place / name, place / "chats" / name, place)
    return next((one for one in folders for pattern in patterns for _ in one.glob(pattern)), None)


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


def _nowhere(what: str, suite: str, pins: SuitePins | None) -> CorpusError:
    ways = ["name it with --data"]
    if pins and pins.data_variable:
        ways.append(f"set {pins.data_variable} to its folder")
    if pins and pins.url:
        ways.append(f"run 'python -m runner fetch {suite}', which puts it into {data_folder(suite)}")
    if len(ways) > 1:
        ways[-1] = f"or {ways[-1]}"
    return CorpusError(f"no {what} was found: {', '.join(ways)}")


def _first(folder: Path, names: tuple[str, ...]) -> Path | None:
    candidates = (folder / f"{name}{packing}" for name in names for packing in PACKINGS)
    return next((path for path in candidates if isfile(path)), None)
