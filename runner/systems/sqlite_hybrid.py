"""SQLite: FTS5 (`porter unicode61`, bm25) and sqlite-vec (vec0, exact) in one file, fused by rank.

As their documents advise: write-ahead log, an external-content FTS5 table whose rank leaves the project's
column out, the project as a partition key of vec0. A project's keyword search asks for the project's token
AND any of the words, so that FTS5 skips what is not its own. Every statement is prepared once a connection
(apsw's cache). Python's own `sqlite3` would not do: many are built without the loading of extensions.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

from runner.progress import QUIET, Progress
from runner.systems.fusion import POOL, by_rank
from runner.systems.memory import Library
from runner.systems.sqlite import any_word, set_up, sizes
from runner.systems.system import Kind, Legs, Lesson, Lessons, Match, Place, Query, System

BATCH = 10_000
SCHEMA = (
    "CREATE TABLE memory (id INTEGER PRIMARY KEY, project TEXT NOT NULL, content TEXT NOT NULL)",
    "CREATE VIRTUAL TABLE words USING fts5(project, content, content='memory', content_rowid='id', "
    "tokenize='porter unicode61')",
    "INSERT INTO words (words, rank) VALUES ('rank', 'bm25(0.0, 1.0)')",
    "CREATE VIRTUAL TABLE vectors USING vec0(id INTEGER PRIMARY KEY, project INTEGER PARTITION KEY, "
    "embedding float[{width}])",
)
INSERTS = (
    "INSERT INTO memory (id, project, content) VALUES (?, ?, ?)",
    "INSERT INTO words (rowid, project, content) VALUES (?, ?, ?)",
    "INSERT INTO vectors (id, project, embedding) VALUES (?, ?, ?)",
)
KEYWORD = "SELECT rowid, rank FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?"
NEAREST = "SELECT id, distance FROM vectors WHERE embedding MATCH ? AND k = ?"
NEAREST_OF = NEAREST + " AND project = ?"
REMEDY = "pip install -c constraints.txt -e '.[peers]'"
LEG = "leg"  # the only setting of a client: `keyword` or `vector` alone


class Client:
    """One connection to the file."""

    def __init__(self, path: Path, projects: Mapping[str, int], leg: str = "") -> None:
        self._connection = _connect(path)
        self._projects, self._leg = projects, leg

    def ask(self, query: Query, k: int) -> list[Match]:
        if self._leg == "keyword" or query.vector is None:
            return self._keyword(query, k)
        if self._leg == "vector":
            return self.nearest(query, k)
        pool = max(POOL, k)
        return by_rank([self.nearest(query, pool), self._keyword(query, pool)], k)

    def _keyword(self, query: Query, k: int) -> list[Match]:
        words = any_word(query.text)
        if not words:
            return []
        own = "" if query.project is None else f"project : {self._token(query.project)} AND "
        rows = self._connection.execute(KEYWORD, (f"{own}content : ({words})", k))
        return [Match(number, -rank) for number, rank in rows]

    def nearest(self, query: Query, k: int) -> list[Match]:
        assert query.vector is not None, "the vector leg needs vectors"
        blob = query.vector.tobytes()
        if query.project is None:
            rows = self._connection.execute(NEAREST, (blob, k))
        else:
            rows = self._connection.execute(NEAREST_OF, (blob, k, self._projects[query.project]))
        return [Match(number, 1.0 - distance**2 / 2) for number, distance in rows]

    def add(self, lesson: Lesson) -> None:
        self.store([lesson])

    def store(self, lessons: Sequence[Lesson]) -> None:
        """All of them in one transaction."""
        rows = (
            [(one.number, self._token(one.project), one.text) for one in lessons],
            [(one.number, self._token(one.project), one.text) for one in lessons],
            [(one.number, self._projects[one.project], one.vector.tobytes()) for one in lessons
             if one.vector is not None],
        )  # fmt: skip
        self._connection.execute("BEGIN IMMEDIATE")
        for statement, values in zip(INSERTS, rows, strict=True):
            self._connection.executemany(statement, values)
        self._connection.execute("COMMIT")

    def run(self, statement: str) -> None:
        """Any statement, its rows thrown away."""
        self._connection.execute(statement).fetchall()

    def close(self) -> None:
        self._connection.close()

    def _token(self, project: str) -> str:
        """The project's word in the keyword index."""
        return f"project{self._projects[project]}"


def _connect(path: Path) -> Any:
    """A connection of apsw to the file, with sqlite-vec loaded."""
    connection = import_module("apsw").Connection(str(path))
    connection.enable_load_extension(True)
    connection.load_extension(import_module("sqlite_vec").loadable_path())
    connection.enable_load_extension(False)
    return set_up(connection)


class SqliteHybrid(System):
    """The file in the place's folder."""

    def __init__(self, place: Place) -> None:
        self._path = place.folder / "memories.sqlite"
        self._memory = Library(place.folder)
        self._projects: dict[str, int] = {}
        self._client: Client | None = None

    legs: ClassVar[Legs] = {
        "keyword": ({LEG: "keyword"}, "FTS5 alone"),
        "vector": ({LEG: "vector"}, "sqlite-vec alone, exact"),
    }

    def load(self, lessons: Lessons, progress: Progress = QUIET) -> Mapping[str, float]:
        self._projects = {name: number for number, name in enumerate(lessons.projects)}
        client = self._client = self.client()
        for statement in SCHEMA:
            client.run(statement.format(width=lessons.width or 1))
        client.run("PRAGMA synchronous = OFF")  # a bulk load need not be durable before its end
        began = time.perf_counter()
        for start in progress.track(range(0, len(lessons), BATCH), "SQLite: batches"):
            client.store(lessons[start : start + BATCH])
        stored = time.perf_counter()
        client.run("INSERT INTO words (words) VALUES ('optimize')")
        client.run("PRAGMA optimize")
        client.run("PRAGMA wal_checkpoint(TRUNCATE)")
        client.run("PRAGMA synchronous = FULL")
        return {"store": stored - began, "optimize": time.perf_counter() - stored}

    def ask(self, query: Query, k: int) -> list[Match]:
        assert self._client is not None, "nothing is asked before lessons are loaded"
        return self._client.ask(query, k)

    def client(self, settings: Mapping[str, str] | None = None) -> Client:
        """One more connection; `leg` among the settings is the only leg that it searches."""
        return Client(self._path, self._projects, (settings or {}).get(LEG, ""))

    def facts(self) -> Mapping[str, str]:
        version = import_module("apsw").sqlite_lib_version()
        return {"version": version, "sqlite-vec": import_module("sqlite_vec").__version__, "pool": str(POOL)}

    def sizes(self) -> Mapping[str, int]:
        return sizes(self._path)

    def memory(self) -> int | None:
        return self._memory.bytes()

    def close(self) -> None:
        if self._client is not None:
            self._client.close()


SQLITE_HYBRID = Kind(
    "SQLite FTS5 + sqlite-vec",
    "one file; FTS5 porter unicode61, bm25, OR of the question's words; vec0, exact; fused by rank; given "
    "texts and vectors, no times",
    SqliteHybrid,
    packages=("apsw", "sqlite-vec"),
    remedy=REMEDY,
    approximate=False,
    passages=True,
)
