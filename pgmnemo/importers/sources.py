"""The sources of importers: files of a folder or an archive, objects of JSON, and rows of databases."""

from __future__ import annotations

import io
import json
import os
import re
import sqlite3
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, TypeVar, cast

import psycopg
from psycopg.conninfo import conninfo_to_dict

from pgmnemo.client.jsonl_format import LONGEST, decode, lines_of
from pgmnemo.errors import UsageError, os_errors
from pgmnemo.escaping import escape_sentence
from pgmnemo.importers import ImportOptions
from pgmnemo.postgres.connections import READ_ONLY, connect, database_errors, dsn_label

T = TypeVar("T")
JSON = r"(?s).*\.(json|jsonl|ndjson)"
LINES = r"(?s).*\.(jsonl|ndjson)"
BATCH = 1_000  # rows of a database that are fetched at once
CHUNK = 65_536  # characters of a list that are read at once
RATIO, SMALL = 200, 10_000_000  # most unpacked bytes per packed byte, above SMALL bytes
LISTS = ("results", "memories", "conversations", "items")  # the field with the list if the file is an object
ARCHIVE = b"PK\x03\x04"  # how a .zip begins
READ = re.compile(r"(?:FROM|JOIN) (\w+)")
SPACE = re.compile(r"[ \t\r\n]*")
OTHERS = {
    b"\xff\xfe": "UTF-16; save it as UTF-8", b"\xfe\xff": "UTF-16; save it as UTF-8",
    b"\x1f\x8b": "packed by gzip; unpack it", b"SQLite format 3": "a database of SQLite; name a file of text",
}  # fmt: skip
"""The first bytes of files that are not text in UTF-8, and the remedy for each."""
DAMAGED = (OSError, ValueError, EOFError, RuntimeError, zlib.error, zipfile.BadZipFile, sqlite3.Error)
MEND = "mend it, or leave it out"


@dataclass(frozen=True, slots=True)
class ImportFile:
    """A file: its name in messages, its path within the place, and a function that opens it."""

    where: str
    name: str
    open: Callable[[], Any]
    path: Path | None = None  # None: a file in an archive


def sources(place: Path | str, names: str, options: ImportOptions) -> Iterator[ImportFile]:
    """Yield the file itself, or the matching files of a folder or an archive.

    Files with other names, hidden files and links are counted as not read. Raise UsageError if no file
    matches.
    """
    if place == "":
        raise UsageError("the place to read is empty; name a file or folder, such as . for this one")
    top, pattern = Path(place).expanduser(), re.compile(names, re.IGNORECASE)
    called = escape_sentence(str(top))
    with os_errors(f"{called} cannot be read ({{why}}); name a file or folder that can", UsageError):
        if top.is_fifo():
            raise UsageError(f"{called} is a pipe; save it as a file, or give an export to `mnemo import -`")
        if not (top.is_dir() or top.is_file()):
            raise UsageError(f"there is no file or folder {called}; name one that is there")
        if top.is_dir():
            found = _folder(top, pattern, options)
        elif begins(top, ARCHIVE):
            found = _archive(top, pattern, options)
        else:
            found = iter([_file(top, top.name)])
    if (first := next(found, None)) is None:
        raise UsageError(f"{called} holds no file of this format; name another place or format")
    yield first
    yield from islice(found, options.first)


def is_dsn(place: Path | str) -> bool:
    """Return whether a place is the address of a database, not a path."""
    return isinstance(place, str) and ("://" in place or "=" in place) and not os.path.exists(place)


def database_rows(dsn: str, query: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects that a query of one column returns, read in batches of one snapshot.

    Raise UsageError for a wrong address, and DatabaseError if the database refuses the query.
    """
    try:
        conninfo = conninfo_to_dict(dsn)
    except psycopg.ProgrammingError:
        raise UsageError("this is no address of a database; write it as postgresql://host/database") from None
    with (
        connect(conninfo, READ_ONLY, mend="start it, or correct the address") as connection,
        database_errors(dsn_label(conninfo)),
        connection.transaction(),
        connection.cursor("rows") as cursor,
    ):
        cursor.itersize = BATCH
        yield from (row for (row,) in cursor.execute(query))


def begins(path: Path, mark: bytes) -> bool:
    """Return whether a file begins with the bytes `mark`."""
    with open(path, "rb") as file:
        return file.read(len(mark)) == mark


def damage_as_fault(
    source: ImportFile, read: Callable[[BinaryIO, str], Iterator[T]], options: ImportOptions
) -> Iterator[T]:
    """Yield what `read` yields from a file; damage is reported as a fault and ends the file."""
    try:
        with io.BufferedReader(source.open()) as file:
            _check_begin(file.peek(16), source.where)
            yield from islice(read(file, source.where), options.first)
    except UsageError as error:
        options.fault(str(error))
    except DAMAGED as error:
        options.fault(f"{source.where} cannot be read ({_why(error)}); {MEND}")


def _check_begin(head: bytes, where: str) -> None:
    """Raise UsageError for a file that begins like UTF-16, gzip or SQLite."""
    if other := next((other for mark, other in OTHERS.items() if head.startswith(mark)), None):
        raise UsageError(f"{where} is {other}")


def objects(
    source: ImportFile, options: ImportOptions, *, lines: bool = False
) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Yield the objects of a JSON file, each with its number and its location for messages.

    They are the `lines` of the file, as in a .jsonl file, or else the entries of its list.
    """
    lines = lines or re.fullmatch(LINES, source.name, re.IGNORECASE) is not None
    read = partial(_lines if lines else _entries, options=options)
    for number, where, value in damage_as_fault(source, read, options):
        if isinstance(value, dict):
            yield number, where, value
        else:
            options.fault(f"{where} is no object; {MEND}")


def all_objects(
    place: Path | str, names: str, options: ImportOptions
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the objects of every JSON file of a file, folder or archive, each with its location for
    messages.
    """
    for source in sources(place, names, options):
        yield from ((where, value) for _, where, value in objects(source, options))


def rows(place: Path | str, query: str, options: ImportOptions) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a query of an SQLite file, which is opened read-only.

    The query may read only tables, because a view may have endless rows.
    """
    uri = f"{Path(place).expanduser().absolute().as_uri()}?mode=ro"
    try:
        with closing(sqlite3.connect(uri, uri=True)) as connection:
            read = {name.lower() for name in READ.findall(query)}
            kinds = connection.execute("SELECT lower(name), type FROM sqlite_master")
            if view := next((name for name, kind in kinds if name in read and kind == "view"), None):
                options.fault(f"{place}: {view} is a view, and a table is read here; {MEND}")
                return
            yield from connection.execute(query)
    except DAMAGED as error:
        options.fault(f"{place} cannot be read ({_why(error)}); {MEND}")


def _file(path: Path, name: str) -> ImportFile:
    return ImportFile(str(path), name, partial(open, path, "rb"), path)


def _folder(top: Path, names: re.Pattern[str], options: ImportOptions) -> Iterator[ImportFile]:
    unread: list[OSError] = []
    for folder, below, found in os.walk(top, onerror=unread.append):
        for name in sorted(below):
            if _is_hidden(name) or os.path.islink(Path(folder, name)):
                _count_unread(options, str(Path(folder, name)))
        below[:] = sorted(name for name in below if not _is_hidden(name))
        for path in (Path(folder, name) for name in sorted(found)):
            if (
                names.fullmatch(path.name)
                and not _is_hidden(path.name)
                and path.is_file()
                and not path.is_symlink()
            ):
                yield _file(path, path.relative_to(top).as_posix())
            else:
                _count_unread(options, str(path))
    for error in unread:
        options.fault(f"{error.filename} cannot be read ({error.strerror}); {MEND}")


def _is_hidden(name: str) -> bool:
    return name.startswith((".", "__MACOSX"))  # macOS stores attributes in this folder of an archive


def _count_unread(options: ImportOptions, where: str) -> None:
    """Count a file or folder that is not read, unless only the format is being detected."""
    if options.first is None:
        options.left.aside("other files", f"{where} is not read")


def _archive(path: Path, names: re.Pattern[str], options: ImportOptions) -> Iterator[ImportFile]:
    """Yield the matching files of an archive, unpacked as they are read.

    A file that expands too much is reported as a fault. So is an archive whose files together expand too
    much; the rest of it is not read.
    """
    unpacked, most = 0, max(SMALL, RATIO * path.stat().st_size)
    try:
        with zipfile.ZipFile(path) as archive:
            for entry in sorted(archive.infolist(), key=lambda one: one.filename):
                where = f"{path}, {entry.filename}"
                name = entry.filename.replace("\\", "/")  # as some programs of Windows pack
                if any(map(_is_hidden, name.split("/"))) or not names.fullmatch(name.rpartition("/")[2]):
                    if not name.endswith("/"):
                        _count_unread(options, where)
                    continue
                if entry.file_size > max(SMALL, RATIO * entry.compress_size):
                    options.fault(f"{where} unpacks to {entry.file_size:,} bytes, as no text does; {MEND}")
                    continue
                unpacked += entry.file_size
                if unpacked > most:
                    options.fault(f"{path} unpacks to more than {most:,} bytes, as no text does; {MEND}")
                    return
                yield ImportFile(where, name, partial(archive.open, entry))
    except DAMAGED as error:
        options.fault(f"{path} cannot be read ({_why(error)}); fetch it again")


def _lines(file: BinaryIO, where: str, options: ImportOptions) -> Iterator[tuple[int, str, Any]]:
    for number, line in enumerate(lines_of(file, where), start=1):
        try:
            if line.strip():
                yield number, f"{where}, line {number}", decode(line, f"{where}, line {number}")
        except UsageError as error:
            options.fault(str(error))


def _entries(file: BinaryIO, where: str, options: ImportOptions) -> Iterator[tuple[int, str, Any]]:
    """Yield the entries of a list as they are read; an object is read completely, up to LONGEST
    characters.
    """
    with io.TextIOWrapper(file, "utf-8-sig", newline="") as text:
        begun = text.read(CHUNK)
        if begun.lstrip().startswith("["):
            entries = _stream_array(text, begun, where)
        elif not begun.lstrip().startswith("{"):
            entries = iter([decode(begun, where)] if begun.strip() else [])
        elif len(whole := begun + text.read(LONGEST)) > LONGEST:
            raise UsageError(f"{where} is no list and longer than {LONGEST:,} characters; give a list")
        else:
            entries = iter(_list_entries(decode(whole, where), where, options))
        for number, one in enumerate(entries, start=1):
            yield number, f"{where}, entry {number}", one


def _list_entries(value: dict[str, Any], where: str, options: ImportOptions) -> list[Any]:
    """Return the entries of an object's list, or the object itself; count its other lists and further
    pages.
    """
    wanted = next((name for name in LISTS if isinstance(value.get(name), list)), None)
    if wanted is None:
        return [value]
    for name, other in value.items():
        if name != wanted and isinstance(other, list) and other:
            options.left.aside("other lists", f"{where}: the list {name!r} is not read")
    if isinstance(following := value.get("next"), str) and following:
        options.left.aside(
            "further pages", f"{where}: the next page, {following}, is not in it; ask for it, too"
        )
    return cast(list[Any], value[wanted])


def _stream_array(text: io.TextIOWrapper, buffer: str, where: str) -> Iterator[Any]:
    """Yield the entries of an array, each parsed from a buffer that doubles until it contains the entry."""
    scan, at, passed, number = json.JSONDecoder().raw_decode, buffer.index("[") + 1, 0, 1
    while True:
        at = _after_space(buffer, at)
        if number == 1 and buffer.startswith("]", at):
            _check_end(text, buffer[at + 1 :], where)
            return
        mark = ""
        try:
            value, end = scan(buffer, at)
            end = _after_space(buffer, end)
            mark = buffer[end : end + 1]
        except RecursionError:
            raise UsageError(f"{where}, entry {number} is nested too deeply; {MEND}") from None
        except ValueError:
            pass  # the value may continue after the buffer
        if mark and mark in ",]":
            yield value
            number, at = number + 1, end + 1
            if mark == "]":
                _check_end(text, buffer[at:], where)
                return
            continue
        rest = len(buffer) - at
        more = "" if mark or rest > LONGEST else text.read(max(CHUNK, rest))
        if not more:
            begun = f"{where}, entry {number}, which begins at character {passed + at + 1:,}"
            raise UsageError(f"{begun}, is damaged or cut off; {MEND}")
        passed, buffer, at = passed + at, buffer[at:] + more, 0


def _check_end(text: io.TextIOWrapper, rest: str, where: str) -> None:
    """Raise UsageError if more than blanks follows a list."""
    while not rest.strip():
        if not (rest := text.read(CHUNK)):
            return
    raise UsageError(f"{where} goes on behind its list; give each list a file of its own")


def _after_space(buffer: str, at: int) -> int:
    return SPACE.match(buffer, at).end()  # type: ignore[union-attr]


def _why(error: BaseException) -> str:
    if isinstance(error, UnicodeError):
        return "it is not UTF-8"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or type(error).__name__
