"""JSONL files: written line by line, and read back as records of one kind."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, Generic, Self, TypeVar

import msgspec

from pgmnemo.errors import OutputError
from runner.runs.canonical import compact
from runner.runs.storage import demand_regular, output_errors, write_file

L = TypeVar("L")


class LineWriter:
    """A writer that appends whole lines to a file, unbuffered; a context manager.

    Without a buffer a killed run loses at most the last line, and closing after a full disk cannot fail
    again.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with output_errors(path):
            self._file = path.open("ab", buffering=0)

    def append(self, line: str) -> None:
        """Write one line (without its newline).

        Raises OutputError on a full disk, leaving an incomplete line.
        """
        rest = memoryview(line.encode() + b"\n")
        with output_errors(self.path):
            while rest:
                rest = rest[self._file.write(rest) or 0 :]

    def forget(self, arm: str) -> None:
        """Remove the lines of an arm that failed; each line is a JSON object with the key `arm`."""
        with output_errors(self.path):
            lines = self.path.read_bytes().splitlines(True)
            kept = [line for line in lines if json.loads(line)["arm"] != arm]
            self._file.close()
            write_file(self.path, b"".join(kept).decode())
            self._file = self.path.open("ab", buffering=0)

    def close(self) -> None:
        """Flush everything to disk and close."""
        if not self._file.closed:
            with output_errors(self.path), self._file:
                os.fsync(self._file.fileno())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def drop_torn_line(path: Path) -> None:
    """Remove an incomplete last line of `path`, which a killed run leaves."""
    if not path.exists():
        return
    with output_errors(path):
        demand_regular(path, OutputError)
    with output_errors(path), path.open("r+b") as file:
        content = file.read()
        file.truncate(content.rfind(b"\n") + 1)


class RecordFile(LineWriter, Generic[L]):
    """A JSONL file of records of `kind`; `held` are the records in it. An incomplete last line is cut."""

    def __init__(self, path: Path, kind: type[L], what: str = "") -> None:
        drop_torn_line(path)
        self.held = list(read_lines(path, kind, what)) if path.exists() else []
        super().__init__(path)

    def write(self, line: L) -> None:
        """Append one record. Raises OutputError on a full disk."""
        self.append(compact(asdict(line)))  # type: ignore[call-overload]
        self.held.append(line)


def lines_text(records: Iterable[Any]) -> str:
    """Return records as the lines of a JSONL file."""
    return "".join(f"{compact(asdict(record))}\n" for record in records)


def read_lines(path: Path, kind: type[L], what: str = "") -> Iterator[L]:
    """Return the records of a file, in its order. Raises OutputError with the number of a malformed line."""
    return decode_lines(path.read_bytes(), path.name, kind, what)


def decode_lines(content: bytes, name: str, kind: type[L], what: str = "") -> Iterator[L]:
    """Yield the records of kind `kind` in `content`, in order.

    `name` is the file's name and `what` the noun for a record, in messages. Raises OutputError with the
    number of a malformed line.
    """
    what = what or kind.__name__.lower()
    for number, line in enumerate(content.splitlines(), start=1):
        try:
            yield msgspec.json.decode(line, type=kind)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise OutputError(f"{name}, line {number} is no {what} ({error})") from None
