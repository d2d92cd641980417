"""A dump that is restored keeps lessons, edges, grants, and every answer."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from pgmnemo.postgres.server_files import installation

Connection = psycopg.Connection[Any]


@pytest.fixture
def restored(owner: Connection, database: Any) -> Iterator[Callable[[], Connection]]:
    """Call it to dump the database and get a connection to its restored copy."""
    with ExitStack() as stack:

        def restore() -> Connection:
            bin_folder = installation(int(database.facts.postgresql.split(".")[0])) / "bin"
            owner.execute("CREATE DATABASE restored")
            stack.callback(owner.execute, "DROP DATABASE restored WITH (FORCE)")
            dumped = call(bin_folder / "pg_dump", database.conninfo, database.facts.database)
            quietly = ("-q", "-v", "ON_ERROR_STOP=1")
            call(bin_folder / "psql", database.conninfo, "restored", *quietly, input_=dumped)
            copy = psycopg.connect(**{**database.conninfo, "dbname": "restored"}, autocommit=True)
            return stack.enter_context(copy)

        yield restore


def call(program: Path, conninfo: Any, database: str, *options: str, input_: str | None = None) -> str:
    command = [program, *options, "-d", make_conninfo(**{**conninfo, "dbname": database})]
    done = subprocess.run(command, input=input_, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_restored_dump_answers_the_same(tenant: Any, restored: Any, unit: Any) -> None:
    assert tenant.value("SELECT pgmnemo.set_language(NULL, 'de')") == "german"
    tenant.set(text_config="simple")
    parts = ["the rivers", "rivers of the north", "north"]
    tenant.store("simple", "the rivers of the north", embedding=unit(1), passages=parts,
                 passage_embeddings=[unit(1), np.eye(1, 384, 383)[0], None])  # fmt: skip
    tenant.set(text_config="english", hnsw_min_vectors=0)
    tenant.store(
        "english", "rivers and lanterns", embedding=unit(1, 1), topic="north", occurred_at="2025-01-01"
    )
    tenant.store("gone", "rivers")
    tenant.link("simple", "english", weight=0.5)
    tenant.value("SELECT pgmnemo.forget(NULL, %s, 'gone')", tenant.project)
    recall = (
        "SELECT r.* FROM pgmnemo.recall_lessons(%s::real[], 10, 'the river north lanterns', "
        "as_of => '2025-06-01') r"
    )
    tenant.value("SELECT pgmnemo.index()")
    before = tenant.rows(recall, unit(1).tolist())
    held = (
        "SELECT l::text FROM pgmnemo.lessons l UNION ALL SELECT p::text FROM pgmnemo.passages p "
        "UNION ALL SELECT v::text FROM pgmnemo.vectors v UNION ALL SELECT e::text FROM pgmnemo.edges e "
        "ORDER BY 1"
    )
    rows = tenant.rows(held)
    assert len(rows) == 3 + 3 + 4 + 1

    copy = restored()
    for name, value in (("tenant_id", str(tenant.id)), ("gate_strict", "off")):
        copy.execute("SELECT set_config(%s, %s, false)", (f"pgmnemo.{name}", value))
    copy.execute(f"SET ROLE {tenant.database.facts.role}")
    assert copy.execute("SELECT pgmnemo.language(NULL)").fetchone() == ("german",)
    assert copy.execute(held).fetchall() == rows
    assert copy.execute(recall, (unit(1).tolist(),)).fetchall() == before
    marked = "SELECT number, indexed FROM pgmnemo.vectors WHERE indexed"
    assert copy.execute(marked).fetchall() == tenant.rows(marked) != []
    best = (
        "SELECT r.passage FROM pgmnemo.recall_lessons(query_text => 'north') r WHERE external_id = 'simple'"
    )
    assert copy.execute(best).fetchone() == tuple(*tenant.rows(best))
    stored = copy.execute("SELECT pgmnemo.store(NULL, %s, 'new', 'rivers')", (tenant.project,)).fetchone()
    assert stored == ("inserted",)
    assert copy.execute("SELECT * FROM pgmnemo.check()").fetchall() == []
    copy.execute("SET pgmnemo.hnsw_min_vectors = 0")
    store = "SELECT pgmnemo.store(NULL, %s, 'newer', 'rivers', %s::real[])"
    for _ in range(2):
        copy.execute(store, (tenant.project, unit(2, 1).tolist()))
    assert copy.execute("SELECT bool_and(indexed) FROM pgmnemo.vectors").fetchone() == (True,)
    assert copy.execute("SELECT * FROM pgmnemo.check()").fetchall() == []
