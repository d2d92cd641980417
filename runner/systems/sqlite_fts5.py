"""SQLite's full-text search alone, as many agents have it: one FTS5 table, `porter unicode61`, bm25().

A question is the OR of its words. Statistics are those of the whole table; a project is a filter on its
column. The SQLite is that of Python's own `sqlite3`, so that nothing need be installed.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from runner.progress import QUIET, Progress
from runner.systems.memory import Library
from runner.systems.sqlite import any_word, set_up, sizes
from runner.systems.system import Kind, Lesson, Lessons, Match, Place, Query, System

TABLE = """
CREATE VIRTUAL TABLE memory USING fts5(
    project UNINDEXED, number UNINDEXED, content, tokenize='porter unicode61'
)
"""
INSERT = "INSERT INTO memory (project, number, content) VALUES (?, ?, ?)"
ASK = "SELECT number, bm25(memory) FROM memory WHERE memory MATCH ?{} ORDER BY bm25(memory), number LIMIT ?"


class Client:
    """One connection to the file."""

    def __init__(self, path: Path) -> None:
        # Opened by one thread and used by one, which need not be the same; without transactions of its own.
        self.connection: sqlite3.Connection = set_up(
            sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        )

    def ask(self, query: Query, k: int) -> list[Match]:
        words = any_word(query.text)
        if not words:
            return []
        if query.project is None:
            rows = self.connection.execute(ASK.format(""), (words, k))
        else:
            rows = self.connection.execute(ASK.format(" AND project = ?"), (words, query.project, k))
        return [Match(number, -score) for number, score in rows]

    def add(self, lesson: Lesson) -> None:
        self.connection.execute(INSERT, (lesson.project, lesson.number, lesson.text))

    def close(self) -> None:
        self.connection.close()


class SqliteFts5(System):
    """The file in the place's folder."""

    def __init__(self, place: Place) -> None:
        self._path = place.folder / "memory.sqlite"
        self._memory = Library(place.folder)
        self._client = Client(self._path)

    def load(self, lessons: Lessons, progress: Progress = QUIET) -> Mapping[str, float]:
        connection, began = self._client.connection, time.perf_counter()
        # A bulk load need not be durable before its end.
        connection.execute("PRAGMA synchronous = OFF").fetchall()
        connection.execute(TABLE)
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany(INSERT, ((one.project, one.number, one.text) for one in lessons))
        connection.execute("COMMIT")
        stored = time.perf_counter()
        connection.execute("INSERT INTO memory (memory) VALUES ('optimize')")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        connection.execute("PRAGMA synchronous = FULL").fetchall()
        return {"store": stored - began, "optimize": time.perf_counter() - stored}

    def ask(self, query: Query, k: int) -> list[Match]:
        return self._client.ask(query, k)

    def client(self, settings: Mapping[str, str] | None = None) -> Client:
        """One more connection; there is nothing to set."""
        return Client(self._path)

    def facts(self) -> Mapping[str, str]:
        return {"version": sqlite3.sqlite_version}

    def sizes(self) -> Mapping[str, int]:
        return sizes(self._path)

    def memory(self) -> int | None:
        return self._memory.bytes()

    def close(self) -> None:
        self._client.close()


def _missing(environ: Mapping[str, str]) -> str:
    try:
        with closing(sqlite3.connect(":memory:")) as memory:
            memory.execute(TABLE)
    except sqlite3.OperationalError:
        return "without FTS5, which the SQLite of this Python lacks; run another Python, such as python.org's"
    return ""


SQLITE_FTS5 = Kind(
    "SQLite FTS5",
    "one file, porter unicode61, bm25(), OR of the question's words; given texts alone, no vectors and "
    "no times",
    SqliteFts5,
    missing=_missing,
    vectors=False,
    hybrid=False,
    passages=True,
)
