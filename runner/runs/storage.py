"""Writing to the disk: whole or not at all, and every failure as one sentence."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from runner.errors import OutputError

FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
FORBIDDEN = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})


@contextmanager
def reported(place: Path) -> Iterator[None]:
    """Turn an OSError about `place` into an OutputError of one sentence."""
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
    """Write `text` as UTF-8 to `path`, whole or not at all, and see it onto the disk.

    Raises OutputError when the disk is full or the folder cannot be written.
    """
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> None:
    """Write `content` to `path` as `write_file` does its text."""
    with reported(path):
        replace_file(path, content)


def replace_file(path: Path, content: bytes) -> None:
    """The same, with the OSError as it is."""
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
    """See the entries of a folder onto the disk, where the system can do that."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:  # some network file systems cannot sync a folder
            raise
    finally:
        os.close(descriptor)


class LineWriter:
    """Appends whole lines to a file, each handed to the system before the next; a context manager.

    Unbuffered on purpose: a killed run keeps every line but at most the last, and closing after a full disk
    has nothing left to fail on.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with reported(path):
            self._file = path.open("ab", buffering=0)

    def append(self, line: str) -> None:
        """Write one line (without its newline). Raises OutputError on a full disk, leaving a torn line."""
        rest = memoryview(line.encode() + b"\n")
        with reported(self.path):
            while rest:
                rest = rest[self._file.write(rest) or 0 :]

    def forget(self, arm: str) -> None:
        """Take away the lines of an arm that failed; each line is a JSON object that names its arm."""
        with reported(self.path):
            lines = self.path.read_bytes().splitlines(True)
            kept = [line for line in lines if json.loads(line)["arm"] != arm]
            self._file.close()
            write_file(self.path, b"".join(kept).decode())
            self._file = self.path.open("ab", buffering=0)

    def close(self) -> None:
        """See everything onto the disk and close."""
        if not self._file.closed:
            with reported(self.path), self._file:
                os.fsync(self._file.fileno())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def drop_torn_line(path: Path) -> None:
    """Cut what follows the last newline of `path`: the line that a killed run did not finish."""
    if not path.exists():
        return
    with reported(path), path.open("r+b") as file:
        content = file.read()
        file.truncate(content.rfind(b"\n") + 1)
