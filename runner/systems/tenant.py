"""One tenant of the database: the run's own rows, which it writes, recalls and takes away again.

The runner works as an ordinary role with every policy active; only granting the tenant, and letting the
planner look at the new rows, is done by the owner of the extension.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Literal
from uuid import UUID, uuid5

import numpy as np
import psycopg
from psycopg import sql

from runner.errors import DatabaseError
from runner.progress import QUIET, Progress
from runner.protocol import engine
from runner.records import Edge, Matrix, Segment, opaque
from runner.systems.system import Database, Inputs

NAMESPACE = UUID("6f0f4f39-2f0b-5c0e-9d53-0b1f6f6a1c42")
COLUMNS = {
    "project_id": "uuid", "external_id": "text", "content": "text", "embedding": "vector", "role": "text",
    "topic": "text", "importance": "int2", "occurred_at": "timestamptz",
}  # fmt: skip
PASSAGES = {"passages": "text[]", "passage_embeddings": "vector[]"}
TABLES = """
SELECT oid::regclass::text FROM pg_class
WHERE relnamespace = 'pgmnemo'::regnamespace AND relkind = 'r' ORDER BY oid
"""
WORKERS = max(1, min(4, os.cpu_count() or 1))

Connection = psycopg.Connection[Any]


class Tenant:
    """The rows of one corpus with one embedder. `settings` are the pgmnemo settings of every connection.

    `engine` is what the installed version takes and answers: lessons alone, or lessons with passages.
    """

    def __init__(self, database: Database, inputs: Inputs, settings: Mapping[str, str], width: int) -> None:
        self.database, self.inputs, self.width = database, inputs, width
        self.engine = engine(database.facts.pgmnemo)
        self.columns = {**COLUMNS, **(PASSAGES if self.engine.passages else {})}
        corpus, vectors = inputs.corpus, inputs.vectors
        basis = (corpus.sha256, corpus.granularity, repr(vectors.identity) if vectors else "none")
        self.id = uuid5(NAMESPACE, " ".join(basis))
        self.settings = {**settings, "tenant_id": str(self.id)}

    def project(self, name: str) -> UUID:
        """The project's uuid, from its name."""
        return uuid5(self.id, name)

    def connect(self, overrides: Mapping[str, str] | None = None) -> Connection:
        """A connection as the ordinary role, with the settings in force."""
        connection = self.database.connect()
        for name, value in {**self.settings, **(overrides or {})}.items():
            connection.execute("SELECT set_config(%s, %s, false)", (f"pgmnemo.{name}", value))
        return connection

    def state(self) -> dict[str, str]:
        """Every setting of the extension as it is in force (`guc_state`)."""
        return self._listed("value")

    def defaults(self) -> dict[str, str]:
        """Every setting of the extension that has a default, with it."""
        return self._listed("initial")

    def _listed(self, column: Literal["value", "initial"]) -> dict[str, str]:
        with self.connect() as connection:
            rows = connection.execute(
                "SELECT name, value, initial FROM pgmnemo.list_settings() WHERE meaning IS NOT NULL"
            )
            place = {"value": 1, "initial": 2}[column]
            return {row[0]: row[place] for row in rows if row[place] is not None}

    def ingest(self, progress: Progress = QUIET) -> None:
        """Store every segment and edge through the extension's own verbs, whole projects side by side."""
        shards = _shards(self.inputs.corpus.segments)
        with ThreadPoolExecutor(WORKERS) as pool:
            for _ in progress.track(pool.map(self._store, shards), "ingest", len(shards)):
                pass
        with self.connect() as connection, connection.transaction():
            for edge in self.inputs.corpus.edges:
                self._link(connection, edge)
        with self.database.admin() as owner:
            tables = ", ".join(name for (name,) in owner.execute(TABLES))
            owner.execute(sql.SQL("VACUUM (ANALYZE) {}").format(sql.SQL(tables)))

    def _store(self, places: Sequence[int]) -> None:
        """Copy the segments at these places into the session's staging table and store them."""
        with self.connect() as connection, connection.transaction():
            connection.execute("SELECT pgmnemo.open_staging()")
            names = sql.SQL(", ").join(map(sql.Identifier, self.columns))
            query = sql.SQL("COPY lesson_staging ({}) FROM STDIN (FORMAT binary)").format(names)
            with connection.cursor() as cursor, cursor.copy(query) as copy:
                copy.set_types(list(self.columns.values()))
                for place in places:
                    copy.write_row(self._row(place))
            connection.execute("SELECT * FROM pgmnemo.store_staged()")

    def _row(self, place: int) -> tuple[Any, ...]:
        segment = self.inputs.corpus.segments[place]
        return (
            self.project(segment.project), segment.external_id, segment.text, self._vector(place),
            segment.role, segment.topic, segment.importance, segment.occurred_at,
            *(self._passages(segment) if self.engine.passages else ()),
        )  # fmt: skip

    def _passages(self, segment: Segment) -> tuple[list[str] | None, list[Matrix] | None]:
        """The texts of a segment's passages, if it has any, and where there are vectors those too."""
        texts, vectors = [passage.text for passage in segment.passages] or None, self.inputs.vectors
        if texts is None or vectors is None or vectors.passages is None:
            return texts, None
        rows = (vectors.passages[vectors.places[passage.embedded]] for passage in segment.passages)
        return texts, [padded(row, self.width) for row in rows]

    def _vector(self, place: int) -> Any:
        vectors = self.inputs.vectors
        return None if vectors is None else padded(vectors.segments[place], self.width)

    def _link(self, connection: Connection, edge: Edge) -> None:
        project = self.project(edge.project)
        connection.execute(
            "SELECT pgmnemo.link_lessons(%s, %s, %s, %s, %s::real, %s, %s)",
            (
                project,
                opaque(edge.source),
                opaque(edge.target),
                edge.kind,
                edge.weight,
                edge.valid_from,
                edge.valid_to,
            ),
        )


@contextmanager
def open_tenant(
    database: Database, inputs: Inputs, settings: Mapping[str, str], width: int
) -> Iterator[Tenant]:
    """The tenant of a run, alone and empty at the start, gone at the end.

    Raises DatabaseError when another run works on the same tenant of the same database.
    """
    tenant = Tenant(database, inputs, settings, width)
    with database.admin() as owner:
        _claim(owner, tenant, database)
        owner.execute("SELECT pgmnemo.grant_tenant(%s, %s)", (tenant.id, database.facts.role))
        try:
            with tenant.connect() as connection:
                connection.execute("SELECT pgmnemo.forget_tenant()")  # what a killed run left
            yield tenant
        finally:
            if database.facts.origin != "embedded":  # an embedded database goes as a whole
                _leave(owner, tenant, database)


def _claim(owner: Connection, tenant: Tenant, database: Database) -> None:
    key = tenant.id.int & 0x7FFF_FFFF_FFFF_FFFF
    row = owner.execute("SELECT pg_try_advisory_lock(%s)", (key,)).fetchone()
    if row is None or not row[0]:
        raise DatabaseError(
            f"another run works on the same corpus and embedder in the database {database.facts.database}; "
            "wait for it to end, or name another server with --dsn"
        )


def _leave(owner: Connection, tenant: Tenant, database: Database) -> None:
    with tenant.connect() as connection:
        connection.execute("SELECT pgmnemo.forget_tenant()")
    owner.execute("SELECT pgmnemo.revoke_tenant(%s, %s)", (tenant.id, database.facts.role))


def padded(vector: Matrix, width: int) -> Matrix:
    """One vector with zeros up to `width`, which leave its cosine as it is."""
    row = np.zeros(width, dtype=np.float32)
    row[: vector.shape[0]] = vector
    return row


def _shards(segments: Sequence[Segment]) -> list[list[int]]:
    """Positions of the segments, whole projects together, in some four shards a worker."""
    projects: dict[str, list[int]] = {}
    for place, segment in enumerate(segments):
        projects.setdefault(segment.project, []).append(place)
    shards: list[list[int]] = [[] for _ in range(4 * WORKERS)]
    for number, places in enumerate(projects.values()):
        shards[number % len(shards)] += places
    return [shard for shard in shards if shard]
