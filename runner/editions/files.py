"""The hash of each file of a corpus that is a folder, in the list that an edition's edition.toml names."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType

from runner.editions.edition import Edition
from runner.editions.load import FOLDER
from runner.errors import RunnerError

NONE: Mapping[str, str] = MappingProxyType({})


def listed(files: Mapping[str, str]) -> str:
    """SHA-256 of the list of a folder's files: a line `<sha256>  <name>` each, in order of name."""
    lines = (f"{files[name]}  {name}\n" for name in sorted(files))
    return sha256("".join(lines).encode()).hexdigest()


def registered_files(edition: Edition, suite: str) -> Mapping[str, str]:
    """SHA-256 by name of each file of a suite's folder; empty for a corpus of one file or of no edition.

    RunnerError where the list is missing or is not the one that the edition pins.
    """
    pins = edition.suites.get(suite)
    if pins is None or pins.files is None:
        return NONE
    return _read(FOLDER / edition.version / pins.files, str(pins.sha256))


@cache
def _read(path: Path, pinned: str) -> Mapping[str, str]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise RunnerError(
            f"the protocol file {path} cannot be read ({error.strerror}); "
            "run from a complete checkout of the repository"
        ) from None
    files = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    if listed(files) != pinned:
        raise RunnerError(f"{path} is not the list that its edition pins; restore it from the repository")
    return MappingProxyType(files)
