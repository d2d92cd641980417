"""A database in which somebody keeps lessons: where its address leads, as the role that logs in there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import psycopg
from pgvector.psycopg import register_vector

from pgmnemo.errors import DatabaseError, UsageError
from pgmnemo.server.connections import connect, database_errors, place
from pgmnemo.server.discovery import given_server

VERSION = "SELECT extversion FROM pg_extension WHERE extname = 'pgmnemo'"
VERB = """
SELECT EXISTS (
    SELECT FROM pg_proc WHERE pronamespace = to_regnamespace('pgmnemo') AND proname = 'add_passages')
"""
PATH = """
SELECT set_config('search_path', concat_ws(', ', current_setting('search_path'), quote_ident(nspname)), false)
FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE extname = 'vector'
"""


@contextmanager
def open_lessons(
    dsn: str | None, tenant: UUID, environ: Mapping[str, str]
) -> Iterator[psycopg.Connection[Any]]:
    """An autocommit connection that works for `tenant` in a database whose pgmnemo takes passages.

    Raises UsageError without an address, DatabaseError for a database without such a pgmnemo or a role
    without a grant for the tenant; inside the block, whatever psycopg raises becomes a DatabaseError.
    """
    server = given_server(dsn, environ)
    if server is None:
        raise UsageError("name the database that holds the lessons with --dsn or PGMNEMO_DSN")
    where = f"the database at {place(server.conninfo)}"
    with connect(server.conninfo, mend="start it, or correct the DSN") as connection, database_errors(where):
        _check_extension(connection, where)
        connection.execute("SELECT set_config('pgmnemo.tenant_id', %s, false)", (str(tenant),))
        _check_grant(connection, tenant, where)
        connection.execute(PATH)  # its types may lie in a schema of their own
        register_vector(connection)
        yield connection


def _check_extension(connection: psycopg.Connection[Any], where: str) -> None:
    version = connection.execute(VERSION).fetchone()
    if version is None:
        raise DatabaseError(f"{where} has no extension pgmnemo; name the database that holds the lessons")
    found = connection.execute(VERB).fetchone()
    if found is None or not found[0]:
        raise DatabaseError(
            f"{where} has pgmnemo {version[0]}, which takes no passages; have its owner run "
            "ALTER EXTENSION pgmnemo UPDATE (to 0.3.0 or later) and try again"
        )


def _check_grant(connection: psycopg.Connection[Any], tenant: UUID, where: str) -> None:
    row = connection.execute("SELECT current_user, pgmnemo.current_tenant()").fetchone()
    if row is None or row[1] is None:
        role = row[0] if row else "that logs in"
        raise DatabaseError(
            f"role {role} has no grant for the tenant {tenant} in {where}; correct --tenant, or have the "
            f"extension's owner run SELECT pgmnemo.grant_tenant('{tenant}', '{role}')"
        )
