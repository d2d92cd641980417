"""Read and write the JSON Lines format of exports and imports.

The first line is the header. Each other line is a record; its `kind` is lesson, supersession or link:

    {"pgmnemo":"memory","format":1,"extension":"0.5.0","tenant":…,"project":null,"lessons":2,…}
    {"kind":"lesson","project":…,"key":"2024-05/1","text":"I moved to Lisbon.","at":"2024-05-08T13:56:00Z",…}

Times are ISO 8601 with their zone; `infinity` and `-infinity` are read as FOREVER and BEFORE_ALL.
Vectors are base64 of little-endian numbers, all in the form that the header names.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import IO, Annotated, Any, Literal
from uuid import UUID

import msgspec
from msgspec import Meta, Struct

from pgmnemo.errors import UsageError

FORMAT = 1
LONGEST = 200_000_000  # bytes of a line; the extension's bounds keep lines shorter
FOREVER = datetime.max.replace(tzinfo=UTC)
BEFORE_ALL = datetime.min.replace(tzinfo=UTC)
INFINITIES = {"infinity": "9999-12-31T23:59:59.999999Z", "-infinity": "0001-01-01T00:00:00Z"}
HEX = rb"[\da-fA-F]{2}"
HALVES = re.compile(rb"(\\\\|\\u[dD][89abAB]%b\\u[dD][c-fC-F]%b)|\\u[dD][89a-fA-F]%b" % (HEX, HEX, HEX))
SIZES = {"float16": (2, "e"), "float32": (4, "f")}  # bytes of a number, and its letter for struct

Time = Annotated[datetime, Meta(tz=True)]
VectorFormat = Literal["float16", "float32"]


class ExportHeader(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The first line of an export, which says where the export comes from.

    `project` is None for an export of the whole tenant. `lessons` is the number of lessons in the export,
    None if unknown. `vectors` is the number format of the vectors, None for an export without vectors.
    `language` is the tenant's language for texts that are written without one, None for `auto`.
    """

    pgmnemo: Literal["memory"] = "memory"
    format: int = FORMAT
    extension: str
    tenant: UUID | None = None
    project: UUID | None = None
    embedder: str | None = None
    model: str | None = None
    dimensions: int | None = None
    lessons: int | None = None
    vectors: VectorFormat | None = None
    language: str | None = None


class _ExportLine(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", kw_only=True):
    """A line after the header."""

    project: UUID


class LessonLine(_ExportLine, frozen=True, tag="lesson", kw_only=True):
    """A lesson with every field that a writer gave; fields that the extension derives are left out."""

    key: str
    text: str
    role: str | None = None
    topic: str | None = None
    importance: int = 3
    metadata: Any = {}
    at: Time | None = None
    stored_at: Time | None = None
    expires_at: Time | None = None
    commit_sha: str | None = None
    artifact_hash: str | None = None
    verified_at: Time | None = None
    position: int | None = None
    active: bool = True
    language: str | None = None
    passages: tuple[str, ...] = ()
    vector: bytes | None = None
    passage_vectors: tuple[bytes, ...] | None = None


class SupersessionLine(_ExportLine, frozen=True, tag="supersession", kw_only=True):
    """A supersession: from `at` on, the lesson `new` replaces the lesson `old`.

    `new` is None if nothing replaces `old`; `new_project` is None if both are in one project.
    """

    old: str
    new: str | None = None
    new_project: UUID | None = None
    at: Time
    reason: str | None = None
    recorded_at: Time | None = None


class LinkLine(_ExportLine, frozen=True, tag="link", kw_only=True):
    """A link of a `type` between two lessons; `target_project` is None if both are in one project."""

    source: str
    target: str
    target_project: UUID | None = None
    type: str
    weight: float = 1.0
    valid_from: Time | None = None
    valid_to: Time | None = None


ExportLine = LessonLine | SupersessionLine | LinkLine
TIMES = ("at", "stored_at", "expires_at", "verified_at", "recorded_at", "valid_from", "valid_to")


def pack(vector: Sequence[float], form: VectorFormat) -> bytes:
    """Return a vector as the little-endian bytes of its numbers."""
    return struct.pack(f"<{len(vector)}{SIZES[form][1]}", *vector)


def unpack(data: bytes, form: VectorFormat) -> tuple[float, ...]:
    """Return the numbers of a vector from its little-endian bytes."""
    size, letter = SIZES[form]
    return struct.unpack(f"<{len(data) // size}{letter}", data)


def write_line(record: ExportHeader | ExportLine) -> str:
    """Return a record as a line of JSON, without the newline."""
    return msgspec.json.encode(record).decode()


def lines_of(file: IO[bytes], where: str) -> Iterator[bytes]:
    """Yield the lines of a file; raise UsageError for a line longer than any lesson."""
    number = 0
    while line := file.readline(LONGEST + 1):
        number += 1
        if len(line) > LONGEST:
            raise UsageError(
                f"{where}, line {number} is longer than {LONGEST:,} bytes, and no lesson is; "
                "give a file of lines of JSON"
            )
        yield line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line


def read_lines(
    lines: Iterable[str | bytes], where: str = "the export"
) -> Iterator[ExportHeader | ExportLine]:
    """Yield the header, then each record as its line is read; error messages name the lines `where`.

    Raise UsageError for a line that does not belong to an export, a field that is unknown in this format, an
    export of a newer format, and at the end for an export that does not have the number of lessons in its
    header.
    """
    header, lessons = None, 0
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        place = f"{where}, line {number}"
        given = decode(line, place)
        if header is None:
            header = header_of(given, place)
            yield header
            continue
        record = record_of(given, header, place)
        lessons += isinstance(record, LessonLine)
        yield record
    if header is None:
        raise UsageError(f"{where} is empty; give a file that an export has written")
    if header.lessons is not None and lessons != header.lessons:
        raise UsageError(
            f"{where} holds {lessons:,} lessons, and its first line says {header.lessons:,}: it was cut off "
            "or changed; make the export again"
        )


def is_header(given: Any) -> bool:
    """Return whether the first value of a file is the header of an export, of any format."""
    return isinstance(given, dict) and given.get("pgmnemo") == "memory"


def header_of(given: Any, place: str) -> ExportHeader:
    """Return the decoded first line of an export; raise UsageError if it is not a header, or of a newer
    format.
    """
    if not is_header(given):
        raise UsageError(f"{place} is not the header of an export; give a file that an export has written")
    if isinstance(version := given.get("format"), int) and version > FORMAT:
        raise UsageError(
            f"{place} is of format {version}, and this package reads up to {FORMAT}; "
            "install it from a newer checkout"
        )
    header: ExportHeader = convert(given, ExportHeader, place)
    return header


def record_of(given: Any, header: ExportHeader, place: str) -> ExportLine:
    """Return a decoded line of an export; raise UsageError if it is not a record."""
    if is_header(given):
        raise UsageError(
            f"a second export begins at {place}; save it in a file of its own, and import each file"
        )
    if isinstance(given, dict):
        given = {name: _without_infinity(value) if name in TIMES else value for name, value in given.items()}
    record: ExportLine = convert(given, ExportLine, place)
    if isinstance(record, LessonLine):
        _check_vectors(record, header.vectors, place)
    return record


def decode(line: str | bytes, place: str, *, mend_halves: bool = True) -> Any:
    """Return the value of a JSON text; raise UsageError with the position of the fault if it is not JSON.

    Half a surrogate pair, which programs write that cut a text between its halves, becomes U+FFFD, or with
    `mend_halves` False a fault.
    """
    data = line.encode("utf-8", "surrogatepass") if isinstance(line, str) else line
    if mend_halves and b"\\u" in data:
        data = HALVES.sub(lambda found: found[1] or rb"\ufffd", data)
    try:
        return msgspec.json.decode(data)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise UsageError(f"{place}: {decode_fault(error, data)}; mend it, or leave it out") from None


def convert(given: Any, kind: Any, place: str) -> Any:
    """Return a decoded value as an instance of `kind`; raise UsageError that names the field at fault."""
    try:
        return msgspec.convert(given, kind)
    except (msgspec.ValidationError, RecursionError) as error:
        raise UsageError(f"{place}: {decode_fault(error)}; mend it, or leave it out") from None


def decode_fault(error: Exception, data: bytes = b"") -> str:
    """Return why `data` is no JSON, or a decoded value does not fit.

    msgspec often says of half a surrogate pair that the data is truncated; here it is called by its name.
    """
    if isinstance(error, RecursionError):
        return "the JSON is nested too deeply"
    if isinstance(error, UnicodeError):
        return "the text is not UTF-8"
    if "truncated" in str(error) or "surrogate" in str(error):
        whole = max(data.rfind(b'"'), 0)  # behind its last quotation mark a text is cut off
        for found in HALVES.finditer(data, 0, whole):
            if not found[1]:
                return (
                    f"the text holds {found[0].decode()}, half a surrogate pair: it is cut inside a character"
                )
    return misfit(error)


def misfit(error: Exception) -> str:
    """Return why a value does not fit its type, as msgspec says it, with the form that a time has."""
    return str(error).replace("Invalid RFC3339 encoded datetime", "no time such as 2026-05-01T13:56:00Z")


def _without_infinity(value: Any) -> Any:
    return INFINITIES.get(value, value) if isinstance(value, str) else value


def _check_vectors(record: LessonLine, form: VectorFormat | None, place: str) -> None:
    vectors = [one for one in (record.vector, *(record.passage_vectors or ())) if one is not None]
    if vectors and form is None:
        raise UsageError(f"{place} has vectors, and the header does not say of which numbers; add `vectors`")
    if form and any(len(one) % SIZES[form][0] for one in vectors):
        raise UsageError(f"{place} has a vector that is cut off; make the export again")
