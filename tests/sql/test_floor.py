"""Before pgvector 0.8.4 (Debian 13: 0.8.0) no vector enters an HNSW index: recall is exact, and says so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from pgmnemo.errors import DatabaseError
from pgmnemo.paths import SQL_FOLDER
from pgmnemo.postgres.server_files import EXTENDED, installation
from pgmnemo.postgres.servers import temporary_server

Connection = psycopg.Connection[Any]
AGENT, OWNER = "floor_agent", "floor_owner"


@pytest.fixture(scope="module")
def server() -> Iterator[dict[str, Any]]:
    """PostgreSQL 18 with pgvector 0.8.1."""
    try:
        installation(18, EXTENDED)
    except DatabaseError as error:
        pytest.skip(str(error))
    preload = {"shared_preload_libraries": "pg_textsearch"}
    with temporary_server(SQL_FOLDER, None, bundle=EXTENDED, settings=preload) as conninfo:
        yield conninfo


@pytest.fixture(scope="module")
def told(server: dict[str, Any]) -> list[str]:
    """What is said while an ordinary role makes the extension."""
    said: list[str] = []
    with psycopg.connect(**server, autocommit=True) as connection:
        connection.add_notice_handler(lambda notice: said.append(str(notice.message_primary)))
        for statement in (
            "CREATE EXTENSION vector", f"CREATE ROLE {OWNER}", f"CREATE ROLE {AGENT}",
            f"GRANT CREATE ON DATABASE postgres TO {OWNER}", f"SET ROLE {OWNER}", "CREATE EXTENSION pgmnemo",
        ):  # fmt: skip
            connection.execute(statement)
    return said


def test_it_is_said_when_the_extension_is_made(told: list[str]) -> None:
    assert [one for one in told if "before 0.8.4" in one]


def test_a_large_scope_is_read_exactly(server: dict[str, Any], told: list[str]) -> None:
    assert told
    tenant, project = uuid4(), uuid4()
    with psycopg.connect(**server, autocommit=True) as connection:
        said: list[str] = []
        connection.add_notice_handler(lambda notice: said.append(str(notice.message_primary)))
        connection.execute(f"SET ROLE {OWNER}")
        connection.execute("SELECT pgmnemo.grant_tenant(%s, %s)", (tenant, AGENT))
        connection.execute(f"SET ROLE {AGENT}")
        connection.execute("SET pgmnemo.hnsw_min_vectors = 0")
        store = (
            "SELECT pgmnemo.store(%s, %s, 'n' || n, 'lesson ' || n, commit_sha => 'c0ffee', embedding => "
            "(SELECT array_agg(sin(n * d)::real) FROM generate_series(1, 1024) d)) "
            "FROM generate_series(1, 40) n"
        )
        connection.execute(store, (tenant, project))
        flags = "SELECT count(*) FILTER (WHERE indexed), count(*) FROM pgmnemo.list_vectors(%s)"
        assert connection.execute(flags, (tenant,)).fetchone() == (0, 40)
        assert connection.execute("SELECT pgmnemo.index(%s)", (tenant,)).fetchone() == (0,)
        assert [one for one in said if "read exactly" in one]
        recall = (
            "SELECT external_id FROM pgmnemo.recall(%s, k => 1, mode => 'vector', embedding => "
            "(SELECT array_agg(sin(7 * d)::real) FROM generate_series(1, 1024) d))"
        )
        assert connection.execute(recall, (tenant,)).fetchone() == ("n7",)
