"""The stage's entrance: from a version to an open database."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pgmnemo.places import SQL_FOLDER
from pgmnemo.progress import QUIET, Progress
from pgmnemo.server.bench_database import checked, prepared
from pgmnemo.server.discovery import Server, find_server
from pgmnemo.server.embedded import embedded_server
from pgmnemo.server.handle import Database
from pgmnemo.server.releases import release_fingerprint
from pgmnemo.server.sentences import database_errors


@contextmanager
def open_database(
    version: str,
    *,
    dsn: str | None = None,
    environ: Mapping[str, str],
    progress: Progress = QUIET,
    postgres: int = 18,
    check_only: bool = False,
    sql: Path = SQL_FOLDER,
    settings: Mapping[str, str] | None = None,
    fresh: bool = False,
) -> Iterator[Database]:
    """A database with pgvector and pgmnemo `version` (such as "0.2.1"), for the length of the block.

    Looks at --dsn, PGMNEMO_DSN and the compose service, in this order, and starts an embedded PostgreSQL
    `postgres` (16 or 18) from the files in `sql` if there is none, with `settings` besides its own; a `fresh`
    server is always one of these. With `check_only` a given server keeps no trace. Raises DatabaseError (exit
    code 3) with one sentence, UsageError for a DSN that cannot be read.
    """
    release = release_fingerprint(sql, version)
    given = None if fresh else find_server(dsn, environ, progress)
    with open_server(given, sql, version, postgres=postgres, settings=settings) as server:
        with database_errors(server.where):
            prepare = checked if check_only and server.origin != "embedded" else prepared
            database = prepare(server, version, release, sql)
        yield database


@contextmanager
def open_server(given: Server | None, sql: Path, version: str | None, **options: Any) -> Iterator[Server]:
    """The server that was given, else an embedded one for the length of the block; see `embedded_server`."""
    if given:
        yield given
        return
    with embedded_server(sql, version, **options) as conninfo:
        yield Server("embedded", conninfo)
