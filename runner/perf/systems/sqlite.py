"""SQLite: FTS5 (`porter unicode61`, bm25) and sqlite-vec (vec0, exact) in one file, fused by rank.

As their documents advise: write-ahead log, an external-content FTS5 table whose rank leaves the tenant's
column out, the tenant as a partition key of vec0. A tenant's keyword search asks for the tenant's token AND
any of the words, so that FTS5 skips what is not its own. Every statement is prepared once a connection
(apsw's cache).
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from runner.perf.memory import Library
from runner.perf.systems.system import POOL, Place
from runner.perf.workload import Asked, Lesson, Tenant, Workload
from runner.progress import Progress

FILE = "memories.sqlite"
BATCH = 10_000
TERM = re.compile(r"[a-z0-9]{2,}")
RANK_OFFSET = 60  # reciprocal rank fusion (Cormack et al. 2009)
SCHEMA = (
    "CREATE TABLE memory (id INTEGER PRIMARY KEY, tenant TEXT NOT NULL, content TEXT NOT NULL)",
    "CREATE VIRTUAL TABLE words USING fts5(tenant, content, content='memory', content_rowid='id', "
    "tokenize='porter unicode61')",
    "INSERT INTO words (words, rank) VALUES ('rank', 'bm25(0.0, 1.0)')",
    "CREATE VIRTUAL TABLE vectors USING vec0(id INTEGER PRIMARY KEY, tenant INTEGER PARTITION KEY, "
    "embedding float[{width}])",
)
INSERTS = (
    "INSERT INTO memory (id, tenant, content) VALUES (?, ?, ?)",
    "INSERT INTO words (rowid, tenant, content) VALUES (?, ?, ?)",
    "INSERT INTO vectors (id, tenant, embedding) VALUES (?, ?, ?)",
)
KEYWORD = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?"
NEAREST = "SELECT id FROM vectors WHERE embedding MATCH ? AND k = ?"
NEAREST_OF = NEAREST + " AND tenant = ?"
# Memory as PostgreSQL has it: the whole file may be mapped, and 1 GiB of pages is kept a connection.
PRAGMAS = (
    "busy_timeout = 60000", "journal_mode = WAL", "synchronous = FULL", "cache_size = -1048576",
    "mmap_size = 17179869184", "temp_store = MEMORY",
)  # fmt: skip


def token(tenant: Tenant) -> str:
    """The tenant's word in the keyword index."""
    return f"tenant{int(tenant)}"


def connect(path: Path) -> Any:
    """A connection with sqlite-vec loaded."""
    apsw, sqlite_vec = import_module("apsw"), import_module("sqlite_vec")
    connection = apsw.Connection(str(path))
    connection.enable_load_extension(True)
    connection.load_extension(sqlite_vec.loadable_path())
    connection.enable_load_extension(False)
    for pragma in PRAGMAS:
        connection.execute(f"PRAGMA {pragma}").fetchall()
    return connection


class SqliteClient:
    """One connection to the file."""

    def __init__(self, path: Path) -> None:
        self._connection = connect(path)

    def query(self, asked: Asked, tenant: Tenant, k: int) -> list[int]:
        scores: dict[int, float] = {}
        for ranking in (self.nearest(asked, tenant, POOL), self._keyword(asked, tenant)):
            for place, number in enumerate(ranking, start=1):
                scores[number] = scores.get(number, 0.0) + 1.0 / (RANK_OFFSET + place)
        return sorted(scores, key=lambda number: (-scores[number], number))[:k]

    def _keyword(self, asked: Asked, tenant: Tenant) -> list[int]:
        words = " OR ".join(f'"{term}"' for term in TERM.findall(asked.text.lower()))
        if not words:
            return []
        own = "" if tenant is Tenant.WHOLE else f"tenant : {token(tenant)} AND "
        rows = self._connection.execute(KEYWORD, (f"{own}content : ({words})", POOL))
        return [number for (number,) in rows]

    def nearest(self, asked: Asked, tenant: Tenant, k: int) -> list[int]:
        blob = asked.vector.tobytes()
        if tenant is Tenant.WHOLE:
            return [number for (number,) in self._connection.execute(NEAREST, (blob, k))]
        return [number for (number,) in self._connection.execute(NEAREST_OF, (blob, k, int(tenant)))]

    def add(self, lesson: Lesson) -> None:
        self.store([lesson])

    def store(self, lessons: Sequence[Lesson]) -> None:
        """All of them in one transaction."""
        texts = [(lesson.number, token(lesson.tenant), lesson.text) for lesson in lessons]
        vectors = [(lesson.number, int(lesson.tenant), lesson.vector.tobytes()) for lesson in lessons]
        self._connection.execute("BEGIN IMMEDIATE")
        for statement, rows in zip(INSERTS, (texts, texts, vectors), strict=True):
            self._connection.executemany(statement, rows)
        self._connection.execute("COMMIT")

    def run(self, statement: str) -> None:
        """Any statement, its rows thrown away."""
        self._connection.execute(statement).fetchall()

    def close(self) -> None:
        self._connection.close()


class Sqlite:
    """The file in `folder`."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._memory = Library(folder)

    def load(self, workload: Workload, progress: Progress) -> Mapping[str, float]:
        client = SqliteClient(self._path)
        for statement in SCHEMA:
            client.run(statement.format(width=workload.width))
        client.run("PRAGMA synchronous = OFF")  # a bulk load need not be durable before its end
        began = time.perf_counter()
        for start in progress.track(range(0, workload.count, BATCH), "SQLite: batches"):
            client.store(list(workload.lessons(start, min(start + BATCH, workload.count))))
        stored = time.perf_counter()
        client.run("INSERT INTO words (words) VALUES ('optimize')")
        client.run("PRAGMA optimize")
        client.run("PRAGMA wal_checkpoint(TRUNCATE)")
        client.close()
        return {"store": stored - began, "optimize": time.perf_counter() - stored}

    def client(self, ef_search: int | None = None) -> SqliteClient:
        return SqliteClient(self._path)

    def exact(self) -> None:
        """It orders by the cosine alone."""

    def searched(self, tenant: Tenant) -> Tenant | None:
        return None if tenant is Tenant.WHOLE else tenant

    def sizes(self) -> Mapping[str, int]:
        return {path.name: path.stat().st_size for path in sorted(self._path.parent.glob(f"{FILE}*"))}

    def memory(self) -> int | None:
        return self._memory.bytes()

    def plans(self, asked: Sequence[Asked], k: int) -> str:
        return ""

    def facts(self) -> Mapping[str, str]:
        apsw, sqlite_vec = import_module("apsw"), import_module("sqlite_vec")
        return {"sqlite": apsw.sqlite_lib_version(), "sqlite-vec": sqlite_vec.__version__}


@contextmanager
def open_sqlite(place: Place) -> Iterator[Sqlite]:
    """The system with its file in `place.folder`, which its owner deletes."""
    yield Sqlite(place.folder)
