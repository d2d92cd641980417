"""SQLite in one file: full-text search, as in many agents, or fused by rank with sqlite-vec.

FTS5 is `porter unicode61` with bm25(); a question is the OR of its words. `sqlite-fts5` is the SQLite of
Python's own `sqlite3`, so that nothing has to be installed; statistics are those of the whole table, a
project is a filter on its column. `sqlite-hybrid` follows the documents: an external-content FTS5 table with
a rank that ignores the project's column, and vec0, exact, with the project as partition key. Its keyword
search is the project's token AND any of the words, so that FTS5 skips the other projects; it uses apsw, which
caches the prepared statements of a connection, because many `sqlite3` modules are built without extensions.
Memory settings are like PostgreSQL's: the whole file may be mapped, and each connection caches 1 GiB of
pages.
"""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

from pgmnemo.progress import QUIET, Progress
from runner.systems.fusion import POOL, reciprocal_rank_fusion
from runner.systems.memory_usage import InProcessSystem
from runner.systems.system import (
    PEERS,
    RETRIEVER,
    C,
    Lesson,
    Lessons,
    Match,
    Query,
    Retrievers,
    SystemContext,
    SystemSpec,
)

TERM = re.compile(r"[a-z0-9]{2,}")
PRAGMAS = (
    "busy_timeout = 60000", "journal_mode = WAL", "synchronous = FULL", "cache_size = -1048576",
    "mmap_size = 17179869184", "temp_store = MEMORY",
)  # fmt: skip
BATCH, CHUNK = 10_000, 1_024  # CHUNK is the maximum of vectors in a chunk of vec0, its default
TABLE = """
CREATE VIRTUAL TABLE words USING fts5(
    project UNINDEXED, number UNINDEXED, content, tokenize='porter unicode61'
)
"""
INSERT = "INSERT INTO words (project, number, content) VALUES (?, ?, ?)"
ASK = "SELECT number, bm25(words) FROM words WHERE words MATCH ?{} ORDER BY bm25(words), number LIMIT ?"
SCHEMA = (
    "CREATE TABLE memory (id INTEGER PRIMARY KEY, project TEXT NOT NULL, content TEXT NOT NULL)",
    "CREATE VIRTUAL TABLE words USING fts5(project, content, content='memory', content_rowid='id', "
    "tokenize='porter unicode61')",
    "INSERT INTO words (words, rank) VALUES ('rank', 'bm25(0.0, 1.0)')",
    "CREATE VIRTUAL TABLE vectors USING vec0(id INTEGER PRIMARY KEY, project INTEGER PARTITION KEY, "
    "embedding float[{width}], chunk_size={chunk})",
)
INSERTS = (
    "INSERT INTO memory (id, project, content) VALUES (?, ?, ?)",
    "INSERT INTO words (rowid, project, content) VALUES (?, ?, ?)",
    "INSERT INTO vectors (id, project, embedding) VALUES (?, ?, ?)",
)
KEYWORD = "SELECT rowid, rank FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?"
NEAREST = "SELECT id, distance FROM vectors WHERE embedding MATCH ? AND k = ?"
NEAREST_OF = NEAREST + " AND project = ?"


class SqliteClient:
    """A connection to the file, of Python's sqlite3 or of apsw, in autocommit mode."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        for pragma in PRAGMAS:
            self.run(f"PRAGMA {pragma}")

    def ask(self, query: Query, k: int) -> list[Match]:
        raise NotImplementedError

    def store(self, lessons: Sequence[Lesson]) -> None:
        """Store all lessons in one transaction."""
        self.connection.execute("BEGIN IMMEDIATE")
        self.insert(lessons)
        self.connection.execute("COMMIT")

    def insert(self, lessons: Sequence[Lesson]) -> None:
        raise NotImplementedError

    def add(self, lesson: Lesson) -> None:
        self.store([lesson])

    def run(self, statement: str) -> None:
        """Run any statement and discard its rows."""
        self.connection.execute(statement).fetchall()

    def close(self) -> None:
        self.connection.close()


class SqliteSystem(InProcessSystem[C]):
    """A file in the context's folder."""

    schema: ClassVar[Sequence[str]]
    done: ClassVar[Sequence[str]] = ("INSERT INTO words (words) VALUES ('optimize')",)

    def __init__(self, context: SystemContext) -> None:
        super().__init__(context)
        self.path = context.folder / "memories.sqlite"
        self.projects: dict[str, int] = {}

    def load(self, lessons: Lessons, progress: Progress = QUIET) -> Mapping[str, float]:
        self.projects = {name: number for number, name in enumerate(lessons.projects)}
        client: Any = self.own
        mean = len(lessons) // max(1, len(self.projects))
        chunk = min(max(mean // 8 * 8, 8), CHUNK)  # vec0 allocates whole chunks for each project
        for statement in self.schema:
            client.run(statement.format(width=lessons.width or 1, chunk=chunk))
        client.run("PRAGMA synchronous = OFF")  # a bulk load need not be durable before its end
        began = time.perf_counter()
        for start in progress.track(range(0, len(lessons), BATCH), "SQLite: batches"):
            client.store(lessons[start : start + BATCH])
        stored = time.perf_counter()
        for statement in (*self.done, "PRAGMA wal_checkpoint(TRUNCATE)", "PRAGMA synchronous = FULL"):
            client.run(statement)
        return {"store": stored - began, "optimize": time.perf_counter() - stored}


class KeywordSqliteClient(SqliteClient):
    """A connection of Python's own sqlite3; another thread than the one that opened it may use it."""

    def __init__(self, path: Path) -> None:
        super().__init__(sqlite3.connect(path, isolation_level=None, check_same_thread=False))

    def ask(self, query: Query, k: int) -> list[Match]:
        words = any_word(query.text)
        if not words:
            return []
        own = () if query.project is None else (query.project,)
        statement = ASK.format(" AND project = ?" if own else "")
        return [
            Match(number, -score) for number, score in self.connection.execute(statement, (words, *own, k))
        ]

    def insert(self, lessons: Sequence[Lesson]) -> None:
        self.connection.executemany(INSERT, [(one.project, one.number, one.text) for one in lessons])


class SqliteFts5(SqliteSystem[KeywordSqliteClient]):
    """A single FTS5 table."""

    schema = (TABLE,)

    def client(self, settings: Mapping[str, str] | None = None) -> KeywordSqliteClient:
        """Return one more connection; there are no settings."""
        return KeywordSqliteClient(self.path)

    def facts(self) -> Mapping[str, str]:
        return {"version": sqlite3.sqlite_version}


class HybridClient(SqliteClient):
    """A connection of apsw with sqlite-vec, which asks one retriever, or both."""

    def __init__(self, path: Path, projects: Mapping[str, int], retriever: str) -> None:
        connection = import_module("apsw").Connection(str(path))
        connection.enable_load_extension(True)
        connection.load_extension(import_module("sqlite_vec").loadable_path())
        connection.enable_load_extension(False)
        super().__init__(connection)
        self._projects, self._retriever = projects, retriever

    def ask(self, query: Query, k: int) -> list[Match]:
        if self._retriever == "keyword" or query.vector is None:
            return self._keyword(query, k)
        if self._retriever == "vector":
            return self.nearest(query, k)
        pool = max(POOL, k)
        return reciprocal_rank_fusion([self.nearest(query, pool), self._keyword(query, pool)], k)

    def _keyword(self, query: Query, k: int) -> list[Match]:
        words = any_word(query.text)
        if not words:
            return []
        own = "" if query.project is None else f"project : {self._token(query.project)} AND "
        rows = self.connection.execute(KEYWORD, (f"{own}content : ({words})", k))
        return [Match(number, -rank) for number, rank in rows]

    def nearest(self, query: Query, k: int) -> list[Match]:
        assert query.vector is not None, "the vector leg needs vectors"
        own = () if query.project is None else (self._projects[query.project],)
        rows = self.connection.execute(NEAREST_OF if own else NEAREST, (query.vector.tobytes(), k, *own))
        return [Match(number, 1.0 - distance**2 / 2) for number, distance in rows]

    def insert(self, lessons: Sequence[Lesson]) -> None:
        texts = [(one.number, self._token(one.project), one.text) for one in lessons]
        vectors = [
            (one.number, self._projects[one.project], one.vector.tobytes())
            for one in lessons
            if one.vector is not None
        ]
        for statement, values in zip(INSERTS, (texts, texts, vectors), strict=True):
            self.connection.executemany(statement, values)

    def _token(self, project: str) -> str:
        """Return the project's token in the keyword index."""
        return f"project{self._projects[project]}"


class SqliteHybrid(SqliteSystem[HybridClient]):
    """FTS5 and sqlite-vec, fused by rank."""

    schema = SCHEMA
    done = (*SqliteSystem.done, "PRAGMA optimize")
    retrievers: ClassVar[Retrievers] = {
        "keyword": ({RETRIEVER: "keyword"}, "FTS5 alone"),
        "vector": ({RETRIEVER: "vector"}, "sqlite-vec alone, exact"),
    }

    def client(self, settings: Mapping[str, str] | None = None) -> HybridClient:
        """Return a new connection; `leg` in the settings restricts it to one retriever."""
        return HybridClient(self.path, self.projects, (settings or {}).get(RETRIEVER, ""))

    def facts(self) -> Mapping[str, str]:
        version = import_module("apsw").sqlite_lib_version()
        return {"version": version, "sqlite-vec": import_module("sqlite_vec").__version__, "pool": str(POOL)}


def any_word(text: str) -> str:
    """Return the question's words of two or more letters, quoted and joined by OR, with repeated words."""
    return " OR ".join(f'"{term}"' for term in TERM.findall(text.lower()))


def _missing(environ: Mapping[str, str]) -> str:
    try:
        with closing(sqlite3.connect(":memory:")) as memory:
            memory.execute(TABLE)
    except sqlite3.OperationalError:
        return "without FTS5, which the SQLite of this Python lacks; run another Python, such as python.org's"
    return ""


SQLITE_FTS5 = SystemSpec(
    "SQLite FTS5",
    "one file, porter unicode61, bm25(), OR of the question's words; given texts alone, no vectors and "
    "no times",
    SqliteFts5,
    missing=_missing,
    vectors=False,
    hybrid=False,
    passages=True,
)
SQLITE_HYBRID = SystemSpec(
    "SQLite FTS5 + sqlite-vec",
    "one file; FTS5 porter unicode61, bm25, OR of the question's words; vec0, exact; fused by rank; given "
    "texts and vectors, no times",
    SqliteHybrid,
    packages=("apsw", "sqlite-vec"),
    remedy=PEERS,
    approximate=False,
    passages=True,
)
