"""A tiny corpus in three projects, and systems that answer as a test tells them to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from psycopg.conninfo import make_conninfo

from pgmnemo.embedders import EMBEDDERS, EmbedderOptions
from pgmnemo.paths import SQL_FOLDER
from pgmnemo.postgres.servers import temporary_server
from pgmnemo.progress import QUIET, Progress
from pgmnemo.records import Matrix
from runner.systems import Lesson, Lessons, Match, Query, System, SystemContext, SystemSpec
from tests.helping import CURRENT

WIDTH = 384
PROJECTS = ("the garden's", 'a "boat"', "bakery")
ABOUT = {
    "the garden's": ("quince", "telescope", "accordion", "greyhound"),
    'a "boat"': ("lighthouse", "harbour", "anchor", "compass", "seagull"),
    "bakery": ("sourdough", "croissant", "oven"),
}
LATER = "marmalade"  # what the lesson is about that is added afterwards
EMBEDDER = EMBEDDERS["hash"](EmbedderOptions(dimensions=WIDTH))


def embedded(text: str) -> Matrix:
    row: Matrix = EMBEDDER.embed_documents([text])[0]
    return row


def told(thing: str) -> str:
    """Every text is of another length, so that no two are equally near to a question."""
    things = [LATER, *(one for project in PROJECTS for one in ABOUT[project])]
    more = " ".join(f"{thing}{number}" for number in range(things.index(thing)))
    return f"Ana: I saw the {thing} today.\nBo: Tell me more about that {thing}, please. {more}"


class Tiny(Lessons):
    """Numbers are no positions, and the first lesson of every project has the same external id."""

    def __init__(self, vectors: bool = True, projects: Sequence[str] = PROJECTS) -> None:
        self._vectors, self._projects = vectors, projects
        every = [(project, at, thing) for project in PROJECTS for at, thing in enumerate(ABOUT[project])]
        numbers = {(project, f"x{at}"): len(every) - 1 - n for n, (project, at, _) in enumerate(every)}
        numbers |= {(project, "later"): len(every) for project in PROJECTS}
        self._numbers, self._all = numbers, [one for one in every if one[0] in projects]

    def __len__(self) -> int:
        return len(self._all)

    @property
    def width(self) -> int | None:
        return WIDTH if self._vectors else None

    @property
    def projects(self) -> Sequence[str]:
        return self._projects

    def number(self, project: str, external_id: str) -> int:
        return self._numbers[project, external_id]

    def lesson(self, position: int) -> Lesson:
        project, at, thing = self._all[position]
        return self._made(project, f"x{at}", thing, at)

    def later(self, project: str) -> Lesson:
        """One that is not loaded."""
        return self._made(project, "later", LATER, 9)

    def _made(self, project: str, external_id: str, thing: str, day: int) -> Lesson:
        text = told(thing)
        parts = tuple(text.split("\n"))
        lesson = Lesson(
            number=self.number(project, external_id), project=project, external_id=external_id, text=text,
            occurred_at=datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=day), passages=parts,
        )  # fmt: skip
        if not self._vectors:
            return lesson
        rows = EMBEDDER.embed_documents(list(parts))
        return replace(lesson, vector=embedded(text), passage_vectors=rows)

    def queries(self, project: str | None = None) -> list[tuple[Query, Lesson]]:
        """For each lesson (of the project) a question that its own words answer, asked there."""
        return [
            (self.query(f"What of the {ABOUT[one.project][int(one.external_id[1:])]}?", project, at), one)
            for at, one in enumerate(self) if project in (None, one.project)
        ]  # fmt: skip

    def query(self, text: str, project: str | None = None, number: int = 0) -> Query:
        vector = embedded(text) if self._vectors else None
        return Query(number, text, vector, project, datetime(2026, 2, 1, tzinfo=UTC))


class Listed(Lessons):
    """Lessons by project and text, one vector each (or none); numbers are positions from 100 on."""

    def __init__(self, rows: Sequence[tuple[str, str]], vectors: Matrix | None = None) -> None:
        self._rows, self._vectors = list(rows), vectors

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def width(self) -> int | None:
        return None if self._vectors is None else self._vectors.shape[1]

    @property
    def projects(self) -> Sequence[str]:
        return list(dict.fromkeys(project for project, _ in self._rows))

    def number(self, project: str, external_id: str) -> int:
        return int(external_id)

    def lesson(self, position: int) -> Lesson:
        project, text = self._rows[position]
        vector = None if self._vectors is None else self._vectors[position]
        return Lesson(100 + position, project, str(100 + position), text, vector)


Answer = Callable[[Query, int], Any]


class Scripted(System):
    """Answers by a function, and counts how often it is asked."""

    def __init__(self, answer: Answer) -> None:
        self.answer, self.asked = answer, 0

    def load(self, lessons: Lessons, progress: Progress = QUIET) -> Mapping[str, float]:
        return {}

    def ask(self, query: Query, k: int) -> Any:
        self.asked += 1
        return self.answer(query, k)


class ScriptedClients(Scripted):
    """The same with clients, which are counted."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer)
        self.opened = self.closed = 0

    def client(self, settings: Mapping[str, str] | None = None) -> Any:
        self.opened += 1
        return ScriptedClient(self)


class ScriptedClient:
    def __init__(self, system: ScriptedClients) -> None:
        self.system = system

    def ask(self, query: Query, k: int) -> Any:
        return self.system.ask(query, k)

    def close(self) -> None:
        self.system.closed += 1


class Tools:
    """What tests build with."""

    Tiny, Listed, Scripted, ScriptedClients = Tiny, Listed, Scripted, ScriptedClients
    PROJECTS, LATER, WIDTH = PROJECTS, LATER, WIDTH
    told = staticmethod(told)
    embedded = staticmethod(embedded)

    @staticmethod
    def best(lessons: Lessons) -> Answer:
        """The lessons of the scope in their order."""

        def answer(query: Query, k: int) -> list[Match]:
            inside = [one for one in lessons if query.project in (None, one.project)]
            return [Match(one.number, 1.0 / place) for place, one in enumerate(inside[:k], start=1)]

        return answer

    @staticmethod
    def kind(open: Callable[[SystemContext], System], **options: Any) -> SystemSpec:
        return SystemSpec("Scripted", "as told", open, **options)


@pytest.fixture(scope="session")
def tools() -> type[Tools]:
    return Tools


@pytest.fixture(scope="session")
def tiny() -> Tiny:
    return Tiny()


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The DSN of a living PostgreSQL for all that can share one."""
    with temporary_server(SQL_FOLDER, CURRENT) as conninfo:
        yield make_conninfo(**conninfo)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[SystemContext]:
    """Nothing may be left there."""
    folder = tmp_path / "place"
    folder.mkdir()
    yield SystemContext(folder, CURRENT, "tiny", {"gate_strict": "off"}, {})
    assert not list(folder.iterdir())
