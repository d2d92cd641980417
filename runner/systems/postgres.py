"""The base of systems in PostgreSQL: a database, and one table that is created, loaded, indexed and
dropped.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, ClassVar
from uuid import uuid4

import psycopg

from pgmnemo.paths import SQL_FOLDER
from pgmnemo.postgres.connections import Connectable
from pgmnemo.postgres.pgvector_only import VECTOR, PgvectorDatabase, open_pgvector_database
from pgmnemo.postgres.server_files import PIXELTABLE, Bundle
from pgmnemo.postgres.server_process import durable_settings
from pgmnemo.progress import QUIET, Progress
from runner.systems.fusion import POOL, RANK_OFFSET
from runner.systems.memory_usage import server_memory
from runner.systems.system import (
    RETRIEVER,
    C,
    ClientSystem,
    Lesson,
    Lessons,
    Match,
    Query,
    Retrievers,
    SystemContext,
)

WRITERS = 2
BATCH = 10_000
PROJECT = "CREATE INDEX {table}_project ON {table} (project)"
HNSW = "CREATE INDEX {table}_hnsw ON {table} USING hnsw (embedding vector_cosine_ops)"
EF = "ef_search"  # a client setting
EF_SEARCH = "100"  # default, unless a sweep sets another
ITERATIVE = "relaxed_order"
ALONE = "SELECT id, score FROM {name} ORDER BY place, id"
FUSED = """
SELECT coalesce(semantic.id, keyword.id),
       coalesce(1.0 / ({offset} + semantic.place), 0) + coalesce(1.0 / ({offset} + keyword.place), 0) AS score
FROM semantic FULL OUTER JOIN keyword ON semantic.id = keyword.id
ORDER BY 2 DESC, 1 LIMIT %(k)s
"""
PARTS = """
SELECT relname, CASE relkind WHEN 'i' THEN pg_relation_size(oid) ELSE pg_table_size(oid) END
FROM pg_class WHERE relname LIKE %s AND relkind IN ('r', 'i') ORDER BY 1
"""

CATALOGUE = """
SELECT count(*), sum(pg_total_relation_size(oid)) FILTER (WHERE relnamespace = 'pg_catalog'::regnamespace
                                                            AND relkind = 'r')::bigint
FROM pg_class
"""


def hnsw_session(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the session settings of an HNSW search, so that a filter does not reduce the rows."""
    return {"hnsw.ef_search": settings.get(EF, EF_SEARCH), "hnsw.iterative_scan": ITERATIVE}


class DatabaseSystem(ClientSystem[C]):
    """A system with its data in a database."""

    database: Connectable

    def catalogue(self) -> Mapping[str, int]:
        with self.database.admin() as owner:
            [counted] = owner.execute(CATALOGUE)
            return dict(zip(("relations", "bytes"), counted, strict=True))

    def memory(self) -> int | None:
        with self.database.admin() as owner:
            return server_memory(owner.info.backend_pid)


class PlainDatabaseSystem(DatabaseSystem[C]):
    """A system in a database without pgmnemo; its objects are named `made` and are dropped at the end."""

    database: PgvectorDatabase

    def __init__(
        self, context: SystemContext, *, own: bool = False, bundle: Bundle = PIXELTABLE,
        extensions: Sequence[str] = VECTOR, settings: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        """Open the database.

        `own`: in an embedded server from `bundle` even if another server is given; `settings` are for this
        server.
        """
        super().__init__()
        self.made = f"memory_{uuid4().hex[:12]}"
        every = {**(durable_settings() if context.durable else {}), **(settings or {})}
        self.database = self._stack.enter_context(
            open_pgvector_database(
                context.dsn, context.environ, sql=context.sql or SQL_FOLDER, settings=every,
                fresh=context.durable or context.embedded or own, bundle=bundle, extensions=extensions,
            )
        )  # fmt: skip

    def drop_at_the_end(self, statement: str) -> None:
        """Run `statement` at the end on a given server; an embedded server is deleted as a whole."""
        if self.database.kept:
            self._stack.callback(self._drop, statement)

    def _drop(self, statement: str) -> None:
        with self.database.admin() as owner:
            owner.execute(statement.encode())

    def part_sizes(self, statement: str, name: str) -> Mapping[str, int]:
        """Return the bytes of each table and index that `statement` lists for `name`."""
        with self.database.admin() as owner:
            return {str(part): int(size) for part, size in owner.execute(statement.encode(), (name,)) if size}


class TableClient:
    """A connection as the ordinary role, with session settings."""

    def __init__(self, system: TableSystem, session: Mapping[str, str]) -> None:
        self._system, self.table = system, system.table
        self._connection: psycopg.Connection[Any] = system.database.connect()
        for name, value in session.items():
            self._connection.execute("SELECT set_config(%s, %s, false)", (name, value))

    def ask(self, query: Query, k: int) -> list[Match]:
        raise NotImplementedError

    def rows(self, statement: str, query: Query, **more: Any) -> list[Match]:
        """Return the lessons and scores of a statement, with parameters `text`, `vector`, `project` and
        `more`.
        """
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


class TableSystem(PlainDatabaseSystem[TableClient]):
    """A table for all projects in a database without pgmnemo; on a given server it is dropped at the end.

    A subclass defines the statement that creates the table, its columns with their types, and the statements
    to run after the load; all statements contain {table}, the first also {width}, the dimensions of the
    vectors.
    """

    title: ClassVar[str]
    create: ClassVar[str]
    columns: ClassVar[Mapping[str, str]]
    steps: ClassVar[Mapping[str, str]]

    def __init__(self, context: SystemContext, **server: Any) -> None:
        super().__init__(context, **server)
        self.table = self.made
        self.projects: dict[str, int] = {}

    def row(self, lesson: Lesson) -> tuple[Any, ...]:
        """Return a lesson as a row of the table."""
        every = {
            "id": lesson.number, "project": self.projects[lesson.project], "content": lesson.text,
            "embedding": lesson.vector,
        }  # fmt: skip
        return tuple(every[name] for name in self.columns)

    def load(self, lessons: Lessons, progress: Progress = QUIET) -> Mapping[str, float]:
        self.projects = {name: number for number, name in enumerate(lessons.projects)}
        with self.database.admin() as owner:
            owner.execute(self.create.format(table=self.table, width=lessons.width or 1).encode())
            self.drop_at_the_end(f"DROP TABLE {self.table}")
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

    def sizes(self) -> Mapping[str, int]:
        return self.part_sizes(PARTS, f"{self.table}%")


class KeywordClient(TableClient):
    """A connection as the ordinary role that asks one of two retrievers, or both."""

    def __init__(self, system: FusedTableSystem, session: Mapping[str, str], retriever: str) -> None:
        super().__init__(system, session)
        self._fused, self._retriever = system, retriever

    def ask(self, query: Query, k: int) -> list[Match]:
        return self._ask("keyword" if query.vector is None else self._retriever, query, k)

    def _ask(self, retriever: str, query: Query, k: int) -> list[Match]:
        pool = int(k if retriever else max(POOL, k))
        statement = self._fused.statement(retriever, query.project is not None, pool)
        return self.rows(statement, query, pool=pool, k=k)


class FusedClient(KeywordClient):
    """A keyword client that also searches by vectors."""

    def nearest(self, query: Query, k: int) -> list[Match]:
        return self._ask("vector", query, k)


class FusedTableSystem(TableSystem):
    """A table with keyword and vector retrievers that are fused by rank in one statement.

    `keyword` and `semantic` are its retrievers, common table expressions with these names and the columns id,
    score and place; they contain {table}, {pool}, {offset}, and the condition on the project: {filter}, or
    {unindexed}, which no index on the project can use.
    """

    keyword: ClassVar[str]
    semantic: ClassVar[str]
    words_title: ClassVar[str]

    @property
    def retrievers(self) -> Retrievers:
        return {
            "keyword": ({RETRIEVER: "keyword"}, f"{self.words_title} alone"),
            "vector": ({RETRIEVER: "vector"}, "HNSW alone"),
        }

    def statement(self, retriever: str, filtered: bool, pool: int) -> str:
        """Return the statement for one retriever, or for both if `retriever` is empty.

        `filtered` adds the condition on the project; without it all projects are searched.
        """
        parts = {"": (self.semantic, self.keyword), "keyword": (self.keyword,), "vector": (self.semantic,)}[
            retriever
        ]
        asked = (
            FUSED if not retriever else ALONE.format(name="semantic" if retriever == "vector" else "keyword")
        )
        return f"WITH {', '.join(parts)} {asked}".format(
            table=self.table, pool=pool, offset=RANK_OFFSET,
            filter="project = %(project)s" if filtered else "true",
            unindexed="project + 0 = %(project)s" if filtered else "true",
        )  # fmt: skip
