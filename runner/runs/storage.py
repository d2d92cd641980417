"""Files on disk: written atomically, read only if regular; every failure is one sentence."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pgmnemo.errors import OutputError, PgmnemoError, os_errors

FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
FORBIDDEN = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})


@contextmanager
def output_errors(place: Path) -> Iterator[None]:
    """Turn an OSError in the block into an OutputError of one sentence about `place`."""
    try:
        yield
    except OSError as error:
        raise OutputError(_sentence(error, place)) from error


def _sentence(error: OSError, place: Path) -> str:
    if error.errno in FULL:
        return f"the disk is full at {place}: free some space, and run the command again"
    if error.errno in FORBIDDEN:
        return f"{place} cannot be written ({error.strerror}): name a folder of your own with --output"
    return f"{place} cannot be written: {error.strerror or error}; name another folder with --output"


def write_file(path: Path, text: str) -> None:
    """Write `text` as UTF-8 to `path` atomically, and flush it to disk.

    Raises OutputError if the disk is full or the folder cannot be written.
    """
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> None:
    """Write `content` to `path` atomically, as `write_file` does."""
    with output_errors(path):
        replace_file(path, content)


def replace_file(path: Path, content: bytes) -> None:
    """Replace a file atomically; raises OSError."""
    draft = path.with_name(f".{path.name}.draft")
    try:
        with draft.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise


def sync_folder(path: Path) -> None:
    """Flush the entries of a folder to disk, if the system supports it."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:  # some network file systems cannot sync a folder
            raise
    finally:
        os.close(descriptor)


DOCUMENT = 64 << 20  # bytes of a document that is read whole
KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def read_regular(path: Path, most: int, kind: type[PgmnemoError], inside: Path | None = None) -> bytes:
    """Return the bytes of `path`; raise `kind` if it is no regular file or has more than `most` bytes.

    The message is half a sentence. With `inside`, a link that leads out of that folder is rejected too. The
    call does not block: the file type of a named pipe or a device is checked before it is opened.
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


def demand_regular(path: Path, kind: type[PgmnemoError]) -> None:
    """Raise `kind` if `path` is not a regular file, or OSError if it is missing."""
    _demand_regular(path.stat().st_mode, path.name, kind)


def _demand_regular(mode: int, name: str, kind: type[PgmnemoError]) -> None:
    if not stat.S_ISREG(mode):
        raise kind(f"{name} is {KINDS.get(stat.S_IFMT(mode), 'something else')} and no regular file")
