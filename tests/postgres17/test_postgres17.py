"""PostgreSQL 17.5 with pgvector 0.8.0, Debian 13's pair, answers as the embedded PostgreSQL 18 does.

It runs as WebAssembly in Node (npm package @electric-sql/pglite): `make servers`. The same statements go
to both servers. Arithmetic of another compiler may move the last bits of a cosine.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import psycopg
import pytest

from pgmnemo.embedders import EMBEDDERS, EmbedderOptions, pad
from pgmnemo.paths import SQL_FOLDER
from pgmnemo.postgres.servers import temporary_server
from pgmnemo.records import Matrix
from runner.bench.workload import CorpusLessons, IndexedQuestion, Workload
from runner.protocol.datasets import SUITES
from runner.protocol.templates.embedding import embed_corpus
from tests.helping import CURRENT

HERE = Path(__file__).parent
NODE = shutil.which("node")
TENANT = UUID(int=17 << 64)
NOW = datetime(2020, 1, 1, tzinfo=UTC)
CLOSE = 1e-5  # cosines of vectors in half precision, summed up in another order
MODES = ("hybrid", "keyword", "vector")
COMPONENTS = ("bm25", "passage_terms", "passage_cosine", "pair_cosine", "cosine", "temporal", "context",
              "neighbours", "recency", "importance", "graph")  # fmt: skip
WORDS_ALONE = ("bm25", "passage_terms")
STORE = """
SELECT pgmnemo.store(NULL, $1::uuid, $2::text, $3::text, embedding => $4::vector::real[], role => $5::text,
    topic => $6::text, importance => $7::integer, occurred_at => $8::timestamptz, passages => $9::text[],
    passage_embeddings => $10::text[]::vector[])
"""
RECALL = f"""
SELECT external_id, score, passage, {", ".join(COMPONENTS)}
FROM pgmnemo.recall_lessons($1::vector::real[], 50, $2::text, $3::uuid, $4::timestamptz, mode => $5::text)
"""
Rows = list[list[Any]]
Ask = Callable[..., Rows]
pytestmark = pytest.mark.skipif(
    NODE is None or not (HERE / "node_modules").is_dir(),
    reason="PostgreSQL 17 comes with npm: run make servers",
)


class Wasm:
    """PostgreSQL 17 in a process of Node."""

    def __init__(self) -> None:
        assert NODE is not None, "skipped without Node"
        self._process = subprocess.Popen(
            [NODE, str(HERE / "server.mjs"), str(SQL_FOLDER)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.warnings: list[str] = []

    def ask(self, statement: str, *values: object) -> Rows:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"statement": statement, "values": values}) + "\n")
        self._process.stdin.flush()
        found = json.loads(self._process.stdout.readline())
        self.warnings += found["warnings"]
        assert "error" not in found, found["error"]
        rows: Rows = found["rows"]
        return rows

    def close(self) -> None:
        self._process.communicate()
        assert self._process.returncode == 0


@pytest.fixture
def wasm() -> Iterator[Wasm]:
    made = Wasm()
    yield made
    made.close()


@pytest.fixture(scope="module")
def native() -> Iterator[Ask]:
    """PostgreSQL 18, with the current version."""
    with (
        temporary_server(SQL_FOLDER, CURRENT) as conninfo,
        psycopg.connect(**conninfo, autocommit=True, cursor_factory=psycopg.RawCursor) as connection,
    ):

        def ask(statement: str, *values: object) -> Rows:
            cursor = connection.execute(statement.encode(), values or None)
            return [list(row) for row in cursor.fetchall()] if cursor.description else []

        install(ask, CURRENT)
        store(ask)
        yield ask


@pytest.fixture(scope="module")
def material() -> Workload:
    return made_material()


def made_material() -> Workload:
    """The committed sample, with hashed words for vectors: no model is needed."""
    suite = SUITES["sample"]
    corpus = suite.load(suite.locate(None, os.environ))
    embedder = EMBEDDERS["hash"](EmbedderOptions(dimensions=384))
    vectors = embed_corpus(corpus, embedder, None, passages=True)
    asked = tuple(IndexedQuestion(place, question) for place, question in enumerate(corpus.questions))
    return Workload(corpus, vectors, asked, CorpusLessons(corpus, vectors, "postgres17"))


def literal(row: Matrix | None) -> str | None:
    """A vector at the stored width, as pgvector reads it."""
    if row is None:
        return None
    return "[" + ",".join(repr(float(number)) for number in pad(np.asarray(row)[None])[0]) + "]"


def moment(value: datetime | None) -> str | None:
    return None if value is None else value.isoformat()


def install(ask: Ask, version: str, owner: str = "keeper") -> None:
    """Owned by an ordinary role, and for another one, who works with it.

    The schema is there before, for in this PostgreSQL 17 GRANT … ON DATABASE fails (tuple concurrently
    deleted).
    """
    for statement in (
        "CREATE EXTENSION vector SCHEMA public", "CREATE ROLE keeper", "CREATE ROLE agent",
        f"CREATE SCHEMA pgmnemo AUTHORIZATION {owner}", f"SET ROLE {owner}",
        f"CREATE EXTENSION pgmnemo VERSION '{version}'",
        f"SELECT pgmnemo.grant_tenant('{TENANT}', 'agent')", "SET ROLE agent",
        f"SELECT set_config('pgmnemo.tenant_id', '{TENANT}', false)",
        "SELECT set_config('pgmnemo.gate_strict', 'off', false)", "SET TimeZone = 'UTC'",
    ):  # fmt: skip
        ask(statement)


def store(ask: Ask) -> None:
    """The sample's lessons, one by one."""
    for lesson in made_material().lessons:
        parts = lesson.passage_vectors
        ask(
            STORE, lesson.project, lesson.external_id, lesson.text, literal(lesson.vector), lesson.role,
            lesson.topic, lesson.importance, moment(lesson.occurred_at), list(lesson.passages) or None,
            None if parts is None else [literal(row) for row in parts],
        )  # fmt: skip


def same(ask: Ask, other: Ask, material: Workload) -> int:
    """Ask both everything; how many rows were compared."""
    compared = 0
    for scope in material.corpus.scopes:
        for query in material.queries(material.asked, scope):
            for mode in MODES:
                values = (literal(query.vector), query.text, query.project, moment(query.as_of or NOW), mode)
                compared += alike(ask(RECALL, *values), other(RECALL, *values), mode)
    return compared


def alike(found: Rows, wanted: Rows, mode: str) -> int:
    """Ids and passages are the same, what words give is the same to the bit, and cosines nearly."""
    assert [(row[0], row[2]) for row in found] == [(row[0], row[2]) for row in wanted]
    for row, other in zip(found, wanted, strict=True):
        ours, theirs = (dict(zip(COMPONENTS, one[3:], strict=True)) for one in (row, other))
        assert [ours[name] for name in WORDS_ALONE] == [theirs[name] for name in WORDS_ALONE]
        if mode == "keyword":
            assert row[1] == other[1]
        for name in ("cosine", "passage_cosine", "pair_cosine"):
            assert (ours[name] is None) == (theirs[name] is None)
            assert ours[name] is None or math.isclose(ours[name], theirs[name], rel_tol=0, abs_tol=CLOSE)
    return len(found)


def test_it_is_the_pair_that_debian_13_ships(wasm: Wasm) -> None:
    wasm.ask("CREATE EXTENSION vector")
    [(version, vector)] = wasm.ask(
        "SELECT current_setting('server_version_num')::integer / 10000, extversion FROM pg_extension "
        "WHERE extname = 'vector'"
    )
    assert (version, vector) == (17, "0.8.0")


def test_a_fresh_installation_answers_as_postgresql_18_does(
    wasm: Wasm, native: Ask, material: Workload
) -> None:
    install(wasm.ask, CURRENT)
    assert [one for one in wasm.warnings if "before 0.8.4" in one]
    store(wasm.ask)
    assert same(wasm.ask, native, material) > 1000


def test_an_update_answers_as_postgresql_18_does(wasm: Wasm, native: Ask, material: Workload) -> None:
    """Owned by the superuser: this PostgreSQL 17 overlooks that everybody may read some catalogues, such as
    pg_operator, which the update looks into."""
    install(wasm.ask, "0.6.1", "postgres")
    store(wasm.ask)
    wasm.ask("RESET ROLE")
    wasm.ask("ALTER EXTENSION pgmnemo UPDATE")
    wasm.ask("SET ROLE agent")
    assert [one for one in wasm.warnings if "before 0.8.4" in one]
    assert wasm.ask("SELECT pgmnemo.version()") == [[CURRENT]]
    assert same(wasm.ask, native, material) > 1000
