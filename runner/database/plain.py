"""A database with pgvector and nothing of pgmnemo, for what people build by hand in the same PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from pgvector.psycopg import register_vector

from runner.database.bench_database import create, exists
from runner.database.discovery import Server, find_server
from runner.database.embedded import embedded_server
from runner.database.handle import ROLE, SESSION
from runner.database.releases import SQL_FOLDER
from runner.database.runner_role import ensure_role
from runner.database.sentences import connect, database_errors
from runner.database.server_checks import check_server, server_version
from runner.progress import QUIET, Progress

NAME = "pgmnemo_bench_by_hand"


@dataclass(frozen=True, slots=True)
class Plain:
    """A database with pgvector alone, as either role. `kept`: the server outlives the run."""

    conninfo: Mapping[str, Any]
    postgresql: str
    kept: bool
    role: str = ROLE

    def connect(self) -> psycopg.Connection[Any]:
        """As the ordinary role that pgmnemo is asked by, too."""
        return self._open(f"role={ROLE}")

    def admin(self) -> psycopg.Connection[Any]:
        """As the role that logged in, which owns the database."""
        return self._open()

    def _open(self, *options: str) -> psycopg.Connection[Any]:
        connection = connect(self.conninfo, *options, *SESSION)
        register_vector(connection)
        return connection


@contextmanager
def open_plain(
    dsn: str | None,
    environ: Mapping[str, str],
    *,
    progress: Progress = QUIET,
    sql: Path = SQL_FOLDER,
    settings: Mapping[str, str] | None = None,
    fresh: bool = False,
) -> Iterator[Plain]:
    """A database of our own on the server that a run would use, for the length of the block.

    On a given server it stays, empty but for what its users leave; A `fresh` server is always an
    embedded one. DatabaseError as `open_database`.
    """
    given = None if fresh else find_server(dsn, environ, progress)
    if given:
        with database_errors(str(given)):
            database = _prepared(given)
        yield database
        return
    with embedded_server(sql, None, settings=settings) as conninfo:
        with database_errors("the embedded PostgreSQL"):
            database = _prepared(Server("embedded", conninfo))
        yield database


def _prepared(server: Server) -> Plain:
    """The database on `server`, made if it is missing, with pgvector in it."""
    with connect(server.conninfo) as login:
        check_server(login, str(server))
        ensure_role(login, str(server))
        if not exists(login, NAME):
            create(login, NAME, str(server))
        version = server_version(login)
    conninfo = {**server.conninfo, "dbname": NAME}
    with connect(conninfo) as owner:
        owner.execute("CREATE EXTENSION IF NOT EXISTS vector")
    return Plain(conninfo, version, server.origin != "embedded")
