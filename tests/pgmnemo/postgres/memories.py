"""A PostgreSQL of either version whose databases hold the extension, as tests/security has it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pgmnemo.paths import SQL_FOLDER
from pgmnemo.postgres.servers import temporary_server
from tests.security.attacked import OURS, ROLES, Server

POSTGRES = (18, 16)


@contextmanager
def memories(postgres: int, **settings: str) -> Iterator[Server]:
    """A server with the files of the extension and the roles of tests/security."""
    with temporary_server(SQL_FOLDER, OURS, postgres=postgres, settings=settings) as conninfo:
        server = Server(dict(conninfo), postgres)
        with server.connect("postgres") as root:
            for role in ROLES:
                root.execute(f"CREATE ROLE {role} LOGIN")
        yield server
