"""The loader of editions. A missing or wrong entry is an error of one sentence.

Each edition is a folder next to this file: edition.toml has its pins, PROTOCOL.sha256 the hash of its text,
which is at the top of the repository while the edition is in force and in git's history afterwards. An
edition that `follows` another has only its additions: a list is appended to the former list, a value replaces
the former value, and so does a list that `replaces` names. next.toml collects the additions of the next
edition (tools/edition.py).
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Any, get_args, get_type_hints

import msgspec

from pgmnemo.errors import PgmnemoError, UsageError
from pgmnemo.paths import release_numbers
from runner.paths import ROOT
from runner.protocol.editions.edition import Edition

FOLDER = Path(__file__).parent
DOCUMENT = ROOT / "PROTOCOL.md"
PINS, TEXT = "edition.toml", "PROTOCOL.sha256"
FOLLOWS, REPLACES = "follows", "replaces"
NO_FILES: Mapping[str, str] = MappingProxyType({})
LAST_OF_1 = "1012da63d28f41393beda79a0d654163576f88e1"
LAST_OF_2_1 = "eba20d03ac170769da89556c6ef441cc2530deb2"
OLDER: Mapping[str, str] = MappingProxyType(
    dict.fromkeys(("1.1.0", "1.2.0", "1.3.0", "1.4.0", "1.5.0", "1.6.0"), LAST_OF_1)
    | dict.fromkeys(("2.0.0", "2.1.0"), LAST_OF_2_1)
)
"""Editions that are no longer read here, each with a commit of this repository that reads it."""


class OlderEdition(UsageError):
    """An error for a run whose edition this version cannot read; the message says how to verify the run."""


def known(folder: Path = FOLDER) -> tuple[str, ...]:
    """Return the versions of all readable editions, oldest first."""
    there = {place.parent.name for place in folder.glob(f"*/{PINS}")}
    return tuple(sorted(there - OLDER.keys(), key=release_numbers))


def current() -> Edition:
    """Return the newest edition, under which runs are made."""
    return edition(known()[-1])


@cache
def edition(version: str, folder: Path = FOLDER) -> Edition:
    """Return the edition of `version`.

    Raises UsageError with the known versions or the name of a missing pin, and PgmnemoError for a missing
    file.
    """
    if version not in known(folder):
        raise UsageError(
            f"protocol {version} is not known here; known are: {', '.join(known(folder)) or '(none)'}"
        )
    pins = folder / version / PINS
    tables = tables_of(pins)
    hashes = {
        "sha256": _bytes(folder / version / TEXT).decode().partition(" ")[0],
        "pins_sha256": sha256(_bytes(pins)).hexdigest(),
    }
    try:
        return msgspec.convert({**tables, **hashes}, Edition)
    except msgspec.ValidationError as error:
        raise UsageError(f"{pins}: {describe_error(error, tables)}; restore it from the repository") from None


def tables_of(pins: Path) -> dict[str, Any]:
    """Return the tables of an edition.toml, merged into the tables of the edition before it."""
    try:
        tables = tomllib.loads(_bytes(pins).decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        mend = "restore it from the repository" if pins.name == PINS else "mend it"
        raise UsageError(f"{pins} is not valid TOML ({error}); {mend}") from None
    if (former := tables.pop(FOLLOWS, None)) is None:
        return tables
    base = pins.parents[1] / former["version"] / PINS
    if sha256(_bytes(base)).hexdigest() != former["pins_sha256"]:
        raise UsageError(f"{base} is not the file that {pins} follows; restore both from the repository")
    return merged(tables_of(base), tables)


def merged(base: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Return `base` with `more`: tables are merged, lists are appended, any other value is replaced.

    The lists that `more` names under `replaces`, such as `metrics.headline`, are replaced, too.
    """
    rest = {name: value for name, value in more.items() if name != REPLACES}
    return _merged(base, rest, more.get(REPLACES, ()))


def _merged(
    base: Mapping[str, Any], more: Mapping[str, Any], replaces: Collection[str], within: str = ""
) -> dict[str, Any]:
    def added(name: str, value: Any) -> Any:
        former, place = base.get(name), f"{within}{name}"
        if isinstance(former, dict) and isinstance(value, dict):
            return _merged(former, value, replaces, f"{place}.")
        if isinstance(former, list) and isinstance(value, list) and place not in replaces:
            return [*former, *value]
        return value

    return {**base, **{name: added(name, value) for name, value in more.items()}}


def demand_known(version: str, folder: Path) -> None:
    """Raise OlderEdition if the edition of the run in `folder` can only be read by older commits."""
    if version in OLDER:
        commit, place = OLDER[version], f"../pgmnemo-{version}"
        raise OlderEdition(
            f"{folder} is a run of the older edition {version}, which commit {commit} of this "
            f"repository verifies: `git worktree add {place} {commit[:12]}`, then there "
            f"`python -m runner verify {_named(folder)}`"
        )


def _named(folder: Path) -> str:
    """Return the path of a folder relative to the repository; absolute if it is outside."""
    place = folder.absolute()
    return place.relative_to(ROOT).as_posix() if place.is_relative_to(ROOT) else str(place)


def list_digest(files: Mapping[str, str]) -> str:
    """Return the SHA-256 of the list of a folder's files: a line `<sha256> <name>` each, in order of name."""
    lines = (f"{files[name]}  {name}\n" for name in sorted(files))
    return sha256("".join(lines).encode()).hexdigest()


def registered_files(edition: Edition, suite: str) -> Mapping[str, str]:
    """Return the SHA-256 of each file of a suite's folder, by name; empty for a corpus without such a list.

    Raises PgmnemoError if the list is missing or is not the one that the edition pins.
    """
    pins = edition.suites.get(suite)
    if pins is None or pins.files is None:
        return NO_FILES
    return _files(FOLDER / pins.files, str(pins.sha256))


@cache
def _files(path: Path, pinned: str) -> Mapping[str, str]:
    lines = _bytes(path).decode().splitlines()
    files = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    if list_digest(files) != pinned:
        raise PgmnemoError(f"{path} is not the list that its edition pins; restore it from the repository")
    return MappingProxyType(files)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise PgmnemoError(
            f"the protocol file {path} cannot be read ({error.strerror}); "
            "run from a complete checkout of the repository"
        ) from None


def describe_error(error: msgspec.ValidationError, tables: Mapping[str, Any]) -> str:
    """Return msgspec's message, with the full name of the faulty pin."""
    what, _, path = str(error).partition(" - at `$")
    place = path.strip("`").lstrip(".")
    while "[...]" in place:
        place = place.replace("[...]", f".{_member(place.partition('[...]')[0], tables)}", 1)
    sentence = what[:1].lower() + what[1:]
    return f"{sentence} in {place}" if place else sentence


def _member(place: str, tables: Mapping[str, Any]) -> str:
    """Return the key of the faulty member of the table at `place`, because msgspec does not name it."""
    kind: Any = Edition
    for key in place.split("."):
        kind = get_args(kind)[1] if get_args(kind) else get_type_hints(kind)[key]
        tables = tables[key]
    for name, member in tables.items():
        try:
            msgspec.convert(member, get_args(kind)[1])
        except msgspec.ValidationError:
            return str(name)
    return "…"
