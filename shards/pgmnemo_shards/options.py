"""Shared parts of the commands: the program, the router's address, and a session on the router."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import psycopg
from cyclopts import App, Parameter

from pgmnemo.errors import DatabaseError
from pgmnemo.postgres.connections import database_errors, dsn_label
from pgmnemo.postgres.server_checks import Session, value
from pgmnemo.terminal import SafeConsole
from pgmnemo_shards import addresses, installing, local
from pgmnemo_shards.directory import shards

PROGRAM = "pgmnemo-shards"
ROUTER = "PGMNEMO_ROUTER"
Folder = Annotated[
    Path | None, Parameter(help="folder of the local cluster; else pgmnemo/shards in XDG_STATE_HOME")
]
Router = Annotated[
    str | None, Parameter(help="libpq's words for a router elsewhere; else PGMNEMO_ROUTER, else local")
]

app = App(
    name=PROGRAM,
    help="Tenants of pgmnemo over several PostgreSQL servers, behind one router (PL/Proxy).",
    help_format="plaintext",
    version_flags=(),
    default_parameter=Parameter(negative=()),
    suppress_keyboard_interrupt=False,
    console=SafeConsole(),
)


def remote_router(router: str | None, folder: Path | None = None) -> dict[str, Any] | None:
    """Return the connection parameters of a given router; None for the local cluster.

    It is given by --router, or without a folder by the environment.
    """
    if router is not None:
        return addresses.from_command_line(router, "--router")
    given = os.environ.get(ROUTER) if folder is None else None
    return addresses.parse(given, ROUTER) if given else None


@contextmanager
def router_session(folder: Path | None, router: str | None) -> Iterator[Session]:
    """Yield a session of the operator on the given router, or on the router of the local cluster."""
    conninfo = remote_router(router, folder) or local.find(folder or local.default_folder()).conninfo()
    where = dsn_label(conninfo)
    with (
        installing.open_operator(conninfo) as session,
        database_errors(f"the router at {where}"),
        _shard_errors(),
    ):
        if not value(session, installing.IS_ROUTER):
            raise DatabaseError(f"the database at {where} is no router: it has no directory")
        if not shards(session):
            print(f"the directory at {where} names no shard yet", file=sys.stderr)
        yield session


@contextmanager
def _shard_errors() -> Iterator[None]:
    """Raise the router's error about an unreachable shard as an error of that shard."""
    try:
        yield
    except psycopg.OperationalError as error:
        if error.sqlstate is None or not error.diag.message_primary:
            raise
        detail = f" ({error.diag.message_detail})" if error.diag.message_detail else ""
        raise DatabaseError(
            f"{error.diag.message_primary}{detail}; {error.diag.message_hint or 'try again'}"
        ) from None
