"""What a version's verbs take and give: the current one's, and less of it for those before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import psycopg

from pgmnemo.embedders import pad
from pgmnemo.records import Matrix
from runner.protocol.editions.edition import EnginePins
from runner.systems.system import Lesson

Connection = psycopg.Connection[Any]
Row = tuple[Any, ...]
COLUMNS = {
    "project_id": "uuid", "external_id": "text", "content": "text", "embedding": "vector", "role": "text",
    "topic": "text", "importance": "int2", "occurred_at": "timestamptz",
}  # fmt: skip
PASSAGES = {"passages": "text[]", "passage_embeddings": "vector[]"}  # from 0.3.0 on
POSITION = {"position": "int4"}  # from 0.4.0 on
TAKES_POSITIONS = """
SELECT EXISTS (
    SELECT FROM pg_attribute
    WHERE attrelid = to_regclass('pgmnemo.lesson_input') AND attname = 'position' AND NOT attisdropped)
"""


@dataclass(frozen=True, slots=True)
class Form:
    """The columns of a version's lessons and the components of its scores; vectors are `width` wide."""

    width: int
    components: tuple[str, ...]
    passages: bool
    positions: bool

    @classmethod
    def of(cls, engine: EnginePins, width: int, connection: Connection | None) -> Form:
        """That of the extension behind a connection of its owner; None: there is none yet."""
        positions = connection is not None and told(connection, TAKES_POSITIONS)
        return cls(width, engine.components, engine.passages, positions)

    @property
    def columns(self) -> dict[str, str]:
        """The type of each column that a lesson has."""
        more = {**(PASSAGES if self.passages else {}), **(POSITION if self.positions else {})}
        return {**COLUMNS, **more}

    def row(self, lesson: Lesson, project: Any) -> Row:
        """A lesson as the columns have it, in the project of that uuid."""
        vector = None if lesson.vector is None else pad(lesson.vector, self.width)
        row = (
            project, lesson.external_id, lesson.text, vector, lesson.role, lesson.topic, lesson.importance,
            lesson.occurred_at,
        )  # fmt: skip
        passages = self._passages(lesson) if self.passages else ()
        return (*row, *passages, *((lesson.position,) if self.positions else ()))

    def _passages(self, lesson: Lesson) -> tuple[list[str] | None, list[Matrix] | None]:
        """The texts of a lesson's passages, if it has any, and where there are vectors those too."""
        if not lesson.passages or lesson.passage_vectors is None:
            return list(lesson.passages) or None, None
        return list(lesson.passages), list(pad(lesson.passage_vectors, self.width))


def told(connection: Connection, question: str, *parameters: str) -> bool:
    """What the catalogue answers to a question of yes or no."""
    row = connection.execute(question.encode(), parameters or None).fetchone()
    return bool(row and row[0])
