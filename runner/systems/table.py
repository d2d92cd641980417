"""What the systems share that are one table in PostgreSQL: made, filled, indexed, asked, dropped."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, ClassVar
from uuid import uuid4

import psycopg

from runner.database.durable import durable_settings
from runner.database.plain import VECTOR, Plain, open_plain
from runner.database.releases import SQL_FOLDER
from runner.database.server_files import PIXELTABLE, Bundle
from runner.progress import QUIET, Progress
from runner.systems.served import OnServer
from runner.systems.system import Lesson, Lessons, Match, Place, Query

WRITERS = 2
BATCH = 10_000
PROJECT = "CREATE INDEX {table}_project ON {table} (project)"
HNSW = "CREATE INDEX {table}_hnsw ON {table} USING hnsw (embedding vector_cosine_ops)"
LEG, EF = "leg", "ef_search"  # settings of a client
EF_SEARCH = "100"  # unless a sweep says otherwise
ITERATIVE = "relaxed_order"
PARTS = """
SELECT relname, CASE relkind WHEN 'i' THEN pg_relation_size(oid) ELSE pg_table_size(oid) END
FROM pg_class WHERE relname LIKE %s AND relkind IN ('r', 'i') ORDER BY 1
"""


def hnsw_session(settings: Mapping[str, str]) -> dict[str, str]:
    """How a connection searches by HNSW: a filter returns as many rows as there are."""
    return {"hnsw.ef_search": settings.get(EF, EF_SEARCH), "hnsw.iterative_scan": ITERATIVE}


class TableClient:
    """One connection as the ordinary role, with settings of its session."""

    def __init__(self, system: Table, session: Mapping[str, str]) -> None:
        self._system, self.table = system, system.table
        self._connection: psycopg.Connection[Any] = system.database.connect()
        for name, value in session.items():
            self._connection.execute("SELECT set_config(%s, %s, false)", (name, value))

    def ask(self, query: Query, k: int) -> list[Match]:
        raise NotImplementedError

    def rows(self, statement: str, query: Query, **more: Any) -> list[Match]:
        """Lessons with scores by a statement, which may name `text`, `vector`, `project` and `more`."""
        project = None if query.project is None else self._system.projects[query.project]
        values = {"text": query.text, "vector": query.vector, "project": project, **more}
        found = self._connection.execute(statement.encode(), values, binary=True)
        return [Match(int(number), float(score)) for number, score in found]

    def add(self, lesson: Lesson) -> None:
        columns = tuple(self._system.columns)
        places = ", ".join(["%s"] * len(columns))
        statement = f"INSERT INTO {self.table} ({', '.join(columns)}) VALUES ({places})"
        self._connection.execute(statement.encode(), self._system.row(lesson))

    def close(self) -> None:
        self._connection.close()


class Table(OnServer[TableClient]):
    """One table for all projects in a database without pgmnemo; on a given server it goes at the end.

    Whoever derives from it says how the table is made, its columns with their types, and what is done once
    they are filled; in all statements stands {table}, in the first {width}, the dimensions of the vectors.
    """

    title: ClassVar[str]
    create: ClassVar[str]
    columns: ClassVar[Mapping[str, str]]
    steps: ClassVar[Mapping[str, str]]

    def __init__(
        self,
        place: Place,
        *,
        own: bool = False,
        bundle: Bundle = PIXELTABLE,
        extensions: Sequence[str] = VECTOR,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        """`own`: in an embedded server from `bundle` even where another is given; `settings` of that one."""
        super().__init__()
        self.table = f"memory_{uuid4().hex[:12]}"
        self.projects: dict[str, int] = {}
        every = {**(durable_settings() if place.durable else {}), **(settings or {})}
        self.database: Plain = self._stack.enter_context(
            open_plain(
                place.dsn, place.environ, sql=place.sql or SQL_FOLDER, settings=every,
                fresh=place.durable or place.embedded or own, bundle=bundle, extensions=extensions,
            )
        )  # fmt: skip

    def row(self, lesson: Lesson) -> tuple[Any, ...]:
        """A lesson as the table has it."""
        every = {
            "id": lesson.number, "project": self.projects[lesson.project], "content": lesson.text,
            "embedding": lesson.vector,
        }  # fmt: skip
        return tuple(every[name] for name in self.columns)

    def load(self, lessons: Lessons, progress: Progress = QUIET) -> Mapping[str, float]:
        self.projects = {name: number for number, name in enumerate(lessons.projects)}
        with self.database.admin() as owner:
            owner.execute(self.create.format(table=self.table, width=lessons.width or 1).encode())
            if self.database.kept:
                self._stack.callback(self._drop)
            owner.execute(f"GRANT SELECT, INSERT ON {self.table} TO {self.database.role}".encode())
            began = time.perf_counter()
            batches = range(0, len(lessons), BATCH)
            with ThreadPoolExecutor(WRITERS) as pool:
                done = pool.map(partial(self._copy, lessons), batches)
                for _ in progress.track(done, f"{self.title}: batches", len(batches)):
                    pass
            seconds = {"store": time.perf_counter() - began}
            for name, statement in {**self.steps, "vacuum": "VACUUM (ANALYZE) {table}"}.items():
                began = time.perf_counter()
                owner.execute(statement.format(table=self.table).encode())
                seconds[name] = time.perf_counter() - began
            if not self.database.kept:
                owner.execute("CHECKPOINT")
            return seconds

    def _copy(self, lessons: Lessons, start: int) -> None:
        statement = f"COPY {self.table} ({', '.join(self.columns)}) FROM STDIN (FORMAT binary)"
        with self.database.connect() as connection, connection.cursor().copy(statement.encode()) as copy:
            copy.set_types(tuple(self.columns.values()))
            for lesson in lessons[start : start + BATCH]:
                copy.write_row(self.row(lesson))

    def _drop(self) -> None:
        with self.database.admin() as owner:
            owner.execute(f"DROP TABLE {self.table}".encode())  # made by this run under a name of its own

    def sizes(self) -> Mapping[str, int]:
        with self.database.admin() as owner:
            return {str(name): int(size) for name, size in owner.execute(PARTS, (f"{self.table}%",))}
