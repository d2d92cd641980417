"""One file of a folder that somebody else may have filled: regular, inside the folder, of bounded size."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from runner.errors import RunnerError, os_errors

DOCUMENT = 64 << 20  # bytes of a document that is read whole
KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def read_regular(path: Path, most: int, kind: type[RunnerError], inside: Path | None = None) -> bytes:
    """The bytes of `path`; a `kind` with half a sentence where it is no regular file or has more than `most`.

    With `inside` a link that leads out of that folder is refused, too. Nothing is waited for: a named pipe or
    a device is told by its kind before it is opened.
    """
    name = path.name
    with os_errors(f"{name} cannot be read ({{why}})", kind):
        demand_regular(path, kind)
        if inside is not None and not path.resolve().is_relative_to(inside.resolve()):
            raise kind(f"{name} is a link that leads out of the folder")
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            _demand_regular(os.fstat(file.fileno()).st_mode, name, kind)
            content = file.read(most + 1)
    if len(content) > most:
        raise kind(f"{name} has more than the {most >> 20:,} MiB that are read of such a file")
    return content


def demand_regular(path: Path, kind: type[RunnerError]) -> None:
    """A `kind` that names what `path` is where it is no regular file; OSError where it is nothing."""
    _demand_regular(path.stat().st_mode, path.name, kind)


def _demand_regular(mode: int, name: str, kind: type[RunnerError]) -> None:
    if not stat.S_ISREG(mode):
        raise kind(f"{name} is {KINDS.get(stat.S_IFMT(mode), 'something else')} and no regular file")
