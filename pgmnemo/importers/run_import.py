"""Import the lessons of a reader into a memory, in batches.

An interrupted import is run again: a stored lesson is found by its key, and an unchanged text is neither
embedded nor sent again.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Protocol
from uuid import UUID

from pgmnemo.client.jsonl_format import LessonLine, LinkLine
from pgmnemo.client.jsonl_rows import line_batches, open_lines
from pgmnemo.client.records import BatchResult, Item
from pgmnemo.client.scope_calls import text_digest
from pgmnemo.errors import PgmnemoError, RefusedError, UsageError
from pgmnemo.escaping import escape_sentence
from pgmnemo.importers import IMPORTERS, TABLES, UNKNOWN, ImportedLesson, ImportOptions, LeftOut
from pgmnemo.importers.jsonl import is_export, is_lines
from pgmnemo.importers.markdown import NAMES as NOTES
from pgmnemo.importers.sources import damage_as_fault, database_rows, is_dsn, sources
from pgmnemo.progress import QUIET, Progress
from pgmnemo.redaction import redact

BATCH = 500
LOOKED_AT = 100  # lines or entries that identify a format
FEW = 5  # keys that a report shows


class ImportScope(Protocol):
    """The methods of a scope that an import calls. `known` maps each existing key to its text's SHA-256."""

    def project(self, name: str | UUID) -> ImportScope: ...

    def known(self, keys: Sequence[str]) -> Mapping[str, str]: ...

    def add_many(
        self, items: Iterable[Item], *, batch: int = BATCH, progress: Progress = QUIET
    ) -> BatchResult: ...

    def import_(
        self,
        place: Path | str | IO[bytes],
        *,
        keep_projects: Sequence[str] = (),
        dry_run: bool = False,
        progress: Progress = QUIET,
    ) -> BatchResult: ...


class EmptyScope:
    """The scope of a dry run without a memory: every lesson would be new."""

    def project(self, name: str | UUID) -> EmptyScope:
        return self

    def known(self, keys: Sequence[str]) -> Mapping[str, str]:
        return {}

    def add_many(
        self, items: Iterable[Item], *, batch: int = BATCH, progress: Progress = QUIET
    ) -> BatchResult:
        raise UsageError("a dry run stores nothing")

    def import_(
        self,
        place: Path | str | IO[bytes],
        *,
        keep_projects: Sequence[str] = (),
        dry_run: bool = False,
        progress: Progress = QUIET,
    ) -> BatchResult:
        """Count the lessons of an export."""
        with open_lines(place) as lines:
            kinds = Counter(type(line) for line in progress.track(lines, "lines"))
        return BatchResult({"inserted": kinds[LessonLine]}, kinds[LinkLine], dry_run)


@dataclass(slots=True)
class ImportResult:
    """The result of an import, or with `dry_run` its forecast.

    `read` is the number of entries read, the sum of `outcomes` and `left.counts`. `outcomes` counts lessons
    by outcome, `projects` by project (None: the scope's own); `keys` are the first keys; `left` are the
    entries left out; `redacted` counts the secrets by kind that are not stored.
    """

    format: str
    dry_run: bool
    left: LeftOut
    outcomes: Counter[str] = field(default_factory=Counter)
    projects: Counter[str | UUID | None] = field(default_factory=Counter)
    keys: list[str] = field(default_factory=list)
    links: int = 0
    read: int = 0
    redacted: Counter[str] = field(default_factory=Counter)


def import_lessons(
    scope: ImportScope,
    place: Path | str,
    format: str | None = None,
    *,
    project: str | None = None,
    options: ImportOptions | None = None,
    keep_projects: Sequence[str] = (),
    dry_run: bool = False,
    refresh: bool = False,
    progress: Progress = QUIET,
    batch: int = BATCH,
) -> ImportResult:
    """Import the lessons of a file or folder into its own projects, or all of them into `project`.

    `format` None detects the format. A memory's own export is imported as a whole by the scope's `import_`,
    with `keep_projects`; with `skip_faults` only its lessons in force are read. Secrets in other texts are
    redacted, unless the options keep them. `refresh` also sends lessons with an unchanged text, to update
    their other fields. Raise UsageError as the reader does; lessons stored before the error stay.
    """
    options = options or ImportOptions()
    format = format or detect_format(place)
    read = IMPORTERS[format]
    if is_dsn(place) and format not in TABLES:
        raise UsageError(f"{format} is read from files, and this is an address of a database; name a file")
    done = ImportResult(format, dry_run, options.left)
    whole = format == "jsonl" and not options.skip_faults
    if whole and is_export(place):
        target = scope if project is None else scope.project(project)
        moved = target.import_(place, keep_projects=keep_projects, dry_run=dry_run, progress=progress)
        done.outcomes.update(moved.outcomes)
        done.links, done.read = moved.links, sum(moved.outcomes.values())
        return done
    found = _without_duplicates(
        _lessons_of_format(read(place, options=options), place, format, options), project, options
    )
    if not options.keep_secrets:
        found = _without_secrets(found, done.redacted)
    for chunk in line_batches(progress.track(found, f"lessons of {format}"), batch):
        _import_chunk(scope, chunk, project, done, refresh, batch)
    done.read = done.outcomes.total() + options.left.counts.total()
    return done


def _lessons_of_format(
    found: Iterator[ImportedLesson], place: Path | str, format: str, options: ImportOptions
) -> Iterator[ImportedLesson]:
    """Yield the lessons of a reader; raise UsageError that names another format if the file has this
    format.
    """
    if format == "markdown" and os.path.isfile(place) and not re.fullmatch(NOTES, str(place), re.I):
        _refuse(place, format)
    try:
        first = next(found, None)
    except UsageError:
        _refuse(place, format)
        raise
    if first is None:
        _refuse(place, format)
        if not options.left.counts - Counter({UNKNOWN: options.left.counts[UNKNOWN]}):
            known = ", ".join(IMPORTERS)
            raise UsageError(
                f"nothing in {escape_sentence(str(place))} is recognised as {format}, or as another format; "
                f"name another place, or bring it into one of: {known}"
            )
        return
    yield first
    yield from found


def _refuse(place: Path | str, format: str) -> None:
    """Raise UsageError if other formats can read a file or folder."""
    if others := [name for name in _fitting(place) if name != format]:
        raise UsageError(
            f"{escape_sentence(str(place))} is not of {format}; {' or '.join(others)} reads it: "
            f"name that format (--from {others[0]})"
        )


def _import_chunk(
    scope: ImportScope,
    chunk: list[ImportedLesson],
    project: str | None,
    done: ImportResult,
    refresh: bool,
    batch: int,
) -> None:
    for name, items in _by_project(chunk, project).items():
        done.projects[name] += len(items)
        done.keys += [str(item.key) for item in items[: FEW - len(done.keys)]]
        target = scope if name is None else scope.project(name)
        try:
            _store(target, items, done, refresh, batch)
        except PgmnemoError as error:
            told = (
                ", ".join(f"{number:,} {outcome}" for outcome, number in done.outcomes.items()) or "nothing"
            )
            error.add_note(f"of the whole import before that: {told}; run it again, and it goes on")
            raise


def detect_format(place: Path | str) -> str:
    """Return the format with a reader that finds a lesson at the beginning of a file or folder.

    Markdown is returned only if no other format fits, and `jsonl` also for lines with a fault. Raise
    UsageError if no format fits, or more than one.
    """
    if is_dsn(place):
        return _detect_database(str(place))
    first = next(sources(place, "(?s).*", ImportOptions(first=1)))
    fitting = _fitting(place)
    if len(fitting) == 1:
        return fitting[0]
    if not fitting:
        if is_lines(place):
            return "jsonl"  # whose reader names the fault
        looked = ImportOptions(skip_faults=True)
        next(damage_as_fault(first, lambda file, where: iter(()), looked), None)
        if looked.left.named:  # UTF-16, gzip or SQLite: there is nothing more to read
            raise UsageError(looked.left.named[0])
    like = f"could be {' or '.join(fitting)}" if fitting else "begins like no format that is known"
    raise UsageError(f"{escape_sentence(str(place))} {like}; name the format, one of: {', '.join(IMPORTERS)}")


def _detect_database(dsn: str) -> str:
    there = " || ".join(f"jsonb_build_object('{name}', to_regclass('{TABLES[name]}'))" for name in TABLES)
    [found] = database_rows(dsn, f"SELECT {there}")
    fitting = [name for name, table in found.items() if table]
    if len(fitting) == 1:
        return fitting[0]
    known = " or ".join(f"{table} ({name})" for name, table in TABLES.items())
    raise UsageError(
        f"the database has {'more than one' if fitting else 'no'} table {known} on its search path; "
        "name the format with --from, and the schema in the address"
    )


def _fitting(place: Path | str) -> list[str]:
    """Return the formats with a reader that finds a lesson at the beginning; Markdown only if no
    other does.
    """
    found = [name for name in IMPORTERS if _fits(name, place)]
    return [name for name in found if name != "markdown"] or found


def _fits(name: str, place: Path | str) -> bool:
    try:
        return next(IMPORTERS[name](place, options=ImportOptions(first=LOOKED_AT)), None) is not None
    except UsageError:
        return False


def _without_duplicates(
    found: Iterable[ImportedLesson], project: str | None, options: ImportOptions
) -> Iterator[ImportedLesson]:
    """Yield only the first lesson of each key in a project: a second would change it at every import."""
    seen: set[int] = set()
    for one in found:
        identity = hash((project or one.project, one.item.key))
        if identity in seen:
            options.left.add("repeated", f"{one.where} repeats the key {one.item.key}")
            continue
        seen.add(identity)
        yield one


def _without_secrets(found: Iterable[ImportedLesson], redacted: Counter[str]) -> Iterator[ImportedLesson]:
    """Yield the lessons with secrets redacted in their texts; count them in `redacted`."""
    for one in found:
        text, counted = redact(str(one.item.text))
        redacted += counted
        yield replace(one, item=replace(one.item, text=text)) if counted else one


def _by_project(chunk: Iterable[ImportedLesson], project: str | None) -> dict[str | UUID | None, list[Item]]:
    items: dict[str | UUID | None, list[Item]] = {}
    for one in chunk:
        items.setdefault(project or one.project, []).append(one.item)
    return items


def _store(scope: ImportScope, items: list[Item], done: ImportResult, refresh: bool, batch: int) -> None:
    """Store the items of one project and count their outcomes; a dry run only counts."""
    there = scope.known([str(item.key) for item in items])
    states = [_state(item, there) for item in items]
    if done.dry_run:
        done.outcomes.update(states)
        return
    sent = [item for item, state in zip(items, states, strict=True) if refresh or state != "unchanged"]
    if same := len(items) - len(sent):
        done.outcomes["unchanged"] += same
    if sent:
        _send(scope, sent, done, batch)


def _send(scope: ImportScope, items: list[Item], done: ImportResult, batch: int) -> None:
    """Store the items; if a set is refused, store each half, down to single items that are left out."""
    try:
        done.outcomes.update(scope.add_many(items, batch=batch).outcomes)
    except (RefusedError, UsageError) as error:
        if len(items) == 1:
            done.left.add("refused", f"{items[0].key} is refused: {error}")
            return
        middle = len(items) // 2
        _send(scope, items[:middle], done, batch)
        _send(scope, items[middle:], done, batch)


def _state(item: Item, there: Mapping[str, str]) -> str:
    if str(item.key) not in there:
        return "inserted"
    return "unchanged" if there[str(item.key)] == text_digest(str(item.text)) else "updated"
