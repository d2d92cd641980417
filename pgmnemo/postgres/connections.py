"""Connections to databases in either of two roles, and psycopg's errors as sentences without passwords."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import Any

import psycopg
from pgvector.psycopg import register_vector
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict

from pgmnemo.errors import DatabaseError, UsageError
from pgmnemo.records import DatabaseFacts

# libpq's messages for a failed connection, each with its remedy.
REFUSALS = (
    ("password authentication failed", "the password is wrong for user {user!r}; correct it in the DSN"),
    ("no password supplied", "it wants a password for user {user!r}; add it to the DSN or set PGPASSWORD"),
    ("no pg_hba.conf entry", "it lets no user {user!r} in from here; add an entry to its pg_hba.conf"),
    ("starting up", "the server is starting up; try again in a moment"),
    ("too many clients", "it has no connection left; close some or raise max_connections"),
    ("remaining connection slots", "it has no connection left; close some or raise max_connections"),
    (
        "permission denied for database",
        "user {user!r} may not connect to that database; GRANT CONNECT ON DATABASE {dbname} TO {user}",
    ),
)

PREFIX = re.compile(r"^connection (failed|is bad): (connection to server .*? failed: )?(FATAL: +)?")

SERVICE = "PGSERVICE"
HIDDEN: list[str] = []  # the variable's value, once per block that hides it
HIDING = Lock()
CONNECT_LIMIT = "10"  # seconds, unless the DSN says otherwise
READABLE = {"client_encoding": "UTF8"}  # psycopg returns bytes, not texts, from a server in SQL_ASCII


def read_dsn(dsn: str, told: str = "the DSN", otherwise: str = "") -> dict[str, Any]:
    """Return a DSN as psycopg's parameters.

    Raise UsageError if it cannot be read; the message has `told` for the DSN and ends with the remedy
    `otherwise`, and does not contain the password.
    """
    try:
        return {"connect_timeout": CONNECT_LIMIT, **conninfo_to_dict(dsn)}
    except psycopg.ProgrammingError:  # its text may repeat the password
        raise UsageError(
            f"{told} cannot be read; write it as postgresql://user:password@host:port/database{otherwise}"
        ) from None


def dsn_label(conninfo: Mapping[str, Any]) -> str:
    """Return `host:port/database`, without user and password."""
    host = conninfo.get("host") or conninfo.get("hostaddr") or "the local socket"
    return f"{host}:{conninfo.get('port') or 5432}/{conninfo.get('dbname') or conninfo.get('user') or ''}"


DEFAULT_REMEDY = "start it, correct the DSN, or leave --dsn and PGMNEMO_DSN out to use the embedded one"


def connect_error(
    error: psycopg.Error, conninfo: Mapping[str, Any], mend: str = DEFAULT_REMEDY
) -> DatabaseError:
    """Return the error for a failed connection; `mend` is the remedy if no server answers."""
    text = str(error)
    names = {"user": conninfo.get("user") or "(the login name)", "dbname": conninfo.get("dbname") or ""}
    for words, remedy in REFUSALS:
        if words in text:
            return DatabaseError(f"the database at {dsn_label(conninfo)} refused: {remedy.format(**names)}")
    if "no such database" in text or ("does not exist" in text and "database" in text):  # a pooler, a server
        return DatabaseError(
            f"there is no database {names['dbname']!r} at {dsn_label(conninfo)}; "
            "name one that exists, such as postgres"
        )
    if "does not exist" in text and "role" in text:
        return DatabaseError(
            f"there is no role {names['user']!r} at {dsn_label(conninfo)}; name one in the DSN"
        )
    reason = PREFIX.sub("", (text.strip().splitlines() or ["no answer"])[0]).strip()
    return DatabaseError(f"the database at {dsn_label(conninfo)} cannot be reached ({reason}); {mend}")


def connect(
    conninfo: Mapping[str, Any], *settings: str, mend: str = DEFAULT_REMEDY
) -> psycopg.Connection[Any]:
    """Return an autocommit connection; raise DatabaseError if it fails.

    `settings` such as "role=x" apply from its start; `mend` is the remedy if no server answers.
    """
    options = " ".join(
        [str(conninfo.get("options") or ""), *(f"-c {setting}" for setting in settings)]
    ).strip()
    try:
        return psycopg.connect(**{**READABLE, **conninfo, "options": options}, autocommit=True)
    except psycopg.OperationalError as error:
        raise connect_error(error, conninfo, mend) from None


@contextmanager
def database_errors(where: str) -> Iterator[None]:
    """Convert psycopg's errors in the block into a DatabaseError that names `where`."""
    try:
        yield
    except errors.DiskFull:
        raise DatabaseError(f"the disk of {where} is full; free some space there") from None
    except errors.ReadOnlySqlTransaction:
        raise DatabaseError(f"{where} is read-only; give the address of one that can be written") from None
    except errors.InsufficientPrivilege as error:
        raise DatabaseError(f"a right is missing in {where}: {_primary(error)}") from None
    except (errors.LockNotAvailable, errors.QueryCanceled) as error:
        raise DatabaseError(f"{where} took too long: {_primary(error)}; try again") from None
    except psycopg.OperationalError as error:
        raise DatabaseError(f"the connection to {where} was lost: {_primary(error)}") from None
    except psycopg.Error as error:
        raise DatabaseError(f"{where} refused a statement: {_primary(error)}") from None


def _primary(error: psycopg.Error) -> str:
    """Return the first line of the error's message, without the statement."""
    told = (error.diag.message_primary or str(error)).strip()
    return (told.splitlines() or [type(error).__name__])[0]


ROLE = "pgmnemo_runner"

# Settings that keep runs and time zones the same on a server with another configuration.
SESSION = ("timezone=UTC", "jit=off", "max_parallel_workers_per_gather=0")
READ_ONLY = "default_transaction_read_only=on"


@dataclass(frozen=True, kw_only=True)
class Connectable:
    """A database to which two roles connect.

    Connections autocommit and know pgvector's types.
    """

    conninfo: Mapping[str, Any]

    def connect(self) -> psycopg.Connection[Any]:
        """Return a connection as the ordinary role `pgmnemo_runner`, which is subject to every policy."""
        return self._open(f"role={ROLE}")

    def admin(self) -> psycopg.Connection[Any]:
        """Return a connection as the login role, which owns the database and the extension, or is a
        superuser.
        """
        return self._open()

    def _open(self, *settings: str) -> psycopg.Connection[Any]:
        connection = connect(self.conninfo, *settings, *SESSION)
        register_vector(connection)
        return connection


@dataclass(frozen=True, kw_only=True)
class Database(Connectable):
    """A database with the extension.

    `exists` is False only in a dry run on a server without the database, or without the extension in it; then
    it has no connections. In a dry run on a given server all connections are read-only.
    """

    facts: DatabaseFacts
    exists: bool = True
    read_only: bool = False

    def _open(self, *settings: str) -> psycopg.Connection[Any]:
        if not self.exists:
            raise DatabaseError(
                f"the database {self.facts.database} does not exist yet, and a dry run makes none"
            )
        return super()._open(*settings, *([READ_ONLY] if self.read_only else []))


@contextmanager
def without_service() -> Iterator[None]:
    """Hide PGSERVICE from libpq in the block: a folder's address needs no service, and libpq refuses every
    address if the variable names an undefined service.
    """
    with HIDING:
        HIDDEN.append(os.environ.pop(SERVICE, "") or "".join(HIDDEN[-1:]))
    try:
        yield
    finally:
        with HIDING:
            value = HIDDEN.pop()
            if value and not HIDDEN:
                os.environ[SERVICE] = value
