"""The public extension `pgmnemo`, in a database that `UPSTREAM_PGMNEMO_DSN` names; not this project's.

Its lessons are rows of `pgmnemo.agent_lesson`, queried by `pgmnemo.recall_lessons(query_embedding, k,
role_filter, project_id_filter, query_text)`. All lessons of one run have a role of their own, which filters
every question and the deletion at the end. Of lessons with one role, topic and commit the newest replaces the
others, in any project, so each has its own topic. A vector narrower than the column is padded with zeros, as
in its own benchmark. Others ran this against 0.20.0 (docs/results/peers.md); the tests run it against a table
and functions with the same behaviour.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

import psycopg
from pgvector.psycopg import register_vector

from pgmnemo.embedders import pad
from pgmnemo.paths import SQL_FOLDER
from pgmnemo.postgres.connections import connect, dsn_label, read_dsn
from pgmnemo.postgres.extension import InstalledVersions, installed_versions
from pgmnemo.postgres.releases import release_fingerprint
from pgmnemo.postgres.server_checks import server_version, value
from pgmnemo.progress import QUIET, Progress
from pgmnemo.records import Matrix
from runner.errors import SystemFault
from runner.systems.system import ClientSystem, Lesson, Lessons, Match, Query, SystemContext, SystemSpec

VARIABLE = "UPSTREAM_PGMNEMO_DSN"
MEND = f"start it, or correct {VARIABLE}"
ROLE = "pgmnemo-bench-"  # prefix of a run's role
TOPIC = "memory"  # joined to the lesson's number, it is a word that no question has
COMMIT = "pgmnemo-bench"  # required by its provenance gate
BATCH = 500
SETTINGS = {"pgmnemo.include_unverified": "on"}
WIDTH = """
SELECT atttypmod FROM pg_attribute
WHERE attrelid = to_regclass('pgmnemo.agent_lesson') AND attname = 'embedding'
"""
FUNCTION = """
SELECT count(*) FROM pg_proc WHERE proname = 'recall_lessons' AND pronamespace = to_regnamespace('pgmnemo')
"""
INSERT = """
INSERT INTO pgmnemo.agent_lesson
    (role, project_id, topic, lesson_text, importance, embedding, verified_at, commit_sha)
VALUES (%s, %s, %s, %s, %s, %s, now(), %s) RETURNING id
"""
ASK = """
SELECT lesson_id, score FROM pgmnemo.recall_lessons(%s::vector, %s, %s, %s, %s)
ORDER BY score DESC, lesson_id LIMIT %s
"""
DELETE = "DELETE FROM pgmnemo.agent_lesson WHERE role = %s"
SIZE = "SELECT coalesce(sum(pg_column_size(own)), 0) FROM pgmnemo.agent_lesson own WHERE role = %s"


class UpstreamClient:
    """A connection to the database of the upstream extension."""

    def __init__(self, system: UpstreamPgmnemo) -> None:
        self._system, self._connection = system, system.connect()

    def ask(self, query: Query, k: int) -> list[Match]:
        system, project = self._system, None
        if query.project is not None:
            project = system.projects.get(query.project)
            if project is None:  # nothing was stored there
                return []
        values = (system.padded(query.vector), k, system.role, project, query.text, k)
        rows = self._connection.execute(ASK, values).fetchall()
        return [Match(system.numbers.get(lesson, -1), float(score)) for lesson, score in rows]

    def close(self) -> None:
        self._connection.close()


class UpstreamPgmnemo(ClientSystem[UpstreamClient]):
    """The upstream extension in a user's database that may have other data.

    Its rows are deleted at the end.
    """

    def __init__(self, context: SystemContext) -> None:
        super().__init__()
        self._conninfo = read_dsn(context.environ.get(VARIABLE, ""), f"the DSN in {VARIABLE}")
        self.role = f"{ROLE}{uuid4().hex[:12]}"
        self.projects: dict[str, int] = {}
        self.numbers: dict[int, int] = {}  # lesson id in the table → lesson number
        with connect(self._conninfo, mend=MEND) as login:
            found = installed_versions(login)
            _check(login, found, _where(self._conninfo))
            self._width = int(value(login, WIDTH) or -1)  # -1: of any width
            self._facts = {
                "version": found.pgmnemo or "not known", "postgresql": server_version(login),
                "pgvector": found.vector or "", **SETTINGS, "embedding": f"vector({self._width})",
            }  # fmt: skip

    def connect(self) -> psycopg.Connection[Any]:
        """Return one more connection, with the settings of a run."""
        connection = connect(
            self._conninfo, *(f"{name}={setting}" for name, setting in SETTINGS.items()), mend=MEND
        )
        register_vector(connection)
        return connection

    def padded(self, vector: Matrix | None) -> Matrix | None:
        """Return the vector, padded with zeros to the width of the column."""
        if vector is None or self._width < 0 or len(vector) == self._width:
            return vector
        if len(vector) > self._width:
            raise SystemFault(
                f"upstream-pgmnemo keeps vectors of {self._width} dimensions, and these have {len(vector)}; "
                "choose another embedder"
            )
        return pad(vector, self._width)

    def load(self, lessons: Lessons, progress: Progress = QUIET) -> Mapping[str, float]:
        self.projects = {name: number for number, name in enumerate(lessons.projects, start=1)}
        began = time.perf_counter()
        self._stack.callback(self._remove)
        with self.connect() as connection:
            batches = progress.track(range(0, len(lessons), BATCH), "upstream pgmnemo: batches")
            for start in batches:
                self._store(connection, lessons[start : start + BATCH])
            stored = time.perf_counter()
            connection.execute("ANALYZE pgmnemo.agent_lesson")
        return {"store": stored - began, "analyze": time.perf_counter() - stored}

    def _store(self, connection: psycopg.Connection[Any], part: Sequence[Lesson]) -> None:
        with connection.transaction(), connection.cursor() as cursor:
            cursor.executemany(INSERT, [self._row(lesson) for lesson in part], returning=True)
            for lesson in part:
                self.numbers[cursor.fetchall()[0][0]] = lesson.number
                cursor.nextset()

    def _row(self, lesson: Lesson) -> tuple[Any, ...]:
        topic = f"{lesson.topic or ''} {TOPIC}{lesson.number}".strip()
        return (
            self.role, self.projects[lesson.project], topic, lesson.text, lesson.importance,
            self.padded(lesson.vector), COMMIT,
        )  # fmt: skip

    def _remove(self) -> None:
        with self.connect() as connection:
            connection.execute(DELETE, (self.role,))

    def client(self, settings: Mapping[str, str] | None = None) -> UpstreamClient:
        """Return one more connection; there are no settings."""
        return UpstreamClient(self)

    def facts(self) -> Mapping[str, str]:
        return self._facts

    def sizes(self) -> Mapping[str, int]:
        with self.connect() as connection:
            return {"own rows, without indexes": int(value(connection, SIZE, self.role))}


def _where(conninfo: Mapping[str, Any]) -> str:
    return f"the database at {dsn_label(conninfo)}, which {VARIABLE} names,"


def _check(connection: psycopg.Connection[Any], found: InstalledVersions, where: str) -> None:
    """Raise SystemFault unless the database has the upstream extension, as far as can be determined."""
    ours = release_fingerprint(SQL_FOLDER, found.pgmnemo) if found.pgmnemo else None
    if ours is not None and found.fingerprint == ours:
        raise SystemFault(
            f"{where} holds pgmnemo {found.pgmnemo} of this repository, not the upstream extension of that "
            "name; name a database that holds that one"
        )
    lacking = [
        what for what, there in {
            "table pgmnemo.agent_lesson": value(connection, WIDTH) is not None,
            "function pgmnemo.recall_lessons": bool(value(connection, FUNCTION)),
        }.items() if not there
    ]  # fmt: skip
    if lacking:
        raise SystemFault(
            f"{where} has no {' and no '.join(lacking)}; name a database that holds the upstream extension "
            "pgmnemo"
        )


def _missing(environ: Mapping[str, str]) -> str:
    if environ.get(VARIABLE, "").strip():
        return ""
    return f"given no database: {VARIABLE} names none; set it to one that holds the public extension pgmnemo"


UPSTREAM_PGMNEMO = SystemSpec(
    "pgmnemo (upstream)",
    "the public extension of that name, recall_lessons with its defaults, each lesson under a topic of its "
    "own; given texts and vectors, no times",
    UpstreamPgmnemo,
    missing=_missing,
    passages=True,
    postgres=True,
)
