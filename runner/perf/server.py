"""The PostgreSQL that both PostgreSQL systems are measured in: fresh for each, with the same settings.

Durable (fsync, synchronous_commit), unlike the server of a recall run; sized by the machine's memory after
PostgreSQL's own advice: a quarter for shared_buffers, an eighth for building an index.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import psycopg
from pgvector.psycopg import register_vector
from psycopg import errors, sql

from runner.database import Database
from runner.database.bench_database import CTYPES, prepared
from runner.database.discovery import Server as Address
from runner.database.embedded import embedded_server
from runner.database.handle import ROLE
from runner.database.releases import SQL_FOLDER, release_fingerprint
from runner.database.runner_role import ensure_role
from runner.database.sentences import connect, database_errors

WHERE = "the embedded PostgreSQL"
MEGABYTE = 1 << 20
SHARED_MEMORY = Path("/dev/shm")


def settings() -> dict[str, str]:
    """Start options, on top of the embedded server's own (runner/database/server_process.py)."""
    memory = psutil.virtual_memory().total // MEGABYTE
    build = min(max(memory // 8, 64), 8192)
    return {
        "fsync": "on",
        "synchronous_commit": "on",
        "full_page_writes": "on",
        "shared_buffers": f"{min(max(memory // 4, 128), 16384)}MB",
        "effective_cache_size": f"{memory * 5 // 8}MB",
        "maintenance_work_mem": f"{build}MB",
        "max_parallel_maintenance_workers": "2",
        "work_mem": "64MB",
        "max_wal_size": "16GB",
        "checkpoint_timeout": "1h",
        "max_connections": "40",
        "random_page_cost": "1.1",
        "dynamic_shared_memory_type": "posix" if _holds(2 * build * MEGABYTE) else "mmap",
    }


def _holds(amount: int) -> bool:
    """Whether shared memory has room for a parallel index build."""
    with suppress(OSError):
        return shutil.disk_usage(SHARED_MEMORY).free > amount
    return False


@dataclass(frozen=True, slots=True)
class Plain:
    """A database with pgvector alone, as either role."""

    conninfo: Mapping[str, Any]
    role: str = ROLE

    def connect(self) -> psycopg.Connection[Any]:
        """As the ordinary role that pgmnemo is asked by, too."""
        return self._open(f"role={ROLE}")

    def admin(self) -> psycopg.Connection[Any]:
        """As the superuser."""
        return self._open()

    def _open(self, *options: str) -> psycopg.Connection[Any]:
        connection = connect(self.conninfo, *options, "timezone=UTC", "jit=off")
        register_vector(connection)
        return connection


@contextmanager
def pgmnemo_database(version: str, folder: Path = SQL_FOLDER) -> Iterator[Database]:
    """A fresh server with a database that holds the extension at `version`; both gone at the end."""
    with embedded_server(folder, version, settings=settings()) as conninfo, database_errors(WHERE):
        yield prepared(Address("embedded", conninfo), version, release_fingerprint(folder, version), folder)


@contextmanager
def plain_database(version: str, folder: Path = SQL_FOLDER) -> Iterator[Plain]:
    """A fresh server with the same settings and a database that holds pgvector; both gone at the end."""
    with embedded_server(folder, version, settings=settings()) as conninfo, database_errors(WHERE):
        name = "memories"
        with connect(conninfo) as login:
            ensure_role(login, WHERE)
            _create(login, name)
        with connect({**conninfo, "dbname": name}) as owner:
            owner.execute("CREATE EXTENSION vector")
        yield Plain({**conninfo, "dbname": name})


def _create(login: psycopg.Connection[Any], name: str) -> None:
    """With the same collation and the first of the same character types as pgmnemo's database."""
    statement = sql.SQL(
        "CREATE DATABASE {} TEMPLATE template0 ENCODING 'UTF8' LOCALE_PROVIDER libc "
        "LC_COLLATE 'C' LC_CTYPE {}"
    )
    for ctype in CTYPES:
        with suppress(errors.WrongObjectType):
            login.execute(statement.format(sql.Identifier(name), sql.Literal(ctype)))
            return
