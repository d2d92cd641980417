"""The extension in PostgreSQL 18 (PGMNEMO_POSTGRES=16: in 16), with a new tenant for each test."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

import numpy as np
import psycopg
import pytest
from numpy.typing import NDArray

from pgmnemo.postgres import Database, open_database
from tests.helping import CURRENT

POSTGRES = int(os.environ.get("PGMNEMO_POSTGRES", "18"))
WIDTH = 384
OWNER = "pgmnemo_owner"  # of the extension, where the runner installs it as a superuser
Connection = psycopg.Connection[Any]


def literals(vectors: Sequence[Any] | None) -> list[str | None] | None:
    """Return each vector as pgvector's text."""
    if vectors is None:
        return None
    return [
        None if row is None else "[" + ",".join(str(float(number)) for number in row) + "]" for row in vectors
    ]


@dataclass
class Tenant:
    """A tenant with one project, and a connection of an ordinary role that may work for it."""

    database: Database
    open: ExitStack
    id: UUID = field(default_factory=uuid4)
    project: UUID = field(default_factory=uuid4)
    client: Connection = field(init=False)

    def __post_init__(self) -> None:
        with self.database.admin() as owner:
            owner.execute("SELECT pgmnemo.grant_tenant(%s, %s)", (self.id, self.database.facts.role))
        self.client = self.connect()

    def connect(self) -> Connection:
        connection = self.open.enter_context(self.database.connect())
        connection.execute("SELECT set_config('pgmnemo.tenant_id', %s, false)", (str(self.id),))
        connection.execute("SET pgmnemo.gate_strict = off")
        return connection

    def set(self, **settings: object) -> None:
        for name, value in settings.items():
            self.client.execute("SELECT set_config(%s, %s, false)", (f"pgmnemo.{name}", str(value)))

    def rows(self, query: str, *parameters: object) -> list[tuple[Any, ...]]:
        return self.client.execute(query, parameters).fetchall()

    def value(self, query: str, *parameters: object) -> Any:
        return self.rows(query, *parameters)[0][0]

    def store(self, external_id: str, content: str, **attributes: Any) -> Any:
        """Store a lesson; `passage_embeddings` is a list of vectors, with None for a passage without a
        vector.
        """
        project = attributes.pop("project_id", self.project)
        casts = {"embedding": "::real[]", "passage_embeddings": "::vector[]"}
        names = "".join(f", {name} => %s{casts.get(name, '')}" for name in attributes)
        query = f"SELECT pgmnemo.store(NULL, %s, %s, %s{names})"
        values = [
            literals(value) if name == "passage_embeddings" else value for name, value in attributes.items()
        ]
        return self.value(query, project, external_id, content, *values)

    def store_many(
        self,
        contents: Mapping[str, str],
        vectors: NDArray[np.float32] | None = None,
        passages: Sequence[Sequence[str]] | None = None,
    ) -> Any:
        """Store lessons by staging, in one transaction; `vectors` and `passages` are in the order of
        `contents`.
        """
        with self.client.transaction(), self.client.cursor() as cursor:
            cursor.execute("SELECT pgmnemo.open_staging()")
            columns = "project_id, external_id, content, embedding, passages"
            with cursor.copy(f"COPY lesson_staging ({columns}) FROM STDIN (FORMAT binary)") as copy:
                copy.set_types(("uuid", "text", "text", "vector", "text[]"))
                for place, (name, text) in enumerate(contents.items()):
                    vector = None if vectors is None else vectors[place]
                    parts = None if passages is None else list(passages[place])
                    copy.write_row((self.project, name, text, vector, parts))
            return dict(cursor.execute("SELECT * FROM pgmnemo.store_staged()").fetchall())

    @contextmanager
    def acting(self, connection: Connection | None = None) -> Iterator[Connection]:
        """Yield the connection as a verb runs: as the extension's owner, with policies that show only this
        tenant's rows.
        """
        within = connection or self.client
        role = within.execute("SELECT current_user").fetchone()[0]
        enter = "SELECT set_config('role', %s, true), set_config('pgmnemo.acting_tenant', %s, true)"
        with within.transaction():
            within.execute(enter, (OWNER, str(self.id)))
            yield within
            within.execute(enter, (role, ""))

    def alter(self, statement: str, *parameters: object) -> int:
        """Change rows without the verbs; return their number."""
        with self.acting() as within:
            return within.execute(statement, parameters or None).rowcount

    def look(self, query: str, *parameters: object) -> list[tuple[Any, ...]]:
        """Return the rows of a query that only the extension's owner may run."""
        with self.acting() as within:
            return within.execute(query, parameters or None).fetchall()

    def link(self, source: str, target: str, kind: str = "follows", **attributes: object) -> Any:
        names = "".join(f", {name} => %s" for name in attributes)
        query = f"SELECT pgmnemo.link(NULL, %s, %s, %s, %s{names})"
        return self.value(query, self.project, source, target, kind, *attributes.values())

    def recall(self, text: str | None = None, vector: Any = None, **options: object) -> list[dict[str, Any]]:
        """Return answers as dictionaries, best first; `project_id` defaults to the test's own project."""
        options = {"project_id": self.project, "query_text": text, **options}
        names = "".join(f", {name} => %s" for name in options)
        with self.client.cursor(row_factory=psycopg.rows.dict_row) as cursor:
            query = f"SELECT * FROM pgmnemo.recall_lessons(embedding => %s::real[]{names})"
            embedding = None if vector is None else [float(number) for number in vector]
            return cursor.execute(query, (embedding, *options.values())).fetchall()

    def ids(self, text: str | None = None, vector: Any = None, **options: object) -> list[str]:
        return [row["external_id"] for row in self.recall(text, vector, **options)]


@pytest.fixture(scope="session")
def database() -> Iterator[Database]:
    with open_database(CURRENT, environ={}, postgres=POSTGRES) as opened:
        yield opened


@pytest.fixture(scope="session")
def tenant_class() -> type[Tenant]:
    return Tenant


@pytest.fixture
def make_tenant(database: Database) -> Iterator[Callable[[], Tenant]]:
    with ExitStack() as stack:
        yield lambda: Tenant(database, stack)


@pytest.fixture
def tenant(make_tenant: Callable[[], Tenant]) -> Tenant:
    return make_tenant()


@pytest.fixture
def owner(database: Database) -> Iterator[Connection]:
    with database.admin() as connection:
        yield connection


@pytest.fixture(scope="session")
def unit() -> Callable[..., NDArray[np.float32]]:
    """Return a function that makes a unit vector from its first coordinates: unit(3, 4) has cosine 0.6 with
    unit(1).
    """

    def make(*coordinates: float) -> NDArray[np.float32]:
        row = np.zeros(WIDTH, dtype=np.float32)
        row[: len(coordinates)] = coordinates
        return np.asarray(row / np.linalg.norm(row), dtype=np.float32)

    return make
