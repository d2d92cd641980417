"""What people write by hand in PostgreSQL: GIN with ts_rank_cd, pgvector's HNSW, fused by rank.

The query is the one of pgvector-python's example of hybrid search (examples/hybrid_search/rrf.py), with the
question's words joined by OR, a filter by tenant where one is asked for, and iterative index scans so that
the filter returns as many rows as there are (pgvector's README, "Iterative Index Scans"). Reciprocal rank
fusion with k = 60 (Cormack et al. 2009).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any

import psycopg

from runner.perf.memory import of_server
from runner.perf.server import Plain, plain_database
from runner.perf.systems.system import EF_SEARCH, POOL, Place
from runner.perf.workload import Asked, Lesson, Tenant, Workload
from runner.progress import Progress

WRITERS = 2
BATCH = 10_000
TABLE = """
CREATE TABLE memory (
    id        bigint PRIMARY KEY,
    tenant    integer NOT NULL,
    content   text NOT NULL,
    lexemes   tsvector GENERATED ALWAYS AS (to_tsvector('english', content)) STORED,
    embedding vector({width}) NOT NULL
)
"""
INDEXES = {
    "tenant": "CREATE INDEX memory_tenant ON memory (tenant)",
    "gin": "CREATE INDEX memory_lexemes ON memory USING gin (lexemes)",
    "hnsw": "CREATE INDEX memory_hnsw ON memory USING hnsw (embedding vector_cosine_ops)",
}
HYBRID = """
WITH asked AS MATERIALIZED (
    SELECT replace(plainto_tsquery('english', %(text)s)::text, ' & ', ' | ')::tsquery AS words
), semantic AS (
    SELECT id, rank() OVER (ORDER BY embedding <=> %(vector)s) AS place
    FROM memory {filter} ORDER BY embedding <=> %(vector)s LIMIT {pool}
), keyword AS (
    SELECT id, rank() OVER (ORDER BY ts_rank_cd(lexemes, (SELECT words FROM asked)) DESC) AS place
    FROM memory WHERE lexemes @@ (SELECT words FROM asked) {also}
    ORDER BY ts_rank_cd(lexemes, (SELECT words FROM asked)) DESC LIMIT {pool}
)
SELECT coalesce(semantic.id, keyword.id)
FROM semantic FULL OUTER JOIN keyword ON semantic.id = keyword.id
ORDER BY coalesce(1.0 / (60 + semantic.place), 0) + coalesce(1.0 / (60 + keyword.place), 0) DESC
LIMIT %(k)s
"""
NEAREST = "SELECT id FROM memory {filter} ORDER BY embedding <=> %(vector)s LIMIT %(k)s"
PARTS = """
SELECT relname, CASE relkind WHEN 'i' THEN pg_relation_size(oid) ELSE pg_table_size(oid) END
FROM pg_class WHERE relname LIKE 'memory%' AND relkind IN ('r', 'i') ORDER BY 1
"""


def _filled(statement: str, tenant: Tenant) -> str:
    """Everything is asked without a filter, a tenant with one."""
    filtered = tenant is not Tenant.WHOLE
    return statement.format(
        pool=POOL,
        filter="WHERE tenant = %(tenant)s" if filtered else "",
        also="AND tenant = %(tenant)s" if filtered else "",
    )


class ByHandClient:
    """One connection as the ordinary role."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection

    def query(self, asked: Asked, tenant: Tenant, k: int) -> list[int]:
        return self._ask(_filled(HYBRID, tenant), asked, tenant, k)

    def nearest(self, asked: Asked, tenant: Tenant, k: int) -> list[int]:
        return self._ask(_filled(NEAREST, tenant), asked, tenant, k)

    def _ask(self, statement: str, asked: Asked, tenant: Tenant, k: int) -> list[int]:
        values = {"text": asked.text, "vector": asked.vector, "tenant": int(tenant), "k": k}
        return [int(row[0]) for row in self._connection.execute(statement, values, binary=True)]

    def add(self, lesson: Lesson) -> None:
        self._connection.execute(
            "INSERT INTO memory (id, tenant, content, embedding) VALUES (%s, %s, %s, %s)",
            (lesson.number, int(lesson.tenant), lesson.text, lesson.vector),
        )

    def close(self) -> None:
        self._connection.close()


class ByHand:
    """One table for all tenants in a database of its own."""

    def __init__(self, database: Plain) -> None:
        self._database = database

    def load(self, workload: Workload, progress: Progress) -> Mapping[str, float]:
        with self._database.admin() as owner:
            owner.execute(TABLE.format(width=workload.width))
            owner.execute(f"GRANT SELECT, INSERT ON memory TO {self._database.role}")
            began = time.perf_counter()
            batches = range(0, workload.count, BATCH)
            with ThreadPoolExecutor(WRITERS) as pool:
                done = pool.map(partial(self._copy, workload), batches)
                for _ in progress.track(done, "GIN + HNSW: batches", len(batches)):
                    pass
            seconds = {"store": time.perf_counter() - began}
            for name, statement in {**INDEXES, "vacuum": "VACUUM (ANALYZE) memory"}.items():
                began = time.perf_counter()
                owner.execute(statement)
                seconds[name] = time.perf_counter() - began
            owner.execute("CHECKPOINT")
            return seconds

    def _copy(self, workload: Workload, start: int) -> None:
        statement = "COPY memory (id, tenant, content, embedding) FROM STDIN (FORMAT binary)"
        lessons = workload.lessons(start, min(start + BATCH, workload.count))
        with self._database.connect() as connection, connection.cursor().copy(statement) as copy:
            copy.set_types(("int8", "int4", "text", "vector"))
            for lesson in lessons:
                copy.write_row((lesson.number, int(lesson.tenant), lesson.text, lesson.vector))

    def client(self, ef_search: int | None = None) -> ByHandClient:
        connection = self._database.connect()
        connection.execute(f"SET hnsw.ef_search = {ef_search or EF_SEARCH}")
        connection.execute("SET hnsw.iterative_scan = relaxed_order")
        return ByHandClient(connection)

    def exact(self) -> None:
        """It orders by the cosine alone."""

    def searched(self, tenant: Tenant) -> Tenant | None:
        return None if tenant is Tenant.WHOLE else tenant

    def sizes(self) -> Mapping[str, int]:
        with self._database.admin() as owner:
            return {str(name): int(size) for name, size in owner.execute(PARTS)}

    def memory(self) -> int | None:
        with self._database.admin() as owner:
            return of_server(owner.info.backend_pid)

    def plans(self, asked: Sequence[Asked], k: int) -> str:
        return ""

    def facts(self) -> Mapping[str, str]:
        with self._database.admin() as owner:
            row = owner.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'").fetchone()
        return {"pgvector": row[0] if row else "", "hnsw.iterative_scan": "relaxed_order"}


@contextmanager
def open_by_hand(place: Place) -> Iterator[ByHand]:
    """A fresh server with pgvector, gone at the end."""
    with plain_database(place.version, place.sql) as database:
        yield ByHand(database)
