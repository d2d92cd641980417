"""What is attacked, and by whom: a database with the extension, of the version with the holes or of ours."""

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

from pgmnemo.server.releases import default_version
from pgmnemo.server.server_files import installation

Connection = psycopg.Connection[Any]
REVIEWED, OURS = "0.3.1", default_version()
A, B = UUID(int=0xA1 << 64), UUID(int=0xB2 << 96)
PROJECT = UUID(int=1)
ROLES = ("keeper", "alice", "bob", "dual", "mallory")
GRANTS = (("alice", A), ("bob", B), ("dual", A), ("dual", B))
OF_OLD = {"store": "store_lesson", "recall": "recall_lessons", "check": "check_index"}
# Every verb for a tenant: what follows the tenant's argument, and what the verb that reads the setting is
# given. {p} is a project, {k} and {l} are keys of lessons.
PLANTED = "ARRAY[ROW('{p}', 'x', 'y', NULL, NULL, NULL, 3, '{{}}'" + ", NULL" * 8 + ")::pgmnemo.lesson_input]"
BY_ARGUMENT = {
    "recall": "query_text => 'river'",
    "explain": "'{p}', '{k}', query_text => 'river'",
    "store": "'{p}', 'x', 'y'",
    "store_set": PLANTED,
    "store_passages": "1, '{{x}}'",
    "forget": "'{p}', '{k}', true",
    "link": "'{p}', '{k}', '{l}', 'x'",
    "unlink": "'{p}', '{k}', '{l}', 'follows'",
    **dict.fromkeys(("forget_all", "check", "repair", "compact", "index"), ""),
    **dict.fromkeys(("list_lessons", "list_edges", "list_passages", "list_postings", "list_bare"), ""),
}
BY_SETTING = {
    "recall_lessons": "query_text => 'river'",
    "explain_recall": "'{p}', '{k}', query_text => 'river'",
    "store_lesson": "'{p}', 'x', 'y'",
    "store_lessons": PLANTED,
    "add_passages": "1, '{{x}}'",
    "forget_lesson": "'{p}', '{k}', true",
    "forget_project": "'{p}'",
    "link_lessons": "'{p}', '{k}', '{l}', 'x'",
    "unlink_lessons": "'{p}', '{k}', '{l}', 'follows'",
    **dict.fromkeys(("forget_tenant", "check_index", "repair_index"), ""),
    **dict.fromkeys(("compact_postings", "index_lessons"), ""),
}


def by_argument(tenant: UUID, project: UUID, key: str, other: str) -> list[str]:
    """Each verb's call for the tenant, without its schema."""
    return [
        f"{verb}('{tenant}'{given and ', '}{given.format(p=project, k=key, l=other)})"
        for verb, given in BY_ARGUMENT.items()
    ]


def by_setting(project: UUID, key: str, other: str) -> list[str]:
    """The same of the verbs that are for the session's tenant."""
    return [f"{verb}({given.format(p=project, k=key, l=other)})" for verb, given in BY_SETTING.items()]


def vector(*coordinates: float) -> list[float]:
    """A unit vector with these first coordinates."""
    norm = math.sqrt(sum(number * number for number in coordinates))
    return [*(number / norm for number in coordinates), *[0.0] * (1024 - len(coordinates))]


@dataclass
class Server:
    """An embedded PostgreSQL."""

    conninfo: dict[str, str]
    postgres: int
    made: list[str] = field(default_factory=list)

    def connect(self, database: str, user: str | None = None, **settings: object) -> Connection:
        options = " ".join(f"-c {name}={value}" for name, value in settings.items())
        told = {**self.conninfo, "dbname": database, "options": options}
        return psycopg.connect(**{**told, "user": user or told["user"]}, autocommit=True)

    def create(self, name: str, *before: str) -> str:
        """A database with pgvector in public, after the statements of a superuser in `before`."""
        with self.connect("postgres") as root:
            root.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
            root.execute(f'CREATE DATABASE "{name}" OWNER keeper TEMPLATE template0')
        with self.connect(name) as root:
            root.execute("CREATE EXTENSION vector SCHEMA public")
            for statement in before:
                root.execute(statement)
        return name

    def program(self, name: str, database: str, *options: str, given: str | None = None) -> str:
        """What one of PostgreSQL's programs says as a superuser, errors included."""
        done = self._program(name, database, *options, given=given)
        return done.stdout + done.stderr

    def dump(self, database: str) -> str:
        return self._program("pg_dump", database).stdout

    def _program(
        self, name: str, database: str, *options: str, given: str | None = None
    ) -> subprocess.CompletedProcess[str]:
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

    @property
    def old(self) -> bool:
        return self.version == REVIEWED

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
        names = "".join(f", {name} => %s{casts.get(name, '')}" for name in attributes)
        given = (PROJECT, key, text, *attributes.values())
        return self._verb(client, tenant, "store", f"%s, %s, %s{names}", *given)[0][0]

    def recall(
        self, client: Connection, tenant: UUID, text: str | None, vector: Any = None, k: int = 10
    ) -> list[str]:
        given = "%s::real[], %s, %s"
        return [
            row[0] for row in self._verb(client, tenant, "recall", given, vector, k, text, what="external_id")
        ]

    def check(self, client: Connection, tenant: UUID) -> list[tuple[Any, ...]]:
        return self._verb(client, tenant, "check", "")

    def _verb(
        self, client: Connection, tenant: UUID, verb: str, arguments: str, *values: object, what: str = "*"
    ) -> list[tuple[Any, ...]]:
        """By the setting in the version with the holes, which knows no other way."""
        if self.old:
            client.execute("SELECT set_config('pgmnemo.tenant_id', %s, false)", (str(tenant),))
            call, given = f"{OF_OLD[verb]}({arguments})", values
        else:
            call, given = f"{verb}(%s{arguments and ', '}{arguments})", (tenant, *values)
        return client.execute(f"SELECT {what} FROM pgmnemo.{call}", given).fetchall()


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
