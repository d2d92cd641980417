"""What people write by hand in PostgreSQL: GIN with ts_rank_cd, pgvector's HNSW, fused by rank.

The query is the one of pgvector-python's example of hybrid search (examples/hybrid_search/rrf.py), with the
question's words joined by OR, a filter by project where one is asked for, and iterative index scans so that
the filter returns as many rows as there are (pgvector's README, "Iterative Index Scans"). Reciprocal rank
fusion with k = 60 (Cormack et al. 2009).
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from typing import Any, ClassVar
from uuid import uuid4

import psycopg

from runner.database.durable import durable_settings
from runner.database.plain import Plain, open_plain
from runner.database.releases import SQL_FOLDER
from runner.progress import QUIET, Progress
from runner.systems.fusion import POOL, RANK_OFFSET
from runner.systems.memory import of_server
from runner.systems.system import Kind, Legs, Lesson, Lessons, Match, Place, Query, System

WRITERS = 2
BATCH = 10_000
EF_SEARCH = "100"  # unless a sweep says otherwise
TABLE = """
CREATE TABLE {table} (
    id        bigint PRIMARY KEY,
    project   integer NOT NULL,
    content   text NOT NULL,
    lexemes   tsvector GENERATED ALWAYS AS (to_tsvector('english', content)) STORED,
    embedding vector({width})
)
"""
INDEXES = {
    "project": "CREATE INDEX {table}_project ON {table} (project)",
    "gin": "CREATE INDEX {table}_lexemes ON {table} USING gin (lexemes)",
    "hnsw": "CREATE INDEX {table}_hnsw ON {table} USING hnsw (embedding vector_cosine_ops)",
}
ASKED = "SELECT replace(plainto_tsquery('english', %(text)s)::text, ' & ', ' | ')::tsquery AS words"
SEMANTIC = """
SELECT id, rank() OVER (ORDER BY embedding <=> %(vector)s) AS place, 1 - (embedding <=> %(vector)s) AS score
FROM {table} {filter} ORDER BY embedding <=> %(vector)s LIMIT %(pool)s
"""
KEYWORD = """
SELECT id, rank() OVER (ORDER BY ts_rank_cd(lexemes, (SELECT words FROM asked)) DESC) AS place,
       ts_rank_cd(lexemes, (SELECT words FROM asked)) AS score
FROM {table} WHERE lexemes @@ (SELECT words FROM asked) {also}
ORDER BY ts_rank_cd(lexemes, (SELECT words FROM asked)) DESC, id LIMIT %(pool)s
"""
HYBRID = """
WITH asked AS MATERIALIZED ({asked}), semantic AS ({semantic}), keyword AS ({keyword})
SELECT coalesce(semantic.id, keyword.id),
       coalesce(1.0 / ({offset} + semantic.place), 0) + coalesce(1.0 / ({offset} + keyword.place), 0) AS score
FROM semantic FULL OUTER JOIN keyword ON semantic.id = keyword.id
ORDER BY 2 DESC, 1 LIMIT %(k)s
"""
WORDS = "WITH asked AS MATERIALIZED ({asked}) SELECT id, score FROM ({keyword}) found ORDER BY place, id"
NEAREST = "SELECT id, score FROM ({semantic}) found ORDER BY place, id"
PARTS = """
SELECT relname, CASE relkind WHEN 'i' THEN pg_relation_size(oid) ELSE pg_table_size(oid) END
FROM pg_class WHERE relname LIKE %s AND relkind IN ('r', 'i') ORDER BY 1
"""
STATEMENTS = {"": HYBRID, "keyword": WORDS, "vector": NEAREST}
LEG, EF = "leg", "ef_search"  # settings of a client


class Client:
    """One connection as the ordinary role."""

    def __init__(self, system: GinHnsw, settings: Mapping[str, str]) -> None:
        self._system, self._leg = system, settings.get(LEG, "")
        self._connection: psycopg.Connection[Any] = system.database.connect()
        self._connection.execute(f"SET hnsw.ef_search = {int(settings.get(EF, EF_SEARCH))}")
        self._connection.execute("SET hnsw.iterative_scan = relaxed_order")

    def ask(self, query: Query, k: int) -> list[Match]:
        return self._ask("keyword" if query.vector is None else self._leg, query, k)

    def nearest(self, query: Query, k: int) -> list[Match]:
        return self._ask("vector", query, k)

    def _ask(self, leg: str, query: Query, k: int) -> list[Match]:
        project = None if query.project is None else self._system.projects[query.project]
        pool = k if leg else max(POOL, k)
        values = {"text": query.text, "vector": query.vector, "project": project, "pool": pool, "k": k}
        statement = self._system.statement(leg, project is not None).encode()
        rows = self._connection.execute(statement, values, binary=True)
        return [Match(int(number), float(score)) for number, score in rows]

    def add(self, lesson: Lesson) -> None:
        statement = (
            f"INSERT INTO {self._system.table} (id, project, content, embedding) VALUES (%s, %s, %s, %s)"
        )
        self._connection.execute(statement.encode(), self._system.row(lesson))

    def close(self) -> None:
        self._connection.close()


class GinHnsw(System):
    """One table for all projects in a database without pgmnemo; on a given server it goes at the end."""

    legs: ClassVar[Legs] = {
        "keyword": ({LEG: "keyword"}, "GIN and ts_rank_cd alone"),
        "vector": ({LEG: "vector"}, "HNSW alone"),
    }

    def __init__(self, place: Place) -> None:
        self._stack = ExitStack()
        self.table = f"memory_{uuid4().hex[:12]}"
        self.projects: dict[str, int] = {}
        self._asking: Client | None = None
        self.database: Plain = self._stack.enter_context(
            open_plain(
                place.dsn, place.environ, sql=place.sql or SQL_FOLDER,
                settings=durable_settings() if place.durable else None, fresh=place.durable,
            )
        )  # fmt: skip

    def statement(self, leg: str, filtered: bool) -> str:
        """Everything is asked without a filter, a project with one."""
        parts = {
            "table": self.table,
            "filter": "WHERE project = %(project)s" if filtered else "",
            "also": "AND project = %(project)s" if filtered else "",
        }
        return STATEMENTS[leg].format(
            asked=ASKED,
            semantic=SEMANTIC.format(**parts),
            keyword=KEYWORD.format(**parts),
            offset=RANK_OFFSET,
        )

    def row(self, lesson: Lesson) -> tuple[Any, ...]:
        """A lesson as the table has it."""
        return lesson.number, self.projects[lesson.project], lesson.text, lesson.vector

    def load(self, lessons: Lessons, progress: Progress = QUIET) -> Mapping[str, float]:
        self.projects = {name: number for number, name in enumerate(lessons.projects)}
        with self.database.admin() as owner:
            owner.execute(TABLE.format(table=self.table, width=lessons.width or 1).encode())
            if self.database.kept:
                self._stack.callback(self._drop)
            owner.execute(f"GRANT SELECT, INSERT ON {self.table} TO {self.database.role}".encode())
            began = time.perf_counter()
            batches = range(0, len(lessons), BATCH)
            with ThreadPoolExecutor(WRITERS) as pool:
                done = pool.map(partial(self._copy, lessons), batches)
                for _ in progress.track(done, "GIN + HNSW: batches", len(batches)):
                    pass
            seconds = {"store": time.perf_counter() - began}
            for name, statement in {**INDEXES, "vacuum": "VACUUM (ANALYZE) {table}"}.items():
                began = time.perf_counter()
                owner.execute(statement.format(table=self.table).encode())
                seconds[name] = time.perf_counter() - began
            if not self.database.kept:
                owner.execute("CHECKPOINT")
            return seconds

    def _copy(self, lessons: Lessons, start: int) -> None:
        statement = f"COPY {self.table} (id, project, content, embedding) FROM STDIN (FORMAT binary)"
        with self.database.connect() as connection, connection.cursor().copy(statement.encode()) as copy:
            copy.set_types(("int8", "int4", "text", "vector"))
            for lesson in lessons[start : start + BATCH]:
                copy.write_row(self.row(lesson))

    def _drop(self) -> None:
        with self.database.admin() as owner:
            owner.execute(f"DROP TABLE {self.table}".encode())  # made by this run under a name of its own

    def ask(self, query: Query, k: int) -> list[Match]:
        if self._asking is None:
            self._asking = self.client()
            self._stack.callback(self._asking.close)
        return self._asking.ask(query, k)

    def client(self, settings: Mapping[str, str] | None = None) -> Client:
        """One more connection; `leg` among the settings is its only leg, `ef_search` that of HNSW."""
        return Client(self, settings or {})

    def facts(self) -> Mapping[str, str]:
        with self.database.admin() as owner:
            row = owner.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'").fetchone()
        return {
            "version": self.database.postgresql,
            "pgvector": row[0] if row else "",
            "hnsw.iterative_scan": "relaxed_order",
            "hnsw.ef_search": EF_SEARCH,
            "pool": str(POOL),
        }

    def sizes(self) -> Mapping[str, int]:
        with self.database.admin() as owner:
            return {str(name): int(size) for name, size in owner.execute(PARTS, (f"{self.table}%",))}

    def memory(self) -> int | None:
        with self.database.admin() as owner:
            return of_server(owner.info.backend_pid)

    def close(self) -> None:
        self._stack.close()


GIN_HNSW = Kind(
    "GIN + ts_rank_cd + HNSW",
    "same PostgreSQL, one table written by hand; OR of the words; fused by rank in one statement; given "
    "texts and vectors, no times",
    GinHnsw,
    passages=True,
    postgres=True,
)
