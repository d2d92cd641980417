"""The check of a database when a client opens it: one round trip, and one sentence if it cannot be used.

`opening` is a call like those of calls.py; `judge` evaluates its row without a further query.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from pgmnemo.calls import Call, Rows
from pgmnemo.errors import DatabaseError
from pgmnemo.places import release

NEEDED = "1.0.0"  # the first with every verb that the client calls
EXTENSION, PLAIN = "extension", "plain SQL"

# Only catalogues, which every role may read: the query works without pgmnemo. Its version is
# read from the body of version(), because a plain installation is in no list of extensions.
SEEN = """
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


class Seen(NamedTuple):
    """The row of SEEN. `body` is the body of pgmnemo.version(); `ours` means that the schema has a verb of
    pgmnemo.
    """

    role: str
    unbound: bool
    backend: int
    schema: bool
    extension: str | None
    body: str | None
    ours: bool
    vector_schema: str | None
    vector: int | None

    @property
    def version(self) -> str | None:
        """Return the version of the installed pgmnemo; None without it, or if the schema is not the
        project's.
        """
        found = re.fullmatch(r"\s*SELECT '(\d+\.\d+\.\d+)'\s*", self.body or "") if self.ours else None
        return found[1] if found else None

    @property
    def how(self) -> str:
        return PLAIN if self.extension is None else EXTENSION


@dataclass(frozen=True, slots=True)
class Opened:
    """A database with a pgmnemo that the client can use.

    `how` is its installation: EXTENSION or PLAIN. An `unbound` role bypasses every policy. `vector` is the
    oid of pgvector's type, in the schema `vector_schema`. `backend` is the process id of the server: if the
    connection has another number, a pooler is in between, and the client must not use prepared statements.
    """

    version: str
    how: str
    role: str
    unbound: bool
    vector_schema: str
    vector: int
    backend: int


def opening(where: str, package: str) -> Call[Opened]:
    """Return the call that checks `where` ("the database at …"), for the package of the version `package`.

    Its answer raises DatabaseError for a database that this package cannot use.
    """
    return Call(SEEN, (), partial(_judged, where, package))


def _judged(where: str, package: str, rows: Rows) -> Opened:
    return judge(rows[0], where, package)


def judge(row: tuple[Any, ...], where: str, package: str) -> Opened:
    """Return the database that a row of SEEN describes; raise DatabaseError if it cannot be used."""
    seen = Seen(*row)
    version = seen.version
    if version is None:
        raise DatabaseError(_nothing_of_ours(seen, where))
    if release(version) < release(NEEDED):
        raise DatabaseError(
            f"{where} has pgmnemo {version}, and this package needs {NEEDED} or later; "
            f"have its owner run {update(seen.how)}"
        )
    check_not_newer(version, where, package)
    if seen.vector is None or seen.vector_schema is None:
        raise DatabaseError(f"{where} has lost its pgvector; restore the database from a dump")
    return Opened(version, seen.how, seen.role, seen.unbound, seen.vector_schema, seen.vector, seen.backend)


def check_not_newer(version: str, where: str, package: str) -> None:
    """Raise DatabaseError for a version unknown to the package; a newer patch release is accepted."""
    if release(version)[:2] > release(package)[:2]:
        raise DatabaseError(
            f"{where} has pgmnemo {version}, which is newer than this package ({package}); "
            "install it from a newer checkout"
        )


def update(how: str) -> str:
    """Return the command that updates an older pgmnemo."""
    return "mnemo init --dsn, or ALTER EXTENSION pgmnemo UPDATE" if how == EXTENSION else "mnemo init --dsn"


def _nothing_of_ours(seen: Seen, where: str) -> str:
    if seen.extension is None and not seen.schema:
        return (
            f"{where} has no pgmnemo; install it with mnemo init --dsn, "
            "or name the database that holds the memory"
        )
    what = f"another extension named pgmnemo ({seen.extension})" if seen.extension else "a schema pgmnemo"
    return f"{where} has {what}, which is not ours; name another database"
