"""The files of lines of an old run leave the checkout, and come back out of the repository's own history.

`thin` notes in benchmarks/raw.json which commit has them, for clones that lack the history.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import msgspec

from pgmnemo.errors import OutputError, UsageError
from runner.errors import RefusedError
from runner.runs.canonical import pretty
from runner.runs.environment import git
from runner.runs.manifest import MANIFEST
from runner.runs.packing import LINES, packed, unpacked, write_packed
from runner.runs.reading import Results, is_run
from runner.runs.storage import DOCUMENT, read_regular, reported, write_file

NOTED = "raw.json"  # in benchmarks/: the commit that has the files of lines of each run that lacks them


def thin(folder: Path) -> list[str]:
    """Take away the files of lines of a run whose commit has them; their names.

    Raises UsageError for no run, RefusedError for a file that no commit has as the manifest lists it, and
    leaves all of them there.
    """
    results = _results(folder)
    names = [name for name in _listed(results) if not _absent(folder, name)]
    commit = _asked(folder, "log", "-1", "--format=%H", "HEAD", "--", ".")
    for name in names:
        if _committed(results, commit, name) is None:
            raise RefusedError(
                f"{folder / name} is in no commit as {MANIFEST} lists it: commit the run, then call again"
            )
    if names:
        _note(folder, commit)
    for name in names:
        with reported(folder):
            for path in (folder / name, packed(folder, name)):
                path.unlink(missing_ok=True)
    return names


def restore(folder: Path) -> list[str]:
    """Bring back the files of lines that a run lacks, packed; their names, none where nothing is lacking.

    Each is held against the SHA-256 in the manifest before it is written. Raises UsageError for no run,
    OutputError where no commit at hand has a file, with the commit to fetch where one is known.
    """
    results = _results(folder)
    lacking = [name for name in _listed(results) if _absent(folder, name)]
    for name in lacking:
        found = (_committed(results, commit, name) for commit in _commits(folder))
        content = next((one for one in found if one is not None), None)
        if content is None:
            raise OutputError(_nowhere(folder, name))
        write_packed(folder, name, content)
    return lacking


def _results(folder: Path) -> Results:
    if not is_run(folder):
        raise UsageError(f"{folder} is no results folder; name one that a run has finished")
    return Results(folder)


def _listed(results: Results) -> list[str]:
    """The files of lines that the manifest lists."""
    return [name for name in results.schemas if name.endswith(LINES)]


def _absent(folder: Path, name: str) -> bool:
    return not (folder / name).exists() and not packed(folder, name).exists()


def _committed(results: Results, commit: str, name: str) -> bytes | None:
    """The file as `commit` has it, plain or packed; None where it has none of the manifest's SHA-256."""
    [wanted] = (entry["sha256"] for entry in results.manifest["files"] if entry["name"] == name)
    for path in (packed(results.folder, name), results.folder / name):
        done = git(results.folder, "cat-file", "blob", f"{commit}:./{path.name}")
        if done.returncode == 0:
            with suppress(OutputError):
                plain = path.name == name
                content = done.stdout if plain else unpacked(done.stdout, path.name, OutputError)
                if sha256(content).hexdigest() == wanted:
                    return content
    return None


def _commits(folder: Path) -> Iterator[str]:
    """Where to look: the commit that is noted, then those that touched the run, the first of them first."""
    if (noted := _noted(folder)) is not None:
        yield noted
    yield from _asked(folder, "log", "--reverse", "--format=%H", "HEAD", "--", ".").split()


def _nowhere(folder: Path, name: str) -> str:
    told = f"{folder} lacks {name}, and no commit of this clone has it"
    if (noted := _noted(folder)) is None:
        return f"{told}: fetch the whole history (`git fetch --unshallow`), then call again"
    return f"{told}: `git fetch --depth 1 origin {noted}`, then call again"


def _asked(folder: Path, *arguments: str) -> str:
    """What git answers; UsageError where the run stands in no repository, or git is not there."""
    try:
        done = git(folder, *arguments)
    except OSError:
        raise UsageError(
            "git cannot be run: install it; the files of lines of old runs stand in the history"
        ) from None
    if done.returncode or not done.stdout.strip():
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise UsageError(f"{folder} is in no commit of a git repository{f' ({said[0]})' if said else ''}")
    return done.stdout.decode().strip()


def _noted(folder: Path) -> str | None:
    place = _place(folder)
    return _notes(place[0]).get(place[1]) if place else None


def _note(folder: Path, commit: str) -> None:
    if place := _place(folder):
        path, run = place
        write_file(path, pretty(dict(sorted({**_notes(path), run: commit}.items()))))


def _place(folder: Path) -> tuple[Path, str] | None:
    """The file of notes of the repository that keeps the run, and the run's name in it."""
    folder = folder.resolve()
    if not folder.match("benchmarks/*/results/*"):
        return None
    return folder.parents[2] / NOTED, folder.relative_to(folder.parents[2]).as_posix()


def _notes(path: Path) -> dict[str, str]:
    if not path.exists():
        return {}
    try:
        return msgspec.json.decode(read_regular(path, DOCUMENT, OutputError), type=dict[str, str])
    except (msgspec.MsgspecError, ValueError, OutputError) as error:
        raise OutputError(f"{path} is no list of commits ({error}); take it from the repository") from None
