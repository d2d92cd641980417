"""A scope written out as lines of JSON, and read in again (the format: ../transfer.py)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import IO, TYPE_CHECKING, Any
from uuid import UUID

from msgspec import structs
from psycopg.rows import tuple_row

from pgmnemo import calls
from pgmnemo.client import transferring
from pgmnemo.client.aio.channel import sent
from pgmnemo.client.aio.waiting import AsyncConnection, run
from pgmnemo.client.embedding import Remembered
from pgmnemo.client.records import Moved
from pgmnemo.client.transfer import Header, LessonLine, LinkLine, SupersessionLine
from pgmnemo.client.transferring import Ends, Part
from pgmnemo.errors import PgmnemoError
from pgmnemo.progress import Progress

if TYPE_CHECKING:
    from pgmnemo.client.aio.scope import AsyncScope

BATCH = 500
AUTO = "auto"  # the language of a tenant without a setting


async def write(scope: AsyncScope, file: IO[bytes], vectors: bool, progress: Progress) -> int:
    """Write all of a scope as it is at one moment; how many lessons."""
    memory = scope._memory
    await memory._enter(scope.tenant_id)
    start = file.tell()

    async def work(connection: AsyncConnection[Any]) -> int:
        if file.tell() != start:  # it was begun before the connection went
            file.seek(start)
            file.truncate()
        return await _written(connection, scope, file, vectors, progress)

    return await memory._channel.unit(work, snapshot=True)  # type: ignore[no-any-return]


async def _written(
    connection: AsyncConnection[Any], scope: AsyncScope, file: IO[bytes], vectors: bool, progress: Progress
) -> int:
    tenant, project = scope.tenant_id, scope.project_id
    held = await scope._memory._held(tenant, partial(sent, connection))
    lessons = [one async for one in scope._lessons(partial(sent, connection), everything=True)]
    version = scope._memory._opened.version
    usual = await sent(connection, calls.language(tenant))
    header = transferring.header(version, tenant, project, held if vectors else None, len(lessons))
    header = structs.replace(header, language=None if usual == AUTO else usual)
    await run(transferring.put, file, [header])
    ends: Ends = {lesson.id: (lesson.project, lesson.key) for lesson in lessons}
    width = held.dimensions if held and vectors else None
    async with connection.cursor(name="passages", row_factory=tuple_row) as cursor:
        await cursor.execute(transferring.PASSAGES, {"tenant": tenant}, binary=True)
        part: Part | None = await cursor.fetchone()
        for lesson in progress.track(lessons, "lessons"):
            parts: list[Part] = []
            while part is not None and part[0] <= lesson.id:
                if part[0] == lesson.id:
                    parts.append(part)
                part = await cursor.fetchone()
            await run(transferring.put, file, [transferring.lesson_line(lesson, parts, width)])
    for lesson in lessons:
        if lesson.superseded_at is not None:
            rows = await sent(connection, transferring.ended(tenant, lesson))
            await run(transferring.put, file, transferring.supersessions(lesson, rows, project))
    edges = await sent(connection, calls.list_edges(tenant, transferring.EDGE))
    await run(transferring.put, file, transferring.links(edges, ends))
    return len(lessons)


async def read(scope: AsyncScope, lines: Iterator[Any], dry_run: bool, progress: Progress) -> Moved:
    """Store the lessons, links and supersessions of an export; a second import changes nothing."""
    header: Header = next(lines)
    reading = _Reading(scope, header, transferring.source(header, scope._memory._embedding), dry_run)
    try:
        for batch in progress.track(transferring.batches(lines, BATCH), "batches of lines"):
            await reading.take(batch)
    except PgmnemoError as error:
        error.add_note(f"{reading.outcomes.total():,} lessons before that are stored; import it again")
        raise
    await reading.forget()
    if header.language is not None and not dry_run:
        await reading.keep_language(header.language)
    return Moved(dict(+reading.outcomes), reading.links, dry_run)


class _Reading:
    """An import on its way. A lesson that is forgotten supersedes nothing, so lessons are forgotten last."""

    def __init__(self, scope: AsyncScope, header: Header, source: Remembered | None, dry_run: bool) -> None:
        self.scope, self.header, self.source, self.dry_run = scope, header, source, dry_run
        self.outcomes: Counter[str] = Counter()
        self.origins: dict[str, UUID] = {}
        self.links = 0
        self._to_forget: list[tuple[AsyncScope, str]] = []
        self._forgotten: set[tuple[UUID | None, str]] = set()  # by an earlier import

    async def take(self, batch: list[Any]) -> None:
        """Store a batch: lessons first, project by project, then the links and supersessions between them."""
        lessons = [line for line in batch if isinstance(line, LessonLine)]
        some = transferring.by_project(lessons, self.scope.project_id, self.origins)
        for project, lines in some.items():
            await self.store(self.scope.project(project), lines)
        for line in batch:
            if isinstance(line, LinkLine):
                await self.link(line)
            elif isinstance(line, SupersessionLine):
                await self.supersede(line)

    async def store(self, inside: AsyncScope, lines: list[LessonLine]) -> None:
        """Store lessons of one project; a forgotten lesson is stored only if it does not exist."""
        held = {line.key: await inside.get(line.key) for line in lines if not line.active}
        rest = [line for line in lines if line.active or transferring.is_other(line, held.get(line.key))]
        again = {line.key for line in lines} - {line.key for line in rest}
        self._forgotten |= {(inside.project_id, key) for key in again}
        self.outcomes["unchanged"] += len(again)
        if self.dry_run:
            known = await inside.known([line.key for line in rest])
            new = sum(line.key not in known for line in rest)
            same = sum(transferring.is_known(line, known) for line in rest)
            self.outcomes.update(inserted=new, updated=len(rest) - new - same, unchanged=same)
        elif rest:
            assert inside.project_id is not None
            form = self.header.vectors if self.source else None
            items = [transferring.item(line, form) for line in rest]
            self.outcomes.update(await inside._stage(inside.project_id, items, None, self.source))
            self._to_forget += [(inside, line.key) for line in rest if not line.active]

    async def keep_language(self, language: str) -> None:
        """Set the language of the exported tenant, where this tenant was given none."""
        if self.scope.project_id is None and await self.scope.language() == AUTO:
            await self.scope.language(language)

    async def supersede(self, line: SupersessionLine) -> None:
        """End a lesson, across projects where the line says so. What is forgotten already ends nothing and
        is not ended: it was before it was forgotten."""
        project: UUID = self.scope.project_id or line.project
        other = None if self.scope.project_id else line.new_project
        new = line.new
        if {(project, line.old), (other or project, new)} & self._forgotten:
            held = await self.scope.project(project).get(line.old)
            if held is None or not held.active or held.superseded_at == line.at:
                return
            new = other = None
        if not self.dry_run:
            call = calls.supersede(
                self.scope.tenant_id, project, line.old, new, reason=line.reason, at=line.at,
                new_project=other,
            )  # fmt: skip
            await self.scope._call(call)

    async def link(self, line: LinkLine) -> None:
        """Store a link, across projects if the line names another project."""
        self.links += 1
        if not self.dry_run:
            project: UUID = self.scope.project_id or line.project
            other = None if self.scope.project_id else line.target_project
            call = calls.link(
                self.scope.tenant_id, project, line.source, line.target, line.type, weight=line.weight,
                valid_from=line.valid_from, valid_to=line.valid_to, target_project=other,
            )  # fmt: skip
            await self.scope._call(call)

    async def forget(self) -> None:
        """Forget the imported lessons that were forgotten in the export; call it last."""
        for inside, key in self._to_forget:
            await inside.forget(key)
