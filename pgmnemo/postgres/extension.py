"""The extension inside one database: install it, identify it, and rehearse its installation.

A hash over the installed functions distinguishes this extension from another extension and from a modified
copy.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import psycopg
from psycopg import Connection, errors, sql

from pgmnemo.errors import DatabaseError
from pgmnemo.postgres.server_checks import Session, check_pgvector, make_role, value

# Types are without their schema, because pgvector can be in any schema. Of defaults only the number counts,
# because servers print expressions differently.
FUNCTIONS = """
SELECT p.proname, p.prokind::text,
       ARRAY(SELECT t.typname::text FROM unnest(coalesce(p.proallargtypes, p.proargtypes::oid[]))
             WITH ORDINALITY AS a(type, place) JOIN pg_catalog.pg_type t ON t.oid = a.type ORDER BY a.place),
       p.proargmodes::text[], p.proargnames, p.pronargdefaults,
       r.typname::text, p.proretset, l.lanname::text, p.prosrc,
       p.provolatile::text, p.proparallel::text, p.proisstrict, p.prosecdef, p.proleakproof, p.proconfig
FROM pg_catalog.pg_proc p
JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
JOIN pg_catalog.pg_language l ON l.oid = p.prolang
JOIN pg_catalog.pg_type r ON r.oid = p.prorettype
WHERE n.nspname = 'pgmnemo'
"""
BODY = 9  # the index of the body in a row
VECTOR_SCHEMA = """
SELECT quote_ident(n.nspname::text) FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
 WHERE e.extname = 'vector'
"""
OF_VECTOR = r"(?<![\w.\"]){}\.(?=vector|halfvec|subvector|l2_norm|avg\(|[<=|])"  # a name in pgvector's schema


def fingerprint(connection: Connection[Any]) -> str:
    """Return the SHA-256 (64 hex digits) over the functions of schema `pgmnemo`; "" without functions.

    It covers name, kind, arguments (types, modes, names, number of defaults), result, language, body,
    volatility, parallel safety, strictness, security, leakproofness and settings; it is the same on
    PostgreSQL 16, 17 and 18. Bodies must be strings: a body in SQL-standard form is stored parsed, and is not
    covered. Bodies name pgvector's schema, which is replaced by `public`.
    """
    schema = re.escape(value(connection, VECTOR_SCHEMA) or "public")
    named = re.compile(OF_VECTOR.format(schema))
    rows = sorted(
        json.dumps(_public(row, named), ensure_ascii=False) for row in connection.execute(FUNCTIONS)
    )
    return sha256("\n".join(rows).encode()).hexdigest() if rows else ""


def _public(row: tuple[Any, ...], named: re.Pattern[str]) -> tuple[Any, ...]:
    return (*row[:BODY], named.sub("public.", row[BODY]), *row[BODY + 1 :])


LOCK = 0x706E656D6F  # "pnemo", the advisory lock of an installation
OWNER = "pgmnemo_owner"  # owns an extension that a superuser installs; policies bind this role
SUPERUSER = "SELECT rolsuper FROM pg_roles WHERE rolname = current_user"

# True if there are only the standard schemas, and in `public` only relations and functions of extensions.
NOTHING_OF_ANYBODYS = r"""
SELECT NOT EXISTS (
    SELECT FROM pg_namespace WHERE nspname NOT IN ('public', 'information_schema') AND nspname !~ '^pg_')
AND NOT EXISTS (
    SELECT FROM (SELECT 'pg_class'::regclass AS catalogue, oid, relnamespace AS schema FROM pg_class
                 UNION ALL SELECT 'pg_proc'::regclass, oid, pronamespace FROM pg_proc) AS thing
    WHERE schema = 'public'::regnamespace AND NOT EXISTS (
        SELECT FROM pg_depend d
        WHERE d.classid = catalogue AND d.objid = thing.oid AND d.deptype IN ('e', 'i')))
"""


@dataclass(frozen=True, slots=True)
class InstalledVersions:
    """Versions of pgvector and pgmnemo in a database (None: not installed) and pgmnemo's fingerprint."""

    vector: str | None
    pgmnemo: str | None
    fingerprint: str


def installed_versions(connection: Session) -> InstalledVersions:
    """Return the versions of both extensions in the connected database, and the fingerprint."""
    versions: dict[str, str] = dict(
        connection.execute("SELECT extname, extversion FROM pg_extension").fetchall()
    )
    return InstalledVersions(versions.get("vector"), versions.get("pgmnemo"), fingerprint(connection))


def install(connection: Session, version: str, owner: str = OWNER) -> InstalledVersions:
    """Create both extensions in the connected database, in one transaction, by one installer at a time.

    If a superuser installs them, the role `owner` owns pgmnemo.
    """
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public")
        if value(connection, SUPERUSER):
            become_owner(connection, owner)
        connection.execute(
            sql.SQL("CREATE EXTENSION IF NOT EXISTS pgmnemo VERSION {}").format(sql.Literal(version))
        )
        connection.execute("RESET ROLE")
    return installed_versions(connection)


def become_owner(connection: Session, owner: str = OWNER) -> None:
    """Switch to the ordinary role that owns the extension, for this transaction; create it if it is
    missing.
    """
    make_role(connection, owner)
    database, role = sql.Identifier(connection.info.dbname), sql.Identifier(owner)
    connection.execute(sql.SQL("GRANT CREATE ON DATABASE {} TO {}").format(database, role))
    connection.execute(sql.SQL("SET LOCAL ROLE {}").format(role))


def rehearse(connection: Session, version: str) -> InstalledVersions | None:
    """Return the result of `install` in the connected database, from a transaction that is rolled back.

    Return None if the installation fails, for example without the rights or because of another object.
    """
    found = installed_versions(connection)
    if found.pgmnemo == version:
        return found
    try:
        with connection.transaction(force_rollback=True):
            connection.execute("SET LOCAL lock_timeout = '5s'")
            return install(connection, version)
    except psycopg.Error:
        return None


def check_installed(
    found: InstalledVersions, version: str, release: str | None, database: str, where: str
) -> None:
    """Raise DatabaseError unless `found` is pgmnemo `version`, with the fingerprint `release` (None:
    unknown).
    """
    remedy = f"nothing there was changed; rename or drop the database {database} and run again"
    if found.pgmnemo != version:
        what = (
            f"pgmnemo {found.pgmnemo} instead of {version}"
            if found.pgmnemo
            else "something else than pgmnemo"
        )
        raise DatabaseError(f"the database {database} on {where} holds {what}; {remedy}")
    check_pgvector(found.vector or "0", f"the database {database} on {where}")
    if release is not None and found.fingerprint != release:
        raise DatabaseError(
            f"the database {database} on {where} holds another extension named pgmnemo, or a "
            f"patched copy of {version}: the fingerprint of its functions is "
            f"{found.fingerprint[:12] or 'empty'}, the release's {release[:12]}; {remedy}"
        )


def is_empty(connection: Session) -> bool:
    """Return whether the connected database has only system objects and extensions, as after an interrupted
    creation.
    """
    return bool(value(connection, NOTHING_OF_ANYBODYS))


def not_allowed(error: errors.InsufficientPrivilege, database: str, where: str, login: Any) -> DatabaseError:
    """Return the error for a login that may create a database but not the extensions in it."""
    what = error.diag.message_primary or "a right is missing"
    return DatabaseError(
        f"role {login} on {where} may not create the extensions ({what}); have an "
        f"administrator run CREATE DATABASE {database} OWNER {login} and, in it, CREATE EXTENSION vector"
    )
