"""What is attacked, and by whom: a database with the extension."""

from __future__ import annotations

import json
import math
import subprocess
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import psycopg
from psycopg.conninfo import make_conninfo

from pgmnemo.postgres.releases import default_version
from pgmnemo.postgres.server_files import installation

Connection = psycopg.Connection[Any]
OURS = default_version()
A, B = UUID(int=0xA1 << 64), UUID(int=0xB2 << 96)
PROJECT = UUID(int=1)
ROLES = ("keeper", "alice", "bob", "dual", "mallory")
GRANTS = (("alice", A), ("bob", B), ("dual", A), ("dual", B))


def vector(*coordinates: float) -> list[float]:
    """A unit vector with these first coordinates."""
    norm = math.sqrt(sum(number * number for number in coordinates))
    return [*(number / norm for number in coordinates), *[0.0] * (1024 - len(coordinates))]


@dataclass
class Server:
    """An embedded PostgreSQL, with a database to copy for each version that was asked for."""

    conninfo: dict[str, str]
    postgres: int
    kept: dict[str, str] = field(default_factory=dict)

    def connect(self, database: str, user: str | None = None, **settings: object) -> Connection:
        options = " ".join(f"-c {name}={value}" for name, value in settings.items())
        told = {**self.conninfo, "dbname": database, "options": options}
        return psycopg.connect(**{**told, "user": user or told["user"]}, autocommit=True)

    def create(self, name: str, *before: str) -> str:
        """A database with pgvector in public, after the statements of a superuser in `before`."""
        self._copy(name, "template0")
        with self.connect(name) as root:
            for statement in ("CREATE EXTENSION vector SCHEMA public", *before):
                root.execute(statement)
        return name

    def install(self, name: str, version: str, *before: str) -> str:
        """A database with a version of the extension, which keeper owns, and what GRANTS says."""
        if before:
            return self._installed(name, version, *before)
        if version not in self.kept:
            self.kept[version] = self._installed(f"kept {version}", version)
        self._copy(name, self.kept[version])
        return name

    def _installed(self, name: str, version: str, *before: str) -> str:
        self.create(name, *before)
        with self.connect(name, "keeper") as owner:
            owner.execute(f"CREATE EXTENSION pgmnemo VERSION '{version}'")
            for role, tenant in GRANTS:
                owner.execute("SELECT pgmnemo.grant_tenant(%s, %s)", (tenant, role))
        return name

    def _copy(self, name: str, template: str) -> None:
        with self.connect("postgres") as root:
            root.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
            root.execute(f'CREATE DATABASE "{name}" OWNER keeper TEMPLATE "{template}" STRATEGY file_copy')

    def program(self, name: str, database: str, *options: str, given: str | None = None) -> str:
        """What one of PostgreSQL's programs says as a superuser, errors included."""
        done = self._program(name, database, *options, given=given)
        return done.stdout + done.stderr

    def dump(self, database: str) -> str:
        return self._program("pg_dump", database).stdout

    def _program(self, name: str, database: str, *options: str, given: str | None = None) -> Any:
        place = make_conninfo(**{**self.conninfo, "dbname": database})
        command = [installation(self.postgres) / "bin" / name, *options, "-d", place]
        return subprocess.run(command, input=given, capture_output=True, text=True, check=False)


@dataclass
class Site:
    """A database with the extension."""

    server: Server
    version: str
    name: str
    open: ExitStack

    def holds(self, leaked: object) -> None:
        """An attack got nothing."""
        assert not leaked, leaked

    def connect(self, role: str | None = None, tenant: UUID | None = None, **settings: object) -> Connection:
        """As a superuser, or as `role` for `tenant`."""
        options = {"pgmnemo.gate_strict": "off", "lock_timeout": "200ms", **settings}
        if tenant is not None:
            options["pgmnemo.tenant_id"] = tenant
        return self.open.enter_context(self.server.connect(self.name, role, **options))

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """As a superuser."""
        with self.server.connect(self.name) as root:
            return root.execute(query, values or None).fetchall()

    def run(self, *statements: str) -> None:
        """As a superuser."""
        with self.server.connect(self.name) as root:
            for statement in statements:
                root.execute(statement)

    def store(self, client: Connection, tenant: UUID, key: str, text: str, **attributes: object) -> Any:
        casts = {"embedding": "::real[]", "passage_embeddings": "::vector[]", "passages": "::text[]"}
        names = "".join(f', "{name}" => %s{casts.get(name, "")}' for name in attributes)
        given = (PROJECT, key, text, *attributes.values())
        return self._verb(client, tenant, "store", f"%s, %s, %s{names}", *given)[0][0]

    def recall(
        self, client: Connection, tenant: UUID, text: str | None, vector: Any = None, k: int = 10
    ) -> list[str]:
        given = "%s::real[], %s, %s, duplicates => true"
        return [
            row[0] for row in self._verb(client, tenant, "recall", given, vector, k, text, what="external_id")
        ]

    def check(self, client: Connection, tenant: UUID) -> list[tuple[Any, ...]]:
        return self._verb(client, tenant, "check", "")

    def _verb(
        self, client: Connection, tenant: UUID, verb: str, arguments: str, *values: object, what: str = "*"
    ) -> list[tuple[Any, ...]]:
        call = f"{verb}(%s{arguments and ', '}{arguments})"
        return client.execute(f"SELECT {what} FROM pgmnemo.{call}", (tenant, *values)).fetchall()


def attempt(client: Connection, statement: str, *values: object) -> list[tuple[Any, ...]] | None:
    """Its rows, or None where it fails; what it did is rolled back."""
    try:
        with client.transaction(force_rollback=True):
            cursor = client.execute(statement, values or None)
            return cursor.fetchall() if cursor.description else []
    except psycopg.Error:
        return None


def estimate(client: Connection, query: str) -> int | None:
    """How many rows the planner expects; None where it may not be asked."""
    found = attempt(client, f"EXPLAIN (FORMAT JSON) {query}")
    if found is None:
        return None
    plan = found[0][0] if not isinstance(found[0][0], str) else json.loads(found[0][0])
    return int(plan[0]["Plan"]["Plan Rows"])
