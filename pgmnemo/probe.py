"""Check a database when a client opens it, in one query, with one sentence if it cannot be used.

`probe` returns a call like those of calls.py; `check_compatible` evaluates its row without a further query.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from pgmnemo.calls import Call, Rows
from pgmnemo.errors import DatabaseError
from pgmnemo.paths import release_numbers

MIN_VERSION = "1.0.0"  # the first with every verb that the client calls
EXTENSION, PLAIN_SQL = "extension", "plain SQL"

# Only catalogues, which every role may read: the query works without pgmnemo. Its version is
# read from the body of version(), because a plain installation is in no list of extensions.
CATALOG_QUERY = """
SELECT current_user::text,
       (SELECT r.rolsuper OR r.rolbypassrls FROM pg_roles r WHERE r.rolname = current_user),
       pg_backend_pid(), n.oid IS NOT NULL, e.extversion,
       (SELECT p.prosrc FROM pg_proc p
         WHERE p.pronamespace = n.oid AND p.proname = 'version' AND p.pronargs = 0),
       EXISTS (SELECT FROM pg_proc p WHERE p.pronamespace = n.oid AND p.proname = 'recall_lessons'),
       s.nspname::text, t.oid::bigint
  FROM (SELECT) AS one
  LEFT JOIN pg_namespace n ON n.nspname = 'pgmnemo'
  LEFT JOIN pg_extension e ON e.extname = 'pgmnemo'
  LEFT JOIN pg_extension v ON v.extname = 'vector'
  LEFT JOIN pg_namespace s ON s.oid = v.extnamespace
  LEFT JOIN pg_type t ON t.typnamespace = s.oid AND t.typname = 'vector'
"""


class CatalogRow(NamedTuple):
    """The row of CATALOG_QUERY. `body` is the body of pgmnemo.version(); `has_verbs` means that the schema
    has a verb of pgmnemo.
    """

    role: str
    bypasses_policies: bool
    backend_pid: int
    schema: bool
    extension: str | None
    body: str | None
    has_verbs: bool
    vector_schema: str | None
    vector_oid: int | None

    @property
    def version(self) -> str | None:
        """Return the version of the installed pgmnemo; None without it, or if the schema is not the
        project's.
        """
        found = re.fullmatch(r"\s*SELECT '(\d+\.\d+\.\d+)'\s*", self.body or "") if self.has_verbs else None
        return found[1] if found else None

    @property
    def installation(self) -> str:
        """Return how pgmnemo is installed: EXTENSION or PLAIN_SQL."""
        return PLAIN_SQL if self.extension is None else EXTENSION


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """A database with a pgmnemo that the client can use.

    `installation` is EXTENSION or PLAIN_SQL. `bypasses_policies` is True for a role that no row-level policy
    binds. `vector_oid` is the oid of pgvector's type, in the schema `vector_schema`. `backend_pid` is the
    process id of the server: if the connection has another number, a pooler is in between, and the client
    must not use prepared statements.
    """

    version: str
    installation: str
    role: str
    bypasses_policies: bool
    vector_schema: str
    vector_oid: int
    backend_pid: int


def probe(where: str, package: str) -> Call[ServerInfo]:
    """Return the call that checks `where` ("the database at …"), for the package of the version `package`.

    Its answer raises DatabaseError for a database that this package cannot use.
    """
    return Call(CATALOG_QUERY, (), partial(_server_info, where, package))


def _server_info(where: str, package: str, rows: Rows) -> ServerInfo:
    return check_compatible(rows[0], where, package)


def check_compatible(row: tuple[Any, ...], where: str, package: str) -> ServerInfo:
    """Return the database that a row of CATALOG_QUERY describes; raise DatabaseError if it cannot be used."""
    seen = CatalogRow(*row)
    version = seen.version
    if version is None:
        raise DatabaseError(_missing_message(seen, where))
    if release_numbers(version) < release_numbers(MIN_VERSION):
        raise DatabaseError(
            f"{where} has pgmnemo {version}, and this package needs {MIN_VERSION} or later; "
            f"have its owner run {update_command(seen.installation)}"
        )
    check_not_newer(version, where, package)
    if seen.vector_oid is None or seen.vector_schema is None:
        raise DatabaseError(f"{where} has lost its pgvector; restore the database from a dump")
    return ServerInfo(
        version,
        seen.installation,
        seen.role,
        seen.bypasses_policies,
        seen.vector_schema,
        seen.vector_oid,
        seen.backend_pid,
    )


def check_not_newer(version: str, where: str, package: str) -> None:
    """Raise DatabaseError for a version unknown to the package; a newer patch release is accepted."""
    if release_numbers(version)[:2] > release_numbers(package)[:2]:
        raise DatabaseError(
            f"{where} has pgmnemo {version}, which is newer than this package ({package}); "
            "install it from a newer checkout"
        )


def update_command(installation: str) -> str:
    """Return the command that updates an older pgmnemo."""
    return (
        "mnemo init --dsn, or ALTER EXTENSION pgmnemo UPDATE"
        if installation == EXTENSION
        else "mnemo init --dsn"
    )


def _missing_message(seen: CatalogRow, where: str) -> str:
    if seen.extension is None and not seen.schema:
        return (
            f"{where} has no pgmnemo; install it with mnemo init --dsn, "
            "or name the database that holds the memory"
        )
    what = f"another extension named pgmnemo ({seen.extension})" if seen.extension else "a schema pgmnemo"
    return f"{where} has {what}, which is not ours; name another database"
