"""A database with pgvector but without pgmnemo, for external systems in the same PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from psycopg import errors

from pgmnemo.paths import SQL_FOLDER
from pgmnemo.postgres.bench_database import create, exists
from pgmnemo.postgres.connections import ROLE, Connectable, connect, database_errors
from pgmnemo.postgres.discovery import ServerAddress, find_server
from pgmnemo.postgres.server_checks import check_server, ensure_role, server_version
from pgmnemo.postgres.server_files import PIXELTABLE, Bundle
from pgmnemo.postgres.servers import open_server
from pgmnemo.progress import QUIET, Progress

NAME = "pgmnemo_bench_by_hand"
VECTOR = ("vector",)


@dataclass(frozen=True, kw_only=True)
class PgvectorDatabase(Connectable):
    """A database with pgvector.

    `kept` means that the server continues after the run. `extensions` maps the installed extensions, without
    plpgsql, to their versions.
    """

    postgresql: str
    kept: bool
    extensions: Mapping[str, str]
    role: str = ROLE


@contextmanager
def open_pgvector_database(
    dsn: str | None,
    environ: Mapping[str, str],
    *,
    progress: Progress = QUIET,
    sql: Path = SQL_FOLDER,
    settings: Mapping[str, str] | None = None,
    fresh: bool = False,
    bundle: Bundle = PIXELTABLE,
    extensions: Sequence[str] = VECTOR,
) -> Iterator[PgvectorDatabase]:
    """Yield a separate database with `extensions` on the server that a run would use.

    On a given server it is kept, empty except for its users' data. A `fresh` server is always embedded, from
    `bundle`. Raise DatabaseError as `open_database` does.
    """
    given = None if fresh else find_server(dsn, environ, progress)
    with open_server(given, sql, None, settings=settings, bundle=bundle) as server:
        with database_errors(server.where):
            database = _prepare(server, extensions)
        yield database


def _prepare(server: ServerAddress, extensions: Sequence[str]) -> PgvectorDatabase:
    """Return the database on `server` with the extensions in it; create it if it is missing."""
    with connect(server.conninfo) as login:
        check_server(login, str(server))
        ensure_role(login, str(server))
        if not exists(login, NAME):
            create(login, NAME, str(server))
        version = server_version(login)
    conninfo = {**server.conninfo, "dbname": NAME}
    with connect(conninfo) as owner:
        for extension in extensions:
            with suppress(errors.UniqueViolation):  # another run has just created it
                owner.execute(f"CREATE EXTENSION IF NOT EXISTS {extension}".encode())
        versions = dict(
            owner.execute("SELECT extname, extversion FROM pg_extension WHERE extname <> 'plpgsql'")
        )
    kept = server.origin != "embedded"
    return PgvectorDatabase(conninfo=conninfo, postgresql=version, kept=kept, extensions=versions)
