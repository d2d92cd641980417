"""Open a database with a version of the extension, on a given server or on a temporary one.

A temporary server runs for the length of a block, on a private socket, in a folder that is deleted. Nothing
remains after an exception, after Ctrl-C, or after SIGKILL of the runner: a watchdog shell deletes the folder
when the runner closes its pipe. After a crash of the whole machine the next start deletes it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from pgmnemo.errors import DatabaseError, os_errors
from pgmnemo.paths import SQL_FOLDER
from pgmnemo.postgres.bench_database import check_database, prepare_database
from pgmnemo.postgres.connections import Database, database_errors
from pgmnemo.postgres.discovery import ServerAddress, find_server
from pgmnemo.postgres.releases import release_fingerprint
from pgmnemo.postgres.server_files import (
    PIXELTABLE,
    Bundle,
    check_release,
    installation,
    readable_by_server,
    stage_extension,
    stage_server,
)
from pgmnemo.postgres.server_process import SETTINGS, SUPERUSER, ServerProcess, give_to_server
from pgmnemo.postgres.temporary_folders import (
    DATA,
    delete_leftovers,
    leased_folder,
    open_to_others,
    temporary_bases,
)
from pgmnemo.progress import QUIET, Progress

SOCKET_PATH_LIMIT = 103  # bytes: 107 on Linux, 103 on macOS


@contextmanager
def temporary_server(
    sql: Path,
    version: str | None,
    *,
    postgres: int = 18,
    settings: Mapping[str, str] | None = None,
    bundle: Bundle = PIXELTABLE,
) -> Iterator[dict[str, str]]:
    """Start PostgreSQL `postgres` with the extension's files from `sql`, and yield the superuser's conninfo.

    `version` must be among the files (None: the extension is not installed). The server comes from `bundle`.
    Raise DatabaseError if it does not start, UsageError for an unknown version.
    """
    if version is not None:
        check_release(sql, version)
    original = installation(postgres, bundle)
    with ExitStack() as stack:
        folder, sockets = _server_folders(stack)
        told = f"the embedded PostgreSQL cannot be laid out in {folder.parent}: {{why}}"
        with os_errors(f"{told}; free some space or set TMPDIR", DatabaseError):
            home, extra = install_for_server(original, sql, folder, postgres, bundle)
            server = ServerProcess(home, folder, sockets, {**SETTINGS, **extra, **(settings or {})})
            server.initialise()
        stack.enter_context(server.running())
        yield {
            "host": str(sockets),
            "hostaddr": "",
            "port": server.settings["port"],
            "user": SUPERUSER,
            "dbname": "postgres",
        }


def _server_folders(stack: ExitStack) -> tuple[Path, Path]:
    """Return the run's folder and the folder of its socket.

    The socket is in the data folder, unless its path is too long.
    """
    stranger = os.geteuid() == 0
    bases = [base for base in temporary_bases() if not stranger or open_to_others(base)]
    if not bases:
        raise DatabaseError(
            "there is no folder for temporary files that the database server can enter; "
            "set TMPDIR to one, or give the address of a server by --dsn"
        )
    for base in bases:
        delete_leftovers(base)
    folder = stack.enter_context(leased_folder(bases[0], 0o711 if stranger else 0o700))
    data = folder / DATA
    data.mkdir(mode=0o700)
    if stranger:
        give_to_server(data)
    if len(os.fsencode(data / ".s.PGSQL.5432")) <= SOCKET_PATH_LIMIT:
        return folder, data
    short = min(bases, key=lambda base: len(os.fsencode(base)))
    sockets = stack.enter_context(leased_folder(short))
    if len(os.fsencode(sockets / ".s.PGSQL.5432")) > SOCKET_PATH_LIMIT:
        raise DatabaseError(f"the path of a socket in {short} is too long; set TMPDIR to a shorter one")
    if stranger:
        give_to_server(sockets)
    return folder, sockets


def install_for_server(
    original: Path, sql: Path, folder: Path, postgres: int, bundle: Bundle
) -> tuple[Path, dict[str, str]]:
    """Install the extension for a server; return the server's installation and its required settings.

    PostgreSQL 18 reads any folder (`extension_control_path`); 16 reads only its own, so it runs from a copy.
    A copy also serves if the server's user cannot read the installation.
    """
    if serves_in_place(original, postgres, bundle):
        stage_extension(sql, folder / "extension")
        return original, {"extension_control_path": f"$system:{folder}"}
    home = stage_server(original, folder / "server", bundle)
    stage_extension(sql, home / bundle.extensions)
    return home, {}


def serves_in_place(original: Path, postgres: int, bundle: Bundle) -> bool:
    """Return whether no copy of the installation is needed."""
    return postgres >= 18 and (os.geteuid() != 0 or readable_by_server(original, bundle))


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
    """Yield a database with pgvector and pgmnemo `version` (such as "0.2.1").

    Try --dsn, PGMNEMO_DSN and the compose service, in this order; else start an embedded PostgreSQL
    `postgres` (16 or 18) from the files in `sql`, with `settings` besides its own. A `fresh` server is always
    embedded. With `check_only` a given server is not changed. Raise DatabaseError (exit code 3) with one
    sentence, UsageError for a DSN that cannot be read.
    """
    release = release_fingerprint(sql, version)
    given = None if fresh else find_server(dsn, environ, progress)
    with open_server(given, sql, version, postgres=postgres, settings=settings) as server:
        with database_errors(server.where):
            prepare = check_database if check_only and server.origin != "embedded" else prepare_database
            database = prepare(server, version, release, sql)
        yield database


@contextmanager
def open_server(
    given: ServerAddress | None, sql: Path, version: str | None, **options: Any
) -> Iterator[ServerAddress]:
    """Yield the given server, else an embedded server for the block; see `temporary_server`."""
    if given:
        yield given
        return
    with temporary_server(sql, version, **options) as conninfo:
        yield ServerAddress("embedded", conninfo)
