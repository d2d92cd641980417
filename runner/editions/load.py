"""Reading an edition: what it lacks, or what is not of its kind, is named in one sentence.

Each edition is a folder beside this file with its edition.toml and its PROTOCOL.md; the text of the newest
one stands at the top of the repository instead.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, get_args, get_type_hints

import msgspec

from runner.editions.edition import Edition
from runner.errors import RunnerError, UsageError
from runner.places import ROOT
from runner.versions import release

FOLDER = Path(__file__).parent
DOCUMENT = ROOT / "PROTOCOL.md"
PINS = "edition.toml"


def known(folder: Path = FOLDER) -> tuple[str, ...]:
    """The versions of all editions, oldest first."""
    return tuple(sorted((place.parent.name for place in folder.glob(f"*/{PINS}")), key=release))


def current() -> Edition:
    """The newest edition: the one in force, under which runs are made."""
    return edition(known()[-1])


@cache
def edition(version: str, folder: Path = FOLDER) -> Edition:
    """The edition of `version`.

    UsageError lists those that are known, or names the pin that is missing; RunnerError for a missing file.
    """
    if version not in known(folder):
        raise UsageError(
            f"protocol {version} is not known here; known are: {', '.join(known(folder)) or '(none)'}"
        )
    kept = folder / version / DOCUMENT.name
    newest = version == known(folder)[-1] and not kept.is_file()
    return read(folder / version / PINS, DOCUMENT if newest else kept)


def read(pins: Path, document: Path) -> Edition:
    """The edition that stands in `pins`, with the hash of `document`."""
    text = _bytes(pins)
    hashes = {"sha256": sha256(_bytes(document)).hexdigest(), "pins_sha256": sha256(text).hexdigest()}
    try:
        tables = tomllib.loads(text.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{pins} is not valid TOML ({error}); restore it from the repository") from None
    try:
        return msgspec.convert({**tables, **hashes}, Edition)
    except msgspec.ValidationError as error:
        raise UsageError(f"{pins}: {_words(error, tables)}; restore it from the repository") from None


def _words(error: msgspec.ValidationError, tables: Mapping[str, Any]) -> str:
    """msgspec's sentence, with the name of the pin's table."""
    what, _, path = str(error).partition(" - at `$")
    place = path.strip("`").lstrip(".")
    while "[...]" in place:
        place = place.replace("[...]", f".{_member(place.partition('[...]')[0], tables)}", 1)
    sentence = what[:1].lower() + what[1:]
    return f"{sentence} in {place}" if place else sentence


def _member(place: str, tables: Mapping[str, Any]) -> str:
    """Which member of the table of tables, or of values, at `place` is at fault: msgspec does not say."""
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


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise RunnerError(
            f"the protocol file {path} cannot be read ({error.strerror}); "
            "run from a complete checkout of the repository"
        ) from None
