"""A database for each version of the extension: checked if it exists, else created; never altered or
dropped.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from psycopg import errors, sql

from pgmnemo.errors import DatabaseError
from pgmnemo.postgres.connections import ROLE, Database, connect
from pgmnemo.postgres.discovery import ServerAddress
from pgmnemo.postgres.extension import (
    LOCK,
    InstalledVersions,
    check_installed,
    install,
    installed_versions,
    is_empty,
    not_allowed,
    rehearse,
)
from pgmnemo.postgres.server_checks import (
    Session,
    check_attribute,
    check_available,
    check_role,
    check_server,
    ensure_role,
    server_version,
    value,
)
from pgmnemo.records import DatabaseFacts

# LC_CTYPE decides how text is cut into words; the collation has no effect here. The first locale that the
# server knows is used: GNU C libraries know C.UTF-8, macOS en_US.UTF-8.
CTYPES = ("C.UTF-8", "en_US.UTF-8", "C")


def database_name(version: str) -> str:
    """Return the name of the database for a version, such as `pgmnemo_bench_0_2_1`."""
    return "pgmnemo_bench_" + "".join(character if character.isalnum() else "_" for character in version)


def prepare_database(server: ServerAddress, version: str, release: str | None, files: Path) -> Database:
    """Return the database for `version` on `server`; create it if it is missing.

    `release` is the fingerprint that the extension must have if it is found there, or comes from the server's
    own files (None: not released yet, so any fingerprint is accepted). Raise DatabaseError if the database
    cannot be used or created.
    """
    name, where = database_name(version), str(server)
    with connect(server.conninfo) as login:
        check_server(login, where)
        there = exists(login, name)
        if not there:
            check_attribute(login, where, "CREATEDB", f"create the database {name}")
            check_available(login, where, version, files)  # before any change
        login.execute("SELECT pg_advisory_lock(%s)", (LOCK,))
        ensure_role(login, where)
        if not there:
            there = not create(login, name, where)
        try:
            found = _open(server, name, version, release, files, where)
        except BaseException:
            if not there:  # this call has just created it
                login.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
            raise
        return _database(server, name, login, found)


def check_database(server: ServerAddress, version: str, release: str | None, files: Path) -> Database:
    """Return the database as `prepare_database` does, without any change; its connections are read-only."""
    name, where = database_name(version), str(server)
    with connect(server.conninfo) as login:
        check_server(login, where)
        check_role(login, where)
        there = exists(login, name)
        if not there:
            check_attribute(login, where, "CREATEDB", f"create the database {name}")
        with connect({**server.conninfo, "dbname": name} if there else server.conninfo) as session:
            ready = there and not is_empty(session)
            if ready:
                found: InstalledVersions | None = installed_versions(session)
            else:
                check_available(session, where, version, files)
                found = rehearse(session, version)
        if found is None:
            raise DatabaseError(_cannot_tell(login, name, where))
        check_installed(found, version, release, name, where)
        return _database(server, name, login, found, exists=ready, read_only=True)


def _cannot_tell(login: Session, name: str, where: str) -> str:
    user = value(login, "SELECT current_user")
    return (
        f"whether role {user} on {where} may create the extensions in {name} cannot be told without making "
        f"it; have an administrator run CREATE DATABASE {name} OWNER {user} and, in it, "
        "CREATE EXTENSION vector"
    )


def exists(login: Session, name: str) -> bool:
    """Return whether the server has a database with a name."""
    return bool(value(login, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = %s)", name))


def create(login: Session, name: str, where: str) -> bool:
    """Create the database with the same encoding and locale everywhere; return False if another run has
    created it.
    """
    statement = sql.SQL(
        "CREATE DATABASE {} TEMPLATE template0 ENCODING 'UTF8' LOCALE_PROVIDER libc "
        "LC_COLLATE 'C' LC_CTYPE {}"
    )
    for ctype in CTYPES:
        try:
            # The server reports a wrong object type for a locale that its machine lacks.
            with suppress(errors.WrongObjectType):
                login.execute(statement.format(sql.Identifier(name), sql.Literal(ctype)))
                return True
        except (errors.DuplicateDatabase, errors.UniqueViolation):
            return False
    raise DatabaseError(f"{where} can make no database in UTF-8; give the address of another server")


def _open(
    server: ServerAddress, name: str, version: str, release: str | None, files: Path, where: str
) -> InstalledVersions:
    """Check the extension in the database, or install it in an empty database; return the installed
    versions.
    """
    with connect({**server.conninfo, "dbname": name}) as session:
        found = installed_versions(session)
        if found.pgmnemo is None:
            if not is_empty(session):
                check_installed(found, version, release, name, where)
            check_available(session, where, version, files)
            try:
                found = install(session, version)
            except errors.InsufficientPrivilege as error:
                raise not_allowed(error, name, where, value(session, "SELECT current_user")) from None
        if server.origin != "embedded":  # an embedded server runs the checkout, which a gate checks
            check_installed(found, version, release, name, where)
        return found


def _database(
    server: ServerAddress,
    name: str,
    login: Session,
    found: InstalledVersions,
    exists: bool = True,
    read_only: bool = False,
) -> Database:
    facts = DatabaseFacts(
        origin=server.origin,
        database=name,
        postgresql=server_version(login),
        pgvector=found.vector or "",
        pgmnemo=found.pgmnemo or "",
        fingerprint=found.fingerprint,
        role=ROLE,
    )
    conninfo = {**server.conninfo, "dbname": name}
    return Database(conninfo=conninfo, facts=facts, exists=exists, read_only=read_only)
