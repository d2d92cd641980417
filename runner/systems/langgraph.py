"""LangGraph's `PostgresStore`, the long-term memory of its agents, in the same PostgreSQL with pgvector.

By its documents (https://docs.langchain.com/oss/python/langgraph/stores,
https://reference.langchain.com/python/langgraph.store.postgres/base/PostgresStore): `setup()` makes its
tables and its HNSW index before the first item; an item is {"text": …} under its key in a namespace, here
("memories", the project), and `fields` names what is embedded. Its `index` takes any function as embedder:
ours returns the run's vector for the text. A search in all projects is a search by the prefix ("memories",).
Connections are configured as its `from_conn_string` does, plus pgvector's iterative scans, without which a
filtered search by the index returns too few items.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from importlib import import_module, metadata
from typing import Any

import psycopg

from pgmnemo.progress import QUIET, Progress
from pgmnemo.records import Matrix
from runner.systems.postgres import PlainDatabaseSystem, hnsw_session
from runner.systems.system import PEERS, Lesson, Lessons, Match, Query, SystemContext, SystemSpec

PACKAGE = "langgraph-checkpoint-postgres"
MEMORIES = "memories"
BATCH = 500
PARTS = """
SELECT relname, CASE relkind WHEN 'i' THEN pg_relation_size(oid) ELSE pg_table_size(oid) END
FROM pg_class WHERE relnamespace = to_regnamespace(%s) AND relkind IN ('r', 'i') ORDER BY 1
"""


class LangGraphClient:
    """A store with its own connection, as the ordinary role."""

    def __init__(self, system: LangGraph, connection: psycopg.Connection[Any], width: int) -> None:
        self._system, self._connection = system, connection
        self._vectors: dict[str, Matrix] = {}  # text → vector, for the texts of one call
        connection.prepare_threshold = 0
        for name, value in {"search_path": f"{system.schema}, public", **hnsw_session({})}.items():
            connection.execute("SELECT set_config(%s, %s, false)", (name, value))
        index = {"dims": width, "embed": self._embed, "fields": ["text"]}
        self.store: Any = import_module("langgraph.store.postgres").PostgresStore(connection, index=index)

    def _embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [self._vectors[text].tolist() for text in texts]

    def ask(self, query: Query, k: int) -> list[Match]:
        return self.nearest(query, k)

    def nearest(self, query: Query, k: int) -> list[Match]:
        assert query.vector is not None, "the store is asked with vectors alone"
        self._vectors = {query.text: query.vector}
        own = () if query.project is None else (self._system.projects[query.project],)
        found = self.store.search((MEMORIES, *own), query=query.text, limit=k)
        matches = [Match(int(item.key), item.score) for item in found]
        return sorted(matches, key=lambda match: (-(match.score or 0.0), match.number))

    def add(self, lesson: Lesson) -> None:
        self.put([lesson])

    def put(self, lessons: Sequence[Lesson]) -> None:
        """Store all lessons in one batch."""
        operation = import_module("langgraph.store.base").PutOp
        self._vectors = {one.text: one.vector for one in lessons if one.vector is not None}
        self.store.batch([
            operation((MEMORIES, self._system.projects[one.project]), str(one.number), {"text": one.text})
            for one in lessons
        ])  # fmt: skip

    def close(self) -> None:
        self._connection.close()


class LangGraph(PlainDatabaseSystem[LangGraphClient]):
    """The store's tables in a schema of this run; on a given server the schema is dropped at the end."""

    def __init__(self, context: SystemContext) -> None:
        super().__init__(context)
        self.schema = self.made
        self.projects: dict[str, str] = {}
        self._width = 1

    def load(self, lessons: Lessons, progress: Progress = QUIET) -> Mapping[str, float]:
        self.projects = {name: str(number) for number, name in enumerate(lessons.projects)}
        self._width = lessons.width or 1
        self._set_up()
        began = time.perf_counter()
        batches = range(0, len(lessons), BATCH)
        for start in progress.track(batches, "LangGraph: batches", len(batches)):
            self.own.put(lessons[start : start + BATCH])
        stored = time.perf_counter()
        with self.database.admin() as owner:
            for table in ("store", "store_vectors"):
                owner.execute(f"VACUUM (ANALYZE) {self.schema}.{table}".encode())
            if not self.database.kept:
                owner.execute("CHECKPOINT")
        return {"store": stored - began, "vacuum": time.perf_counter() - stored}

    def _set_up(self) -> None:
        """Create the store's tables as their owner; the ordinary role uses them."""
        role, schema = self.database.role, self.schema
        with self.database.admin() as owner:
            owner.execute(f"CREATE SCHEMA {schema}".encode())
            self.drop_at_the_end(f"DROP SCHEMA {schema} CASCADE")
            LangGraphClient(self, owner, self._width).store.setup()
            owner.execute(f"GRANT USAGE ON SCHEMA {schema} TO {role}".encode())
            owner.execute(f"GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA {schema} TO {role}".encode())

    def client(self, settings: Mapping[str, str] | None = None) -> LangGraphClient:
        """Return one more store; there are no settings."""
        return LangGraphClient(self, self.database.connect(), self._width)

    def facts(self) -> Mapping[str, str]:
        return {
            "version": metadata.version(PACKAGE),
            "postgresql": self.database.postgresql,
            "pgvector": self.database.extensions["vector"],
            "index": "its default: HNSW of vectors by cosine, m 16, ef_construction 64",
            **hnsw_session({}),
        }

    def sizes(self) -> Mapping[str, int]:
        return self.part_sizes(PARTS, self.schema)


LANGGRAPH = SystemSpec(
    "LangGraph PostgresStore",
    "same PostgreSQL, its own tables and search; the project as namespace; our vectors handed over by its "
    "embedding function, and the text, by which it does not search; no times",
    LangGraph,
    packages=(PACKAGE,),
    remedy=PEERS,
    needs_vectors=True,
    hybrid=False,
    passages=True,
    postgres=True,
)
