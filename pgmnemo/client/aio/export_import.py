"""Export a scope as lines of JSON, and import them (the format: ../jsonl_format.py)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import IO, TYPE_CHECKING, Any
from uuid import UUID

from msgspec import structs
from psycopg.rows import tuple_row

from pgmnemo import calls
from pgmnemo.client import jsonl_rows
from pgmnemo.client.aio.concurrency import AsyncConnection, run_blocking
from pgmnemo.client.aio.executor import execute
from pgmnemo.client.jsonl_format import ExportHeader, LessonLine, LinkLine, SupersessionLine
from pgmnemo.client.jsonl_rows import ForeignProjects, LessonNames, PassageRow
from pgmnemo.client.memory_embedder import EmbedderRecord
from pgmnemo.client.records import BatchResult
from pgmnemo.errors import PgmnemoError
from pgmnemo.progress import Progress

if TYPE_CHECKING:
    from pgmnemo.client.aio.scope import AsyncScope

BATCH = 500
AUTO = "auto"  # the language of a tenant without a setting


async def export_scope(scope: AsyncScope, file: IO[bytes], vectors: bool, progress: Progress) -> int:
    """Write a snapshot of a scope to a file, and return the number of lessons."""
    memory = scope._memory
    await memory._ensure_grant(scope.tenant_id)
    start = file.tell()

    async def work(connection: AsyncConnection[Any]) -> int:
        if file.tell() != start:  # an earlier try wrote a part before it lost the connection
            file.seek(start)
            file.truncate()
        return await _export_lines(connection, scope, file, vectors, progress)

    return await memory._executor.transaction(work, snapshot=True)  # type: ignore[no-any-return]


async def _export_lines(
    connection: AsyncConnection[Any], scope: AsyncScope, file: IO[bytes], vectors: bool, progress: Progress
) -> int:
    tenant, project = scope.tenant_id, scope.project_id
    held = await scope._memory._stored_embedder(tenant, partial(execute, connection))
    lessons = [one async for one in scope._iter_lessons(partial(execute, connection), everything=True)]
    version = scope._memory._server.version
    usual = await execute(connection, calls.language(tenant))
    header = jsonl_rows.export_header(version, tenant, project, held if vectors else None, len(lessons))
    header = structs.replace(header, language=None if usual == AUTO else usual)
    await run_blocking(jsonl_rows.write_lines, file, [header])
    ends: LessonNames = {lesson.id: (lesson.project, lesson.key) for lesson in lessons}
    width = held.dimensions if held and vectors else None
    async with connection.cursor(name="passages", row_factory=tuple_row) as cursor:
        await cursor.execute(jsonl_rows.PASSAGES, {"tenant": tenant}, binary=True)
        part: PassageRow | None = await cursor.fetchone()
        for lesson in progress.track(lessons, "lessons"):
            parts: list[PassageRow] = []
            while part is not None and part[0] <= lesson.id:
                if part[0] == lesson.id:
                    parts.append(part)
                part = await cursor.fetchone()
            await run_blocking(jsonl_rows.write_lines, file, [jsonl_rows.lesson_line(lesson, parts, width)])
    for lesson in lessons:
        if lesson.superseded_at is not None:
            rows = await execute(connection, jsonl_rows.supersession_steps(tenant, lesson))
            await run_blocking(
                jsonl_rows.write_lines, file, jsonl_rows.supersession_lines(lesson, rows, project)
            )
    edges = await execute(connection, calls.list_edges(tenant, jsonl_rows.LINK_COLUMNS))
    await run_blocking(jsonl_rows.write_lines, file, jsonl_rows.link_lines(edges, ends))
    return len(lessons)


async def import_scope(
    scope: AsyncScope, lines: Iterator[Any], keep_projects: Sequence[str], dry_run: bool, progress: Progress
) -> BatchResult:
    """Store the lessons, links and supersessions of an export; a second import changes nothing."""
    header: ExportHeader = next(lines)
    projects: ForeignProjects | None = None
    if scope.project_id is None and header.tenant not in (None, scope.tenant_id):
        projects = ForeignProjects(header.tenant, scope.tenant_id, keep_projects)
        lines = map(projects.moved, lines)
    reading = _Import(scope, header, jsonl_rows.vector_source(header, scope._memory._embedder), dry_run)
    try:
        for batch in progress.track(jsonl_rows.line_batches(lines, BATCH), "batches of lines"):
            await reading.import_batch(batch)
    except PgmnemoError as error:
        error.add_note(f"{reading.outcomes.total():,} lessons before that are stored; import it again")
        raise
    await reading.forget_inactive()
    await scope._memory._finish_load(scope.tenant_id, progress=progress)
    if projects is not None:
        projects.warn()
    if header.language is not None and not dry_run:
        await reading.keep_language(header.language)
    return BatchResult(dict(+reading.outcomes), reading.links, dry_run)


class _Import:
    """The state of a running import.

    A forgotten lesson cannot supersede another, so lessons are forgotten last.
    """

    def __init__(
        self, scope: AsyncScope, header: ExportHeader, source: EmbedderRecord | None, dry_run: bool
    ) -> None:
        self.scope, self.header, self.source, self.dry_run = scope, header, source, dry_run
        self.outcomes: Counter[str] = Counter()
        self.origins: dict[str, UUID] = {}
        self.links = 0
        self._to_forget: list[tuple[AsyncScope, str]] = []
        self._forgotten: set[tuple[UUID | None, str]] = set()  # by an earlier import

    async def import_batch(self, batch: list[Any]) -> None:
        """Store a batch: lessons first, project by project, then the links and supersessions between them."""
        lessons = [line for line in batch if isinstance(line, LessonLine)]
        some = jsonl_rows.by_project(lessons, self.scope.project_id, self.origins)
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
        rest = [line for line in lines if line.active or jsonl_rows.differs(line, held.get(line.key))]
        again = {line.key for line in lines} - {line.key for line in rest}
        self._forgotten |= {(inside.project_id, key) for key in again}
        self.outcomes["unchanged"] += len(again)
        if self.dry_run:
            known = await inside.known([line.key for line in rest])
            new = sum(line.key not in known for line in rest)
            same = sum(jsonl_rows.is_known(line, known) for line in rest)
            self.outcomes.update(inserted=new, updated=len(rest) - new - same, unchanged=same)
        elif rest:
            assert inside.project_id is not None
            form = self.header.vectors if self.source else None
            items = [jsonl_rows.item_of_line(line, form) for line in rest]
            self.outcomes.update(await inside._store_batch(inside.project_id, items, None, self.source))
            self._to_forget += [(inside, line.key) for line in rest if not line.active]

    async def keep_language(self, language: str) -> None:
        """Give the exported tenant's language to this tenant, if this tenant has none."""
        if self.scope.project_id is None and await self.scope.language() == AUTO:
            await self.scope.language(language)

    async def supersede(self, line: SupersessionLine) -> None:
        """Store a supersession, across projects if the line names another project.

        If an earlier import forgot one of the two lessons, only end the validity of the old lesson, without a
        successor. Skip this if the old lesson is missing, forgotten, or already ended at that time.
        """
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

    async def forget_inactive(self) -> None:
        """Forget the imported lessons that were forgotten in the export; call it last."""
        for inside, key in self._to_forget:
            await inside.forget(key)
