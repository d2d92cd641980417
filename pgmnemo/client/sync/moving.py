# Made of ../aio/moving.py by `make sync`: edit that one.
"""A scope written out as lines of JSON, and read in again (the format: ../transfer.py)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any
from uuid import UUID

from psycopg.rows import tuple_row

from pgmnemo import calls
from pgmnemo.client import requests, staging, transferring
from pgmnemo.client.embedding import Remembered
from pgmnemo.client.records import Lesson, Moved
from pgmnemo.client.sync.channel import sent
from pgmnemo.client.sync.waiting import Connection, run
from pgmnemo.client.transfer import Header, LessonLine, LinkLine, SupersessionLine
from pgmnemo.client.transferring import Ends, Part
from pgmnemo.progress import Progress

if TYPE_CHECKING:
    from pgmnemo.client.sync.memory import Scope

BATCH = 500


def write(scope: Scope, file: IO[bytes], vectors: bool, progress: Progress) -> int:
    """Write all of a scope as it is at one moment; how many lessons."""
    memory = scope._memory
    memory._enter(scope.tenant_id)

    def work(connection: Connection[Any]) -> int:
        return _written(connection, scope, file, vectors, progress)

    return memory._channel.unit(work, snapshot=True)  # type: ignore[no-any-return]


def _written(
    connection: Connection[Any],
    scope: Scope,
    file: IO[bytes],
    vectors: bool,
    progress: Progress,
) -> int:
    tenant, project = scope.tenant_id, scope.project_id
    held = sent(connection, staging.remembered(tenant))
    lessons = _lessons(connection, scope)
    file.seek(0)
    file.truncate()
    version = scope._memory._opened.version
    header = transferring.header(version, tenant, project, held if vectors else None, len(lessons))
    run(transferring.put, file, [header])
    ends: Ends = {lesson.id: (lesson.project, lesson.key) for lesson in lessons}
    width = held.dimensions if held and vectors else None
    with connection.cursor(name="passages", row_factory=tuple_row) as cursor:
        cursor.execute(transferring.PASSAGES, (tenant,), binary=True)
        part: Part | None = cursor.fetchone()
        for lesson in progress.track(lessons, "lessons"):
            parts: list[Part] = []
            while part is not None and part[0] <= lesson.id:
                if part[0] == lesson.id:
                    parts.append(part)
                part = cursor.fetchone()
            run(transferring.put, file, [transferring.lesson_line(lesson, parts, width)])
    for lesson in lessons:
        if lesson.superseded_at is not None:
            rows = sent(connection, transferring.ended(tenant, lesson))
            run(transferring.put, file, transferring.supersessions(lesson, rows))
    edges = sent(connection, calls.list_edges(tenant, transferring.EDGE))
    run(transferring.put, file, transferring.links(edges, ends))
    return len(lessons)


def _lessons(connection: Connection[Any], scope: Scope) -> list[Lesson]:
    """Every lesson of the scope, in order of id, but what the tenant remembers of itself."""
    found: list[Lesson] = []
    after: int | None = None
    while True:
        call = requests.listed(scope.tenant_id, scope.project_id, after, requests.PAGE, everything=True)
        page = sent(connection, call)
        found += [one for one in page if one.project != staging.reserved(scope.tenant_id)]
        if len(page) < requests.PAGE:
            return found
        after = page[-1].id


def read(scope: Scope, lines: Iterator[Any], dry_run: bool, progress: Progress) -> Moved:
    """Store what the lines of an export hold; a second time nothing changes."""
    header: Header = next(lines)
    source = transferring.source(header, scope._memory._embedding)
    outcomes: dict[str, int] = {}
    links = 0
    batches = transferring.batches(lines, BATCH)
    for batch in progress.track(batches, "batches of lines"):
        lessons = [line for line in batch if isinstance(line, LessonLine)]
        for outcome, number in (_stored(scope, lessons, header, source, dry_run)).items():
            outcomes[outcome] = outcomes.get(outcome, 0) + number
        for line in batch:
            if isinstance(line, LinkLine):
                links += 1
            if not dry_run and not isinstance(line, LessonLine):
                _joined(scope, line)
    return Moved(outcomes, links, dry_run)


def _stored(
    scope: Scope,
    lessons: list[LessonLine],
    header: Header,
    source: Remembered | None,
    dry_run: bool,
) -> dict[str, int]:
    outcomes: dict[str, int] = {}
    for project, some in transferring.by_project(lessons, scope.project_id).items():
        inside = scope.project(project)
        known = {} if not some else inside.known([line.key for line in some])
        new = [line for line in some if not transferring.is_known(line, known)]
        if dry_run:
            told = {"new or changed": len(new), "unchanged": len(some) - len(new)}
        else:
            told = _put(inside, some, header, source)
        for outcome, number in told.items():
            outcomes[outcome] = outcomes.get(outcome, 0) + number
    return {outcome: number for outcome, number in outcomes.items() if number}


def _put(inside: Scope, lines: list[LessonLine], header: Header, source: Remembered | None) -> dict[str, int]:
    """Lessons of one project; those that are forgotten are stored only where they are not there."""
    told: dict[str, int] = {}
    held = {line.key: inside.get(line.key) for line in lines if not line.active}
    lines = [line for line in lines if line.active or transferring.is_other(line, held.get(line.key))]
    told["unchanged"] = len(held) - sum(not line.active for line in lines)
    items = [transferring.item(line, header) for line in lines]
    if lines:
        assert inside.project_id is not None
        for outcome, number in (inside._stage(inside.project_id, items, None, source)).items():
            told[outcome] = told.get(outcome, 0) + number
    for line in lines:
        if not line.active:
            inside.forget(line.key)
    return told


def _joined(scope: Scope, line: SupersessionLine | LinkLine) -> None:
    """One link or supersession, across projects of the tenant where the line says so."""
    project: UUID = scope.project_id or line.project
    if isinstance(line, SupersessionLine):
        other = None if scope.project_id else line.new_project
        scope._call(
            calls.supersede(
                scope.tenant_id,
                project,
                line.old,
                line.new,
                reason=line.reason,
                at=line.at,
                new_project=other,
            )
        )
        return
    other = None if scope.project_id else line.target_project
    scope._call(
        calls.link(
            scope.tenant_id, project, line.source, line.target, line.type, weight=line.weight,
            valid_from=line.valid_from, valid_to=line.valid_to, target_project=other,
        )
    )  # fmt: skip
