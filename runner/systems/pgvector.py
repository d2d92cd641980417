"""pgvector alone: one table, HNSW by cosine, no text.

By its README (https://github.com/pgvector/pgvector): the index's own m and ef_construction, built once the
rows are there; a B-tree on the column that is filtered by ("Filtering"); iterative scans in relaxed order,
put into strict order by a materialized CTE ("Iterative Index Scans"). Whether a project is read through the
B-tree, every vector compared, or through HNSW is left to the planner.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from runner.systems.system import Kind, Match, Query
from runner.systems.table import HNSW, PROJECT, Table, TableClient, hnsw_session

TABLE = """
CREATE TABLE {table} (id bigint PRIMARY KEY, project integer NOT NULL, embedding vector({width}))
"""
NEAREST = """
WITH relaxed AS MATERIALIZED (
    SELECT id, embedding <=> %(vector)s AS distance FROM {table} {filter} ORDER BY distance LIMIT {k}
)
SELECT id, 1 - distance FROM relaxed ORDER BY distance + 0, id
"""
BUILT = {"hnsw.m": "16", "hnsw.ef_construction": "64"}  # pgvector's defaults


class Client(TableClient):
    """One connection as the ordinary role."""

    def ask(self, query: Query, k: int) -> list[Match]:
        return self.nearest(query, k)

    def nearest(self, query: Query, k: int) -> list[Match]:
        assert query.vector is not None, "pgvector is asked with vectors alone"
        where = "" if query.project is None else "WHERE project = %(project)s"
        return self.rows(NEAREST.format(table=self.table, filter=where, k=int(k)), query)


class Pgvector(Table):
    """One table for all projects in a database without pgmnemo; on a given server it goes at the end."""

    title = "pgvector"
    create = TABLE
    columns: ClassVar[Mapping[str, str]] = {"id": "int8", "project": "int4", "embedding": "vector"}
    steps: ClassVar[Mapping[str, str]] = {"project": PROJECT, "hnsw": HNSW}

    def client(self, settings: Mapping[str, str] | None = None) -> Client:
        """One more connection; `ef_search` among the settings is that of HNSW."""
        return Client(self, hnsw_session(settings or {}))

    def facts(self) -> Mapping[str, str]:
        return {
            "version": self.database.extensions["vector"],
            "postgresql": self.database.postgresql,
            **BUILT,
            **hnsw_session({}),
        }


PGVECTOR = Kind(
    "pgvector (vectors only)",
    "same PostgreSQL, one table with HNSW by cosine and a B-tree on the project; given vectors alone: no "
    "keywords, no text and no times",
    Pgvector,
    needs_vectors=True,
    hybrid=False,
    passages=True,
    postgres=True,
)
