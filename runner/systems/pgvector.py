"""A hand-written table in PostgreSQL with pgvector: only vectors, or with GIN and ts_rank_cd.

By pgvector's README (https://github.com/pgvector/pgvector): the index's default m and ef_construction, built
after the load; a B-tree on the filter column ("Filtering"); iterative scans in relaxed order, so that a
filter returns as many rows as exist, put into strict order by a materialized CTE ("Iterative Index Scans").
The planner chooses how to read a project: through the B-tree, with every vector compared, or through HNSW.
The hybrid is pgvector-python's example (examples/hybrid_search/rrf.py), with the question's words joined by
OR, fused by rank with k = 60.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from runner.systems.fusion import POOL
from runner.systems.postgres import (
    HNSW,
    PROJECT,
    FusedClient,
    FusedTableSystem,
    TableClient,
    TableSystem,
    hnsw_session,
)
from runner.systems.system import RETRIEVER, Match, Query, SystemSpec

VECTORS = """
CREATE TABLE {table} (id bigint PRIMARY KEY, project integer NOT NULL, embedding vector({width}))
"""
NEAREST = """
WITH relaxed AS MATERIALIZED (
    SELECT id, embedding <=> %(vector)s AS distance FROM {table} {filter} ORDER BY distance LIMIT {k}
)
SELECT id, 1 - distance FROM relaxed ORDER BY distance + 0, id
"""
BUILT = {"hnsw.m": "16", "hnsw.ef_construction": "64"}  # pgvector's defaults


class PgvectorClient(TableClient):
    """A connection as the ordinary role."""

    def ask(self, query: Query, k: int) -> list[Match]:
        return self.nearest(query, k)

    def nearest(self, query: Query, k: int) -> list[Match]:
        assert query.vector is not None, "pgvector is asked with vectors alone"
        where = "" if query.project is None else "WHERE project = %(project)s"
        return self.rows(NEAREST.format(table=self.table, filter=where, k=int(k)), query)


class Pgvector(TableSystem):
    """A table for all projects in a database without pgmnemo; on a given server it is dropped at the end."""

    title = "pgvector"
    create = VECTORS
    columns: ClassVar[Mapping[str, str]] = {"id": "int8", "project": "int4", "embedding": "vector"}
    steps: ClassVar[Mapping[str, str]] = {"project": PROJECT, "hnsw": HNSW}

    def client(self, settings: Mapping[str, str] | None = None) -> PgvectorClient:
        """Return one more connection; `ef_search` in the settings is HNSW's."""
        return PgvectorClient(self, hnsw_session(settings or {}))

    def facts(self) -> Mapping[str, str]:
        return {
            "version": self.database.extensions["vector"],
            "postgresql": self.database.postgresql,
            **BUILT,
            **hnsw_session({}),
        }


HYBRID = """
CREATE TABLE {table} (
    id        bigint PRIMARY KEY,
    project   integer NOT NULL,
    content   text NOT NULL,
    lexemes   tsvector GENERATED ALWAYS AS (to_tsvector('english', content)) STORED,
    embedding vector({width})
)
"""
GIN = "CREATE INDEX {table}_lexemes ON {table} USING gin (lexemes)"
SEMANTIC = """
semantic AS (
    SELECT id, rank() OVER (ORDER BY embedding <=> %(vector)s) AS place,
           1 - (embedding <=> %(vector)s) AS score
    FROM {table} WHERE {filter} ORDER BY embedding <=> %(vector)s LIMIT %(pool)s
)"""
KEYWORD = """
asked AS MATERIALIZED (
    SELECT replace(plainto_tsquery('english', %(text)s)::text, ' & ', ' | ')::tsquery AS words
), keyword AS (
    SELECT id, rank() OVER (ORDER BY ts_rank_cd(lexemes, (SELECT words FROM asked)) DESC) AS place,
           ts_rank_cd(lexemes, (SELECT words FROM asked)) AS score
    FROM {table} WHERE lexemes @@ (SELECT words FROM asked) AND {filter}
    ORDER BY ts_rank_cd(lexemes, (SELECT words FROM asked)) DESC, id LIMIT %(pool)s
)"""


class GinHnsw(FusedTableSystem):
    """The same table with text and lexemes."""

    title, words_title = "GIN + HNSW", "GIN and ts_rank_cd"
    create, keyword, semantic = HYBRID, KEYWORD, SEMANTIC
    columns: ClassVar[Mapping[str, str]] = {
        "id": "int8", "project": "int4", "content": "text", "embedding": "vector",
    }  # fmt: skip
    steps: ClassVar[Mapping[str, str]] = {"project": PROJECT, "gin": GIN, "hnsw": HNSW}

    def client(self, settings: Mapping[str, str] | None = None) -> FusedClient:
        """Return one more connection.

        `leg` in the settings restricts it to one retriever, `ef_search` is HNSW's.
        """
        given = settings or {}
        return FusedClient(self, hnsw_session(given), given.get(RETRIEVER, ""))

    def facts(self) -> Mapping[str, str]:
        return {
            "version": self.database.postgresql,
            "pgvector": self.database.extensions["vector"],
            **hnsw_session({}),
            "pool": str(POOL),
        }


PGVECTOR = SystemSpec(
    "pgvector (vectors only)",
    "same PostgreSQL, one table with HNSW by cosine and a B-tree on the project; given vectors alone: no "
    "keywords, no text and no times",
    Pgvector,
    needs_vectors=True,
    hybrid=False,
    passages=True,
    postgres=True,
)
GIN_HNSW = SystemSpec(
    "GIN + ts_rank_cd + HNSW",
    "same PostgreSQL, one table written by hand; OR of the words; fused by rank in one statement; given "
    "texts and vectors, no times",
    GinHnsw,
    passages=True,
    postgres=True,
)
