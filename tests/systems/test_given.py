"""On a server that somebody else keeps, a system leaves nothing of its own behind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from runner.database.embedded import embedded_server
from runner.database.plain import NAME
from runner.database.releases import SQL_FOLDER
from runner.systems import Place, absent, kind_of, open_system

LEFT = """
SELECT nspname FROM pg_namespace WHERE nspname LIKE 'memory%'
UNION ALL SELECT relname FROM pg_class WHERE relname LIKE 'memory%'
"""


@pytest.fixture(scope="module")
def server() -> Iterator[dict[str, str]]:
    with embedded_server(SQL_FOLDER, None) as conninfo:
        yield conninfo


@pytest.mark.parametrize("name", ["gin-hnsw", "pgvector", "langgraph"])
def test_nothing_of_it_stays(name: str, place: Place, server: dict[str, str], tiny: Any) -> None:
    if sentence := absent(kind_of(name)):
        pytest.skip(sentence)
    given = replace(place, dsn=make_conninfo(**server))
    with psycopg.connect(make_conninfo(**server)) as login:
        login.execute("SELECT 1")
    with open_system(name, given) as system:
        system.load(tiny)
        with psycopg.connect(make_conninfo(**{**server, "dbname": NAME})) as within:
            assert within.execute(LEFT).fetchall()
    with psycopg.connect(make_conninfo(**{**server, "dbname": NAME})) as afterwards:
        assert afterwards.execute(LEFT).fetchall() == []
