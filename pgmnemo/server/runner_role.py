"""The ordinary role that every figure is measured as: no superuser, no way around a policy."""

from __future__ import annotations

from contextlib import suppress

from psycopg import errors, sql

from pgmnemo.errors import DatabaseError
from pgmnemo.server.handle import ROLE
from pgmnemo.server.server_checks import Session, check_attribute, value

ROLE_NAME = sql.Identifier(ROLE)


def check_role(connection: Session, where: str) -> bool:
    """Whether the role is there and usable as it is; raises if it is not and cannot be made so."""
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
    """Make the role if it is missing, and the login role a member of it."""
    if check_role(connection, where):
        return
    make_role(connection, ROLE)
    if not value(connection, "SELECT pg_has_role(current_user, %s, 'SET')", ROLE):
        connection.execute(sql.SQL("GRANT {} TO CURRENT_USER").format(ROLE_NAME))


def make_role(connection: Session, name: str) -> None:
    """Make an ordinary role that nobody logs in as, unless it is there."""
    if value(connection, "SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = %s)", name):
        return
    with suppress(errors.DuplicateObject, errors.UniqueViolation), connection.transaction():  # made just now
        connection.execute(sql.SQL("CREATE ROLE {} NOLOGIN").format(sql.Identifier(name)))
