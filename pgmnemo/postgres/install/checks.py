"""Check for obstacles to an installation, each an error with its remedy; existing objects are not changed."""

from __future__ import annotations

from psycopg import errors

from pgmnemo.errors import DatabaseError
from pgmnemo.paths import SQL_FOLDER, release_numbers
from pgmnemo.postgres.extension import fingerprint
from pgmnemo.postgres.install.target import InstallTarget
from pgmnemo.postgres.releases import release_fingerprint
from pgmnemo.postgres.server_checks import MIN_PGVECTOR, dotted_version
from pgmnemo.probe import CatalogRow

LEAST_PGVECTOR = (0, 8, 0)  # halfvec and iterative scans; before MIN_PGVECTOR every scope is read exactly
EMPTY = """
SELECT NOT EXISTS (SELECT FROM pg_class WHERE relnamespace = 'pgmnemo'::regnamespace)
   AND NOT EXISTS (SELECT FROM pg_proc WHERE pronamespace = 'pgmnemo'::regnamespace)
   AND NOT EXISTS (SELECT FROM pg_type WHERE typnamespace = 'pgmnemo'::regnamespace)
"""
VECTOR_USABLE = (
    "SELECT has_schema_privilege(extnamespace, 'USAGE') FROM pg_extension WHERE extname = 'vector'"
)


def check_may_create(target: InstallTarget, seen: CatalogRow) -> None:
    """Raise DatabaseError if another extension has the name, or the login may not create a schema."""
    if seen.extension is not None:
        raise DatabaseError(
            f"{target.where} has another extension named pgmnemo ({seen.extension}), which stays as it is; "
            "name another database"
        )
    if not seen.schema and not target.fetch_value(
        "SELECT has_database_privilege(current_database(), 'CREATE')"
    ):
        raise DatabaseError(
            f"role {seen.role} may not create a schema in {target.where}; have an administrator run "
            f"GRANT CREATE ON DATABASE {target.session.info.dbname} TO {seen.role}"
        )


def ensure_vector(target: InstallTarget) -> None:
    """Create pgvector if it is missing; raise DatabaseError if it is too old or cannot be created."""
    there = target.fetch_value("SELECT extversion FROM pg_extension WHERE extname = 'vector'")
    version = there or target.fetch_value(
        "SELECT default_version FROM pg_available_extensions WHERE name = 'vector'"
    )
    if version is None:
        raise DatabaseError(
            f"the server of {target.where} has no pgvector; "
            f"install {dotted_version(MIN_PGVECTOR)} or newer on it"
        )
    if release_numbers(version) < LEAST_PGVECTOR:
        raise DatabaseError(
            f"{target.where} has pgvector {version}, and pgmnemo needs "
            f"{dotted_version(LEAST_PGVECTOR)} or newer; "
            "have an administrator install it and run ALTER EXTENSION vector UPDATE"
        )
    if there is None:
        _create_vector(target)


def _create_vector(target: InstallTarget) -> None:
    role = target.role
    try:
        target.execute("CREATE EXTENSION vector SCHEMA public")
    except errors.InsufficientPrivilege:
        raise DatabaseError(
            f"role {role} may not create pgvector in {target.where}; "
            "have an administrator run CREATE EXTENSION vector in it"
        ) from None


def check_schema_free(target: InstallTarget, seen: CatalogRow) -> None:
    """Raise DatabaseError unless the schema is free for the role that will own it, which may use pgvector."""
    role = target.role
    if seen.schema and not (target.owner == role and target.fetch_value(EMPTY)):
        raise DatabaseError(
            f"{target.where} has a schema pgmnemo of role {target.owner}, which stays as it is; "
            "drop or rename it, or name another database"
        )
    if not target.fetch_value(VECTOR_USABLE):
        raise DatabaseError(
            f"role {role} may not use pgvector in {target.where}; have an administrator run "
            f"GRANT USAGE ON SCHEMA {target.vector_schema} TO {role}"
        )


def check_owner(target: InstallTarget, former: str) -> None:
    """Raise DatabaseError unless the role may update the installed extension."""
    if not target.fetch_value("SELECT pg_has_role(current_user, %s, 'SET')", target.owner):
        raise DatabaseError(
            f"role {target.role} may not update pgmnemo {former} in {target.where}; "
            f"have its owner {target.owner} run mnemo init --dsn"
        )


def check_release(target: InstallTarget, version: str) -> None:
    """Raise DatabaseError unless the installed functions have the fingerprint of the release."""
    wanted = release_fingerprint(SQL_FOLDER, version)
    if wanted is not None and fingerprint(target.session) != wanted:
        raise DatabaseError(
            f"{target.where} has, or its server offers, another extension named pgmnemo or a patched copy of "
            f"{version}; nothing was changed there, name another database"
        )
