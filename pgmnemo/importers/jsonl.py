"""Import JSON lines: a memory's own export, or lines of another program.

Without an export's header each line is an object with a `text` and optionally the other fields of an Item
(`key`, `role`, `topic`, `importance`, `metadata`, `at`, …) and a `project`; any other field becomes metadata.
A project in the form of a uuid is that project, as on the command line. Without a key the hash of the text is
the key, followed by the hash of role, topic, time and position if the line has any of them. Of an export only
the lessons in force are read here: the `import_` of a scope reads a whole export.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from pgmnemo.client.jsonl_format import (
    ExportHeader,
    LessonLine,
    SupersessionLine,
    convert,
    header_of,
    is_header,
    record_of,
)
from pgmnemo.client.naming import parse_name
from pgmnemo.client.records import Item
from pgmnemo.client.scope_calls import text_digest
from pgmnemo.errors import UsageError
from pgmnemo.importers import ImportedLesson, ImportOptions
from pgmnemo.importers.lessons import lesson, moment, utc
from pgmnemo.importers.sources import LINES, ImportFile, objects, sources

GIVEN = (
    "role", "importance", "at", "expires_at", "commit_sha", "artifact_hash", "verified_at", "position",
    "language",
)  # fmt: skip
TIMES = ("at", "expires_at", "verified_at")
OWN = {"project", *(one.name for one in fields(Item))}


def read(place: Path | str, *, options: ImportOptions) -> Iterator[ImportedLesson]:
    """Read lines of JSON with a text each, or a memory's own export."""
    for source in sources(place, LINES, options):
        header: ExportHeader | None = None
        ended = set[tuple[UUID, str]]()
        for number, where, value in objects(source, options, lines=True):
            try:
                if number == 1 and is_header(value):
                    header = header_of(value, where)
                    ended = _ended(source, header, options.first)
                else:
                    yield from (
                        _exported_lesson(value, header, ended, where, options)
                        if header
                        else _plain_lesson(value, where, options)
                    )
            except UsageError as error:
                options.fault(str(error))


def is_export(place: Path | str) -> bool:
    """Return whether a path is a file that begins with the header of an export."""
    return is_header(_first_object(place))


def is_lines(place: Path | str) -> bool:
    """Return whether a path is a file that begins with a header, or with an object that has a `text`, right
    or wrong.
    """
    return is_header(first := _first_object(place)) or "text" in first


def _first_object(place: Path | str) -> dict[str, Any]:
    options, path = ImportOptions(first=1), Path(place).expanduser()
    if os.path.isfile(path):
        with suppress(UsageError):  # raised again where the lessons are read
            for _, _, value in objects(next(sources(path, LINES, options)), options, lines=True):
                return value
    return {}


def _ended(source: ImportFile, header: ExportHeader, first: int | None) -> set[tuple[UUID, str]]:
    """Return project and key of each lesson of an export that is superseded by now, by its `first` lines
    (None: all).
    """
    now, found = datetime.now(UTC), set[tuple[UUID, str]]()
    for _, where, value in objects(source, ImportOptions(skip_faults=True, first=first), lines=True):
        if value.get("kind") == "supersession":
            with suppress(UsageError):  # raised again where the lessons are read
                line = record_of(value, header, where)
                if isinstance(line, SupersessionLine) and line.at <= now:
                    found.add((line.project, line.old))
    return found


def _exported_lesson(
    value: Any, header: ExportHeader, ended: set[tuple[UUID, str]], where: str, options: ImportOptions
) -> Iterator[ImportedLesson]:
    record = record_of(value, header, where)
    if isinstance(record, LessonLine) and record.active and (record.project, record.key) not in ended:
        return _lesson(record, record.key, record.project, record.metadata, where, options)
    told = f"{where} is no lesson in force; to take it, import this file alone, without --skip-faults"
    options.left.add("not a lesson in force", told)
    return iter(())


def _plain_lesson(value: dict[str, Any], where: str, options: ImportOptions) -> Iterator[ImportedLesson]:
    times = {name: moment(value[name]) or value[name] for name in TIMES if name in value}
    item: Item = convert({**value, **times}, Item, where)
    if not isinstance(value.get("project"), str | None):
        raise UsageError(f"{where}: `project` is no text; write it as one")
    if not isinstance(item.text, str):
        raise UsageError(f"{where}: `text` is a list; give one text a line")
    key = item.key or _key(item, item.text)
    more = {name: one for name, one in value.items() if name not in OWN}
    project = None if value.get("project") is None else parse_name(value["project"])
    return _lesson(item, key, project, {**more, **(item.metadata or {})}, where, options)


def _key(item: Item, text: str) -> str:
    """Return the key of a line without one: equal lines have one key, the same text at another time has
    another.
    """
    at = item.at and utc(item.at).timestamp()
    others = (item.role or None, item.topic or None, at, item.position)
    digest = text_digest(text)
    return digest if set(others) == {None} else f"{digest}/{text_digest(json.dumps(others))}"


def _lesson(
    given: Item | LessonLine,
    key: str,
    project: str | UUID | None,
    metadata: dict[str, Any],
    where: str,
    options: ImportOptions,
) -> Iterator[ImportedLesson]:
    return lesson(
        options, where, key, str(given.text), project=project, topic=given.topic, metadata=metadata,
        passages=list(given.passages or ()) or None, **{name: utc(getattr(given, name)) for name in GIVEN},
    )  # fmt: skip
