"""pgmnemo: bulk ingest through staging, one call of recall_lessons a question, policies active."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from functools import partial
from typing import Any
from uuid import UUID, uuid5

import numpy as np
import psycopg

from runner.database import Database
from runner.perf.explained import typical_plans
from runner.perf.memory import of_server
from runner.perf.server import pgmnemo_database
from runner.perf.systems.system import Place
from runner.perf.workload import Asked, Lesson, Tenant, Workload
from runner.progress import Progress
from runner.records import Matrix

NAMESPACE = UUID("4f0c9a52-67b5-5d0f-8a4e-2f5a7c1d9b10")
WIDTH = 1024  # of what the verbs take; zeros behind a shorter vector leave its cosines as they are
STRIPE = 5_000  # rows of the order of arrival that one connection stores at a time, tenant by tenant
WRITERS = 2
EVERYTHING = "10000000"  # the largest exact_scan_limit
QUERY = """
SELECT external_id
FROM pgmnemo.recall_lessons(embedding := %s::vector, k := %s, query_text := %s, mode := %s)
"""
COLUMNS = ("project_id", "external_id", "content", "embedding")
TYPES = ("uuid", "text", "text", "vector")
PASSAGE_COLUMNS, PASSAGE_TYPES = ("passages", "passage_embeddings"), ("text[]", "vector[]")
PARTS = """
SELECT c.relname, pg_table_size(c.oid) FROM pg_class c
WHERE c.relnamespace = 'pgmnemo'::regnamespace AND c.relkind IN ('r', 'm')
UNION ALL
SELECT i.relname, pg_relation_size(i.oid) FROM pg_class i
WHERE i.relnamespace = 'pgmnemo'::regnamespace AND i.relkind = 'i'
ORDER BY 1
"""

Connection = psycopg.Connection[Any]


def tenant_id(tenant: Tenant) -> UUID:
    """The uuid of a tenant, which is that of its only project, too."""
    return uuid5(NAMESPACE, tenant.name)


def padded(vector: Matrix) -> Matrix:
    """The vector with zeros up to WIDTH."""
    row = np.zeros(WIDTH, dtype=np.float32)
    row[: len(vector)] = vector
    return row


class PgmnemoClient:
    """One connection as the ordinary role; it changes tenant by the setting that every query asks."""

    def __init__(self, connection: Connection, passages: bool) -> None:
        self._connection, self._passages = connection, passages
        self._tenant: Tenant | None = None

    def query(self, asked: Asked, tenant: Tenant, k: int) -> list[int]:
        return self._recall(asked, tenant, k, "hybrid")

    def nearest(self, asked: Asked, tenant: Tenant, k: int) -> list[int]:
        return self._recall(asked, tenant, k, "vector")

    def _recall(self, asked: Asked, tenant: Tenant, k: int, mode: str) -> list[int]:
        self.work_for(tenant)
        text = asked.text if mode == "hybrid" else None
        parameters = (padded(asked.vector), k, text, mode)
        return [int(row[0]) for row in self._connection.execute(QUERY, parameters, binary=True)]

    def add(self, lesson: Lesson) -> None:
        self.work_for(lesson.tenant)
        names = "project_id := %s, external_id := %s, content := %s, embedding := %s::vector"
        if self._passages:
            names += ", passages := %s, passage_embeddings := %s::vector[]"
        self._connection.execute(f"SELECT pgmnemo.store_lesson({names})", _row(lesson, self._passages))

    def work_for(self, tenant: Tenant) -> None:
        """Make `tenant` the session's, unless it is already."""
        if tenant is not self._tenant:
            self._connection.execute(
                "SELECT set_config('pgmnemo.tenant_id', %s, false)", (str(tenant_id(tenant)),)
            )
            self._tenant = tenant

    def store(self, lessons: list[Lesson]) -> None:
        """A set of one tenant's lessons through the staging table, in one transaction."""
        self.work_for(lessons[0].tenant)
        columns = COLUMNS + (PASSAGE_COLUMNS if self._passages else ())
        types = TYPES + (PASSAGE_TYPES if self._passages else ())
        statement = f"COPY lesson_staging ({', '.join(columns)}) FROM STDIN (FORMAT binary)"
        with self._connection.transaction(), self._connection.cursor() as cursor:
            cursor.execute("SELECT pgmnemo.open_staging()")
            with cursor.copy(statement) as copy:
                copy.set_types(types)
                for lesson in lessons:
                    copy.write_row(_row(lesson, self._passages))
            cursor.execute("SELECT * FROM pgmnemo.store_staged()")

    def close(self) -> None:
        self._connection.close()


def _row(lesson: Lesson, passages: bool) -> tuple[Any, ...]:
    row = (tenant_id(lesson.tenant), str(lesson.number), lesson.text, padded(lesson.vector))
    if not passages:
        return row
    return (*row, list(lesson.passages), [padded(vector) for vector in lesson.passage_vectors])


class Pgmnemo:
    """The extension at one version in a database of its own; `passages`: two a lesson, each with a vector."""

    def __init__(self, database: Database, passages: bool) -> None:
        self._database, self._passages = database, passages

    def load(self, workload: Workload, progress: Progress) -> Mapping[str, float]:
        seconds = {"store": self._timed(partial(self._store, workload, progress))}
        seconds["index"] = self._timed(self._index)
        seconds["vacuum"] = self._timed(self._vacuum)
        return seconds

    def _timed(self, step: Callable[[], None]) -> float:
        began = time.perf_counter()
        step()
        return time.perf_counter() - began

    def _store(self, workload: Workload, progress: Progress) -> None:
        """Grant the tenants, put vector indexing off where the version can, and copy in parallel."""
        with self._database.admin() as owner:
            for tenant in Tenant:
                owner.execute(
                    "SELECT pgmnemo.grant_tenant(%s, %s)", (tenant_id(tenant), self._database.facts.role)
                )
            _call_if_there(owner, "suspend_vector_index")
        stripes = range(0, workload.count, STRIPE)
        with ThreadPoolExecutor(WRITERS) as pool:
            done = pool.map(
                partial(self._store_stripes, workload), (stripes[n::WRITERS] for n in range(WRITERS))
            )
            for _ in progress.track(done, "pgmnemo: writers", WRITERS):
                pass

    def _store_stripes(self, workload: Workload, stripes: range) -> None:
        client = self.client()
        try:
            for start in stripes:
                lessons = list(workload.lessons(start, min(start + STRIPE, workload.count)))
                for tenant in Tenant:
                    if mine := [lesson for lesson in lessons if lesson.tenant is tenant]:
                        client.store(mine)
        finally:
            client.close()

    def _index(self) -> None:
        """What the documents advise after a bulk load: merge the small blocks, index what is not yet."""
        client = self.client()
        try:
            for tenant in Tenant:
                client.work_for(tenant)
                _call_if_there(client._connection, "compact_postings")
                _call_if_there(client._connection, "index_lessons")
        finally:
            client.close()
        with self._database.admin() as owner:
            _call_if_there(owner, "build_vector_index")

    def _vacuum(self) -> None:
        with self._database.admin() as owner:
            tables = owner.execute(
                "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables WHERE schemaname = 'pgmnemo'"
            ).fetchall()
            owner.execute(f"VACUUM (ANALYZE) {', '.join(row[0] for row in tables)}")
            owner.execute("CHECKPOINT")

    def client(self, ef_search: int | None = None) -> PgmnemoClient:
        connection = self._database.connect()
        connection.execute("SET pgmnemo.gate_strict = off")
        if ef_search is not None:
            connection.execute("SELECT set_config('pgmnemo.ef_search', %s, false)", (str(ef_search),))
        return PgmnemoClient(connection, self._passages)

    def exact(self) -> PgmnemoClient | None:
        """With passages its vector leg weighs three cosines: then the truth is its own exact scan."""
        if not self._passages:
            return None
        client = self.client()
        client._connection.execute("SELECT set_config('pgmnemo.exact_scan_limit', %s, false)", (EVERYTHING,))
        return client

    def searched(self, tenant: Tenant) -> Tenant | None:
        return tenant

    def sizes(self) -> Mapping[str, int]:
        with self._database.admin() as owner:
            return {str(name): int(size) for name, size in owner.execute(PARTS) if size}

    def memory(self) -> int | None:
        with self._database.admin() as owner:
            return of_server(owner.info.backend_pid)

    def plans(self, asked: Sequence[Asked], k: int) -> str:
        """Of the hot statements, which have these names from 0.3.0 on."""
        with self._database.admin() as owner:
            if not _is_there(owner, "_graph_rows"):
                return ""
        client = self.client()
        client.work_for(Tenant.WHOLE)
        questions = [(question.text, padded(question.vector)) for question in asked]
        with closing(client):
            return typical_plans(client._connection, questions, k)

    def facts(self) -> Mapping[str, str]:
        facts = self._database.facts
        return {"pgmnemo": facts.pgmnemo, "fingerprint": facts.fingerprint, "pgvector": facts.pgvector}


def _is_there(connection: Connection, function: str) -> bool:
    """Whether this version has the function."""
    row = connection.execute("SELECT to_regproc(%s) IS NOT NULL", (f"pgmnemo.{function}",)).fetchone()
    return bool(row and row[0])


def _call_if_there(connection: Connection, function: str) -> None:
    """Call a verb that only some versions have."""
    if _is_there(connection, function):
        connection.execute(f"SELECT pgmnemo.{function}()")


@contextmanager
def open_pgmnemo(place: Place, passages: bool = False) -> Iterator[Pgmnemo]:
    """A fresh server with the extension, gone at the end."""
    with pgmnemo_database(place.version, place.sql) as database:
        yield Pgmnemo(database, passages)
