"""The client of pgmnemo: a question is one call of recall_lessons, as protocol §4.2 requires.

The verbs are those of the current version; older versions get fewer arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid5

import psycopg

from pgmnemo import calls
from pgmnemo.calls import Answer, Call
from pgmnemo.client.sync.connections import BorrowedConnection
from pgmnemo.client.sync.executor import Executor
from pgmnemo.embedders import pad
from pgmnemo.records import Matrix
from runner.protocol.editions.edition import EnginePins
from runner.systems.system import Lesson, Lessons, Link, Match, Query

Connection = psycopg.Connection[Any]
Row = tuple[Any, ...]
COLUMNS = {
    "project_id": "uuid", "external_id": "text", "content": "text", "embedding": "vector", "role": "text",
    "topic": "text", "importance": "int2", "occurred_at": "timestamptz",
}  # fmt: skip
FORMER_VERBS = {"store": "store_lesson", "link": "link_lessons"}  # of 0.2.1, without a tenant
MORE = {"passages": "text[]", "passage_embeddings": "vector[]", "position": "int4"}  # 0.2.1 has none of them


@dataclass(frozen=True, slots=True)
class LessonFormat:
    """The columns of a version's lessons and the components of its scores.

    Vectors are padded to `width`; 0 keeps their own width.
    """

    width: int
    components: tuple[str, ...]
    passages: bool

    @classmethod
    def of(cls, engine: EnginePins, width: int) -> LessonFormat:
        """Return the format of an engine's lessons; 0.2.1 pads vectors to `width`."""
        return cls(0 if engine.passages else width, engine.components, engine.passages)

    def vector(self, rows: Matrix) -> Matrix:
        """Return a vector, or a matrix with a vector in each row, in the width of this version's verbs."""
        return pad(rows, self.width or rows.shape[-1])

    @property
    def columns(self) -> dict[str, str]:
        """The type of each column of a lesson."""
        return {**COLUMNS, **(MORE if self.passages else {})}

    def row(self, lesson: Lesson, project: Any) -> Row:
        """Return a lesson as a row with these columns, in the project with this uuid."""
        vector = None if lesson.vector is None else self.vector(lesson.vector)
        row = (
            project, lesson.external_id, lesson.text, vector, lesson.role, lesson.topic, lesson.importance,
            lesson.occurred_at,
        )  # fmt: skip
        return (*row, *self._passages(lesson), lesson.position) if self.passages else row

    def _passages(self, lesson: Lesson) -> tuple[list[str] | None, list[Matrix] | None]:
        """Return the texts and the vectors of a lesson's passages; None for each that it lacks."""
        if not lesson.passages or lesson.passage_vectors is None:
            return list(lesson.passages) or None, None
        return list(lesson.passages), list(self.vector(lesson.passage_vectors))


def ask_yes_no(connection: Connection, question: str, *parameters: str) -> bool:
    """Return the truth of a catalogue query; False without a row."""
    row = connection.execute(question.encode(), parameters or None).fetchone()
    return bool(row and row[0])


NAMESPACE = UUID("6f0f4f39-2f0b-5c0e-9d53-0b1f6f6a1c42")
MODE = "mode"  # the only client setting that is passed as an argument of the call


class TenantNames:
    """The tenants and projects of a run's lessons in the database.

    There is one tenant or, with `tenant_per_project`, one for each project.
    """

    def __init__(self, label: str, tenant_per_project: bool) -> None:
        self.tenant_per_project = tenant_per_project
        self.basis = uuid5(NAMESPACE, label)
        self._lessons: Lessons | None = None
        self._projects: dict[UUID, str] = {}

    def hold(self, lessons: Lessons) -> None:
        """Set the lessons that later look-ups use."""
        self._lessons = lessons
        self._projects = {self.project_id(name): name for name in lessons.projects}

    @property
    def work(self) -> Sequence[str]:
        """One project of each tenant; an empty name if all projects share a tenant."""
        return list(self._projects.values()) if self.tenant_per_project else [""]

    def tenant(self, project: str) -> UUID:
        """Return the tenant of the lessons of a project."""
        return uuid5(self.basis, f"tenant {project}") if self.tenant_per_project else self.basis

    def project_id(self, project: str) -> UUID:
        """Return the project's uuid: its name if that is a uuid, else derived from its name."""
        try:
            return UUID(project)
        except ValueError:
            return uuid5(self.basis, project)

    def number(self, project: UUID, external_id: str) -> int:
        """Return the number of the lesson that recall_lessons names."""
        assert self._lessons is not None, "nothing is asked before lessons are loaded"
        return self._lessons.number(self._projects[project], external_id)


class PgmnemoClient:
    """A connection as the ordinary role with `settings`, which may include the mode.

    `fault` returns a context that turns a server error into a sentence with the name of the database.
    """

    def __init__(
        self, connection: Connection, names: TenantNames, form: LessonFormat, settings: Mapping[str, str],
        fault: Callable[[], AbstractContextManager[None]],
    ) -> None:  # fmt: skip
        self.connection, self._names, self._form, self._fault = connection, names, form, fault
        self._channel = Executor(
            BorrowedConnection(connection),
            {},
            0.0,
            f"the database {connection.info.dbname}",
            client_types=False,
        )
        self._mode = settings.get(MODE, "hybrid")
        self._columns = ("in_project", "external_id", "score", *(f'"{name}"' for name in form.components))
        self._project: str | None = None
        for name, value in settings.items():
            if name != MODE:
                self.call(calls.set_setting(name, value))
        if not names.tenant_per_project:
            self._become(names.tenant(""))

    def ask(self, query: Query, k: int) -> list[Match]:
        return self._ask(query, k, self._mode)

    def nearest(self, query: Query, k: int) -> list[Match]:
        return self._ask(query, k, "vector")

    def _ask(self, query: Query, k: int, mode: str) -> list[Match]:
        names = self._names
        vector = None if query.vector is None or mode == "keyword" else self._form.vector(query.vector)
        text = None if mode == "vector" else query.text
        project = query.project
        if names.tenant_per_project and project is not None:
            self.work_for(project)
        inside = None if names.tenant_per_project or project is None else names.project_id(project)
        call = calls.recall(
            None, embedding=vector, k=k, query_text=text, project_id=inside, as_of=query.as_of, mode=mode,
            columns=self._columns,
        )  # fmt: skip
        with self._fault():
            rows = self.call(call)
        return [Match(names.number(row[0], row[1]), row[2], tuple(row[3:])) for row in rows]

    def add(self, lesson: Lesson) -> None:
        self.work_for(lesson.project)
        row = dict(zip(self._form.columns, self._row(lesson), strict=True))
        self.call(self._verb_call("store", lesson.project, **row))

    def store(self, lessons: Sequence[Lesson]) -> None:
        """Store lessons of one tenant through the session's staging table, in one transaction."""
        self.work_for(lessons[0].project)
        staging = self._verb_call("open_staging", lessons[0].project)
        self._channel.copy_staged(staging, self._form.columns, map(self._row, lessons))

    def link(self, link: Link) -> None:
        """Store a link between two stored lessons."""
        self.work_for(link.project)
        given = {
            "project_id": self._names.project_id(link.project), "source": link.source, "target": link.target,
            "kind": link.kind, "weight": link.weight, "valid_from": link.valid_from,
            "valid_to": link.valid_to,
        }  # fmt: skip
        self.call(self._verb_call("link", link.project, **given))

    def work_for(self, project: str) -> None:
        """Set the session's tenant to the project's, if it is not set and projects have their own tenants."""
        if self._names.tenant_per_project and project != self._project:
            self._become(self._names.tenant(project))
            self._project = project

    def call(self, call: Call[Answer]) -> Answer:
        """Make one call; its rows are sent in PostgreSQL's binary format."""
        return self._channel.call(call)

    def close(self) -> None:
        self.connection.close()

    def _verb_call(self, verb: str, project: str, **given: Any) -> Call[Any]:
        """Return the call of a verb for a project's tenant; in 0.2.1 the tenant is the session's."""
        if self._form.passages:
            return calls.verb_call(verb, tenant=self._names.tenant(project), **given)
        return calls.verb_call(FORMER_VERBS.get(verb, verb), **given)

    def _become(self, tenant: UUID) -> None:
        self.call(calls.set_setting("tenant_id", str(tenant)))

    def _row(self, lesson: Lesson) -> Row:
        return self._form.row(lesson, self._names.project_id(lesson.project))
