"""The three methods of installation: files on the server, pg_tle, and plain SQL in the schema pgmnemo.

All give the same functions, policies and rights. Objects from plain SQL are not members of an extension:
`pg_dump` includes them, and ALTER EXTENSION does not know them.
"""

from __future__ import annotations

from collections.abc import Callable

from pgmnemo.errors import DatabaseError
from pgmnemo.paths import CONTROL, SQL_FOLDER, release_numbers
from pgmnemo.postgres.install import statements
from pgmnemo.postgres.install.target import InstallTarget
from pgmnemo.postgres.releases import scripts, updates
from pgmnemo.probe import EXTENSION, PLAIN_SQL, CatalogRow

PG_TLE = "pg_tle"
METHODS = (EXTENSION, PG_TLE, PLAIN_SQL)
AVAILABLE_EXTENSION = (
    "SELECT EXISTS (SELECT FROM pg_available_extension_versions WHERE name = 'pgmnemo' AND version = %s)"
)
PG_TLE_INSTALLED = "SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_tle')"
TLE_VERSIONS = "SELECT version::text FROM pgtle.available_extension_versions() WHERE name = 'pgmnemo'"
TLE_ADMIN = """
SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = 'pgtle_admin' AND pg_has_role(current_user, oid, 'USAGE'))
"""


def installed_method(target: InstallTarget, seen: CatalogRow) -> str:
    """Return how the existing pgmnemo was installed, a value of METHODS."""
    if seen.extension is None:
        return PLAIN_SQL
    return PG_TLE if _tle_versions(target) else EXTENSION


def choose_method(target: InstallTarget, way: str | None) -> str:
    """Return the requested method, by default the first that the server permits.

    Raise DatabaseError if the server does not permit the requested method.
    """
    if way is None:
        return next(name for name in METHODS if REFUSALS[name](target) is None)
    if refused := REFUSALS[way](target):
        raise DatabaseError(refused)
    return way


def files_refusal(target: InstallTarget) -> str | None:
    if target.fetch_value(AVAILABLE_EXTENSION, target.version):
        return None
    return (
        f"the server of {target.where} does not offer pgmnemo {target.version} as an extension; "
        "run make -C sql install there in a checkout of the repository"
    )


def _tle_refusal(target: InstallTarget) -> str | None:
    if not target.fetch_value(PG_TLE_INSTALLED):
        return f"{target.where} has no pg_tle; have an administrator run CREATE EXTENSION pg_tle in it"
    if target.version in _tle_versions(target) or target.fetch_value(TLE_ADMIN):
        return None
    return (
        f"role {target.role} may not register an extension with pg_tle in {target.where}; "
        f"have an administrator run GRANT pgtle_admin TO {target.role}"
    )


REFUSALS: dict[str, Callable[[InstallTarget], str | None]] = {
    EXTENSION: files_refusal,
    PG_TLE: _tle_refusal,
    PLAIN_SQL: lambda _: None,
}


def register(target: InstallTarget) -> None:
    """Register the extension's missing scripts with pg_tle."""
    known, schema = _tle_versions(target), target.vector_schema
    if target.version in known:
        return
    if not known:
        full = SQL_FOLDER / f"pgmnemo--{target.version}.sql"
        target.execute(
            statements.tle_install_statement(full.read_text("utf-8"), target.version, schema, _comment())
        )
    for path in updates(SQL_FOLDER, max(known, key=release_numbers), target.version) if known else []:
        former, version = path.stem.split("--")[1:]
        target.execute(statements.tle_update_statement(path.read_text("utf-8"), former, version, schema))


def _tle_versions(target: InstallTarget) -> set[str]:
    """Return the versions of pgmnemo that are registered with pg_tle."""
    return (
        {row[0] for row in target.session.execute(TLE_VERSIONS)}
        if target.fetch_value(PG_TLE_INSTALLED)
        else set()
    )


def _comment() -> str:
    lines = (SQL_FOLDER / CONTROL).read_text("utf-8").splitlines()
    return next(line.partition("'")[2].rstrip("'") for line in lines if line.startswith("comment"))


def create(target: InstallTarget, way: str) -> None:
    """Create the target's version in the schema pgmnemo, which exists and is empty."""
    if way != PLAIN_SQL:
        target.execute(f"CREATE EXTENSION pgmnemo SCHEMA pgmnemo VERSION '{target.version}'")
        return
    for path in scripts(SQL_FOLDER, target.version):
        target.execute(statements.plain_statements(path.read_text("utf-8"), target.vector_schema))


def update(target: InstallTarget, way: str, former: str) -> None:
    """Update from a former version to the target's version."""
    if way != PLAIN_SQL:
        target.execute(f"ALTER EXTENSION pgmnemo UPDATE TO '{target.version}'")
        return
    for path in updates(SQL_FOLDER, former, target.version):
        target.execute(statements.plain_statements(path.read_text("utf-8"), target.vector_schema))
