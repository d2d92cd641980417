"""Check a server before the first change to it, and create the ordinary role for measurements.

Each failed check raises an error of one sentence. The role is not a superuser and cannot bypass a policy.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from psycopg import Connection, errors, sql

from pgmnemo.errors import DatabaseError
from pgmnemo.paths import release_numbers
from pgmnemo.postgres.connections import ROLE

MIN_POSTGRES = 16
MIN_PGVECTOR = (0, 8, 4)

Session = Connection[Any]


def value(connection: Session, query: str, *parameters: object) -> Any:
    """Return the single value that `query` yields, or None if it yields no row."""
    row = connection.execute(query, parameters).fetchone()
    return row[0] if row else None


def server_version(connection: Session) -> str:
    """Return the server's version, such as "18.4"."""
    return str(value(connection, "SELECT current_setting('server_version')")).split()[0]


def check_server(connection: Session, where: str) -> None:
    """Raise DatabaseError if the server is too old or cannot be written."""
    if connection.info.server_version < MIN_POSTGRES * 10_000:
        raise DatabaseError(
            f"{where} runs PostgreSQL {server_version(connection)}; pgmnemo needs {MIN_POSTGRES} or newer"
        )
    if value(connection, "SELECT pg_is_in_recovery()"):
        raise DatabaseError(f"{where} is read-only: it is a standby; give the address of its primary")
    if value(connection, "SELECT current_setting('default_transaction_read_only')::boolean"):
        raise DatabaseError(
            f"{where} is read-only: default_transaction_read_only is on; "
            "turn it off for this role or give the address of another server"
        )


def check_available(connection: Session, where: str, version: str, sql: object) -> None:
    """Raise DatabaseError unless the server's files offer pgvector and pgmnemo at `version`."""
    vector = value(connection, "SELECT default_version FROM pg_available_extensions WHERE name = 'vector'")
    if vector is None:
        raise DatabaseError(f"{where} has no pgvector; install {dotted_version(MIN_PGVECTOR)} or newer on it")
    check_pgvector(str(vector), where)
    offered = connection.execute(
        "SELECT version FROM pg_available_extension_versions WHERE name = 'pgmnemo' ORDER BY version"
    ).fetchall()
    if (version,) not in offered:
        instead = f"only {', '.join(row[0] for row in offered)}" if offered else "no pgmnemo at all"
        raise DatabaseError(
            f"{where} does not offer pgmnemo {version} ({instead}); on that server run "
            f"`make -C sql install` in a checkout, whose folder here is {sql}"
        )


def check_pgvector(version: str, where: str) -> None:
    """Raise DatabaseError for a `version` of pgvector older than MIN_PGVECTOR, with known errors in HNSW."""
    if release_numbers(version) < MIN_PGVECTOR:
        raise DatabaseError(
            f"{where} has pgvector {version}; pgmnemo needs {dotted_version(MIN_PGVECTOR)} or newer "
            "(run ALTER EXTENSION vector UPDATE after installing it)"
        )


def check_attribute(connection: Session, where: str, attribute: str, purpose: str) -> None:
    """Raise DatabaseError unless the login role is a superuser or has `attribute` (CREATEDB, CREATEROLE)."""
    column = {"CREATEDB": "rolcreatedb", "CREATEROLE": "rolcreaterole"}[attribute]
    allowed = value(connection, f"SELECT rolsuper OR {column} FROM pg_roles WHERE rolname = current_user")
    if not allowed:
        login = value(connection, "SELECT current_user")
        raise DatabaseError(
            f"role {login} on {where} may not {purpose}; have an administrator run "
            f"ALTER ROLE {login} {attribute}, or give another role by --dsn"
        )


def dotted_version(numbers: tuple[int, ...]) -> str:
    return ".".join(map(str, numbers))


ROLE_NAME = sql.Identifier(ROLE)


def check_role(connection: Session, where: str) -> bool:
    """Return whether the role exists and the login can switch to it.

    Raise DatabaseError if it cannot be used, and the login cannot create or grant it.
    """
    row = connection.execute(
        "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = %s", (ROLE,)
    ).fetchone()
    if row is None:
        check_attribute(connection, where, "CREATEROLE", f"create the role {ROLE}")
        return False
    if row[0]:
        raise DatabaseError(
            f"the role {ROLE} on {where} passes row-level security, under which every "
            f"figure is measured; have an administrator run ALTER ROLE {ROLE} NOSUPERUSER NOBYPASSRLS"
        )
    if value(connection, "SELECT pg_has_role(current_user, %s, 'SET')", ROLE):
        return True
    if not value(connection, "SELECT pg_has_role(current_user, %s, 'MEMBER WITH ADMIN OPTION')", ROLE):
        login = value(connection, "SELECT current_user")
        raise DatabaseError(
            f"role {login} on {where} is no member of {ROLE}; have an administrator run "
            f"GRANT {ROLE} TO {login}"
        )
    return False


def ensure_role(connection: Session, where: str) -> None:
    """Create the role if it is missing, and make the login role a member of it."""
    if check_role(connection, where):
        return
    make_role(connection, ROLE)
    if not value(connection, "SELECT pg_has_role(current_user, %s, 'SET')", ROLE):
        connection.execute(sql.SQL("GRANT {} TO CURRENT_USER").format(ROLE_NAME))


def make_role(connection: Session, name: str) -> None:
    """Create an ordinary role without login, unless it exists."""
    if value(connection, "SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = %s)", name):
        return
    with suppress(errors.DuplicateObject, errors.UniqueViolation), connection.transaction():  # made just now
        connection.execute(sql.SQL("CREATE ROLE {} NOLOGIN").format(sql.Identifier(name)))
