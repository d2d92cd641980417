"""One connection to pgmnemo: a question is one call of recall_lessons, as protocol §4.2 demands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import psycopg
from psycopg import sql

from runner.records import Matrix
from runner.systems.system import Lesson, Match, Query

if TYPE_CHECKING:
    from runner.systems.pgmnemo.system import Pgmnemo

RECALL = """
SELECT in_project, external_id, score{}
FROM pgmnemo.recall_lessons(
    embedding := %s::vector, k := %s, query_text := %s, project_id := %s, as_of := %s, mode := %s)
"""
MODE = "mode"  # the only setting of a client that is an argument of the call
COLUMNS = {
    "project_id": "uuid", "external_id": "text", "content": "text", "embedding": "vector", "role": "text",
    "topic": "text", "importance": "int2", "occurred_at": "timestamptz",
}  # fmt: skip
PASSAGES = {"passages": "text[]", "passage_embeddings": "vector[]"}
POSITION = {"position": "int4"}

Connection = psycopg.Connection[Any]


class PgmnemoClient:
    """A connection as the ordinary role, with `settings` besides the system's own."""

    def __init__(self, system: Pgmnemo, settings: Mapping[str, str]) -> None:
        self._system = system
        given = {**system.settings, **settings}
        self._mode = given.pop(MODE, "hybrid")
        self._project: str | None = None
        names = sql.SQL("").join(sql.SQL(", {}").format(sql.Identifier(name)) for name in system.components)
        self._recall = sql.SQL(RECALL).format(names)
        self._columns = {
            **COLUMNS,
            **(PASSAGES if system.engine.passages else {}),
            **(POSITION if system.takes_positions else {}),
        }
        self.connection: Connection = system.database.connect()
        for name, value in given.items():
            self.connection.execute("SELECT set_config(%s, %s, false)", (f"pgmnemo.{name}", value))
        if not system.walled:
            self._become(system.tenant(""))

    def ask(self, query: Query, k: int) -> list[Match]:
        return self._ask(query, k, self._mode)

    def nearest(self, query: Query, k: int) -> list[Match]:
        return self._ask(query, k, "vector")

    def _ask(self, query: Query, k: int, mode: str) -> list[Match]:
        system = self._system
        vector = None if query.vector is None or mode == "keyword" else padded(query.vector, system.width)
        text = None if mode == "vector" else query.text
        project = query.project
        if system.walled and project is not None:
            self.work_for(project)
        inside = None if system.walled or project is None else system.project_id(project)
        parameters = (vector, k, text, inside, query.as_of, mode)
        with system.named():
            rows = self.connection.execute(self._recall, parameters, binary=True).fetchall()
        return [Match(system.number(row[0], row[1]), row[2], tuple(row[3:])) for row in rows]

    def add(self, lesson: Lesson) -> None:
        self.work_for(lesson.project)
        names = [
            name for name, value in zip(self._columns, self._row(lesson), strict=True) if value is not None
        ]
        values = [value for value in self._row(lesson) if value is not None]
        arguments = ", ".join(f'"{name}" := %s::{self._columns[name]}' for name in names)
        self.connection.execute(f"SELECT pgmnemo.store_lesson({arguments})".encode(), values)

    def store(self, lessons: Sequence[Lesson]) -> None:
        """Lessons of one tenant through the session's staging table, in one transaction."""
        self.work_for(lessons[0].project)
        with self.connection.transaction():
            self.connection.execute("SELECT pgmnemo.open_staging()")
            names = sql.SQL(", ").join(map(sql.Identifier, self._columns))
            query = sql.SQL("COPY lesson_staging ({}) FROM STDIN (FORMAT binary)").format(names)
            with self.connection.cursor() as cursor, cursor.copy(query) as copy:
                copy.set_types(list(self._columns.values()))
                for lesson in lessons:
                    copy.write_row(self._row(lesson))
            self.connection.execute("SELECT * FROM pgmnemo.store_staged()")

    def work_for(self, project: str) -> None:
        """Make the project's tenant the session's, unless it is already, or all projects share one."""
        if self._system.walled and project != self._project:
            self._become(self._system.tenant(project))
            self._project = project

    def call(self, function: str) -> None:
        """A verb without arguments, where this version has it."""
        if self._system.has(function):
            self.connection.execute(f"SELECT pgmnemo.{function}()".encode())

    def close(self) -> None:
        self.connection.close()

    def _become(self, tenant: object) -> None:
        self.connection.execute("SELECT set_config('pgmnemo.tenant_id', %s, false)", (str(tenant),))

    def _row(self, lesson: Lesson) -> tuple[Any, ...]:
        vector = None if lesson.vector is None else padded(lesson.vector, self._system.width)
        row = (
            self._system.project_id(lesson.project), lesson.external_id, lesson.text, vector, lesson.role,
            lesson.topic, lesson.importance, lesson.occurred_at,
        )  # fmt: skip
        passages = self._passages(lesson) if self._system.engine.passages else ()
        return (*row, *passages, *((lesson.position,) if self._system.takes_positions else ()))

    def _passages(self, lesson: Lesson) -> tuple[list[str] | None, list[Matrix] | None]:
        """The texts of a lesson's passages, if it has any, and where there are vectors those too."""
        if not lesson.passages or lesson.passage_vectors is None:
            return list(lesson.passages) or None, None
        return list(lesson.passages), [padded(row, self._system.width) for row in lesson.passage_vectors]


def padded(vector: Matrix, width: int) -> Matrix:
    """One vector with zeros up to `width`, which leave its cosine as it is."""
    row = np.zeros(width, dtype=np.float32)
    row[: vector.shape[0]] = vector
    return row
