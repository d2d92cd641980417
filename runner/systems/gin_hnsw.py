"""What people write by hand in PostgreSQL: GIN with ts_rank_cd, pgvector's HNSW, fused by rank.

The query is the one of pgvector-python's example of hybrid search (examples/hybrid_search/rrf.py), with the
question's words joined by OR, a filter by project where one is asked for, and iterative index scans so that
the filter returns as many rows as there are (pgvector's README, "Iterative Index Scans"). Reciprocal rank
fusion with k = 60 (Cormack et al. 2009).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from runner.systems.fusion import POOL, RANK_OFFSET
from runner.systems.system import Kind, Legs, Match, Query
from runner.systems.table import HNSW, LEG, PROJECT, Table, TableClient, hnsw_session

TABLE = """
CREATE TABLE {table} (
    id        bigint PRIMARY KEY,
    project   integer NOT NULL,
    content   text NOT NULL,
    lexemes   tsvector GENERATED ALWAYS AS (to_tsvector('english', content)) STORED,
    embedding vector({width})
)
"""
GIN = "CREATE INDEX {table}_lexemes ON {table} USING gin (lexemes)"
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
STATEMENTS = {"": HYBRID, "keyword": WORDS, "vector": NEAREST}


class Client(TableClient):
    """One connection as the ordinary role."""

    def __init__(self, system: GinHnsw, settings: Mapping[str, str]) -> None:
        super().__init__(system, hnsw_session(settings))
        self._leg, self._table = settings.get(LEG, ""), system

    def ask(self, query: Query, k: int) -> list[Match]:
        return self._ask("keyword" if query.vector is None else self._leg, query, k)

    def nearest(self, query: Query, k: int) -> list[Match]:
        return self._ask("vector", query, k)

    def _ask(self, leg: str, query: Query, k: int) -> list[Match]:
        statement = self._table.statement(leg, query.project is not None)
        return self.rows(statement, query, pool=k if leg else max(POOL, k), k=k)


class GinHnsw(Table):
    """One table for all projects in a database without pgmnemo; on a given server it goes at the end."""

    title = "GIN + HNSW"
    create = TABLE
    columns: ClassVar[Mapping[str, str]] = {
        "id": "int8", "project": "int4", "content": "text", "embedding": "vector",
    }  # fmt: skip
    steps: ClassVar[Mapping[str, str]] = {"project": PROJECT, "gin": GIN, "hnsw": HNSW}
    legs: ClassVar[Legs] = {
        "keyword": ({LEG: "keyword"}, "GIN and ts_rank_cd alone"),
        "vector": ({LEG: "vector"}, "HNSW alone"),
    }

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

    def client(self, settings: Mapping[str, str] | None = None) -> Client:
        """One more connection; `leg` among the settings is its only leg, `ef_search` that of HNSW."""
        return Client(self, settings or {})

    def facts(self) -> Mapping[str, str]:
        return {
            "version": self.database.postgresql,
            "pgvector": self.database.extensions["vector"],
            **hnsw_session({}),
            "pool": str(POOL),
        }


GIN_HNSW = Kind(
    "GIN + ts_rank_cd + HNSW",
    "same PostgreSQL, one table written by hand; OR of the words; fused by rank in one statement; given "
    "texts and vectors, no times",
    GinHnsw,
    passages=True,
    postgres=True,
)
