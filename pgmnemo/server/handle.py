"""The handle that the later stages get: facts, and connections as either of two roles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import psycopg
from pgvector.psycopg import register_vector

from pgmnemo.errors import DatabaseError
from pgmnemo.records import DatabaseFacts
from pgmnemo.server.sentences import connect

ROLE = "pgmnemo_runner"

# What would make two runs differ, or a time mean something else, on a server that somebody else configured.
SESSION = ("timezone=UTC", "jit=off", "max_parallel_workers_per_gather=0")
READ_ONLY = "default_transaction_read_only=on"


@dataclass(frozen=True, kw_only=True)
class Connectable:
    """A database by either role. Connections autocommit and know pgvector's types."""

    conninfo: Mapping[str, Any]

    def connect(self) -> psycopg.Connection[Any]:
        """As the ordinary role `pgmnemo_runner`, for which every policy acts."""
        return self._open(f"role={ROLE}")

    def admin(self) -> psycopg.Connection[Any]:
        """As the role that logged in, which owns the database and the extension, or is a superuser."""
        return self._open()

    def _open(self, *settings: str) -> psycopg.Connection[Any]:
        connection = connect(self.conninfo, *settings, *SESSION)
        register_vector(connection)
        return connection


@dataclass(frozen=True, kw_only=True)
class Database(Connectable):
    """One database with the extension.

    `exists` is False only in a dry run on a server where the database, or the extension in it, is yet to be
    made; there is nothing to connect to then. In a dry run on a given server all connections are read-only.
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
