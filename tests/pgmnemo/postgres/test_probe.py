"""A client learns in one round trip whether a database will do, and says in one sentence why it will not."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import psycopg
import pytest

from pgmnemo import calls
from pgmnemo.errors import DatabaseError
from pgmnemo.probe import EXTENSION, MIN_VERSION, PLAIN_SQL, CatalogRow, ServerInfo, check_compatible, probe
from tests.pgmnemo.postgres.memories import POSTGRES
from tests.pooling import Pool
from tests.security.attacked import OURS, Server

WHERE = "the database at here"
OURS_SEEN = CatalogRow("alice", False, 7, True, OURS, f" SELECT '{OURS}' ", True, "public", 16390)


def opened(connection: psycopg.Connection[Any]) -> ServerInfo:
    return calls.execute(connection, probe(WHERE, OURS))


def refusal(seen: CatalogRow, package: str = OURS) -> str:
    with pytest.raises(DatabaseError) as caught:
        check_compatible(seen, WHERE, package)
    return str(caught.value)


@pytest.fixture(scope="module", params=POSTGRES)
def memory(request: pytest.FixtureRequest, servers: dict[int, Server]) -> Server:
    return servers[request.param]


def test_a_database_tells_version_role_and_pgvector(memory: Server) -> None:
    memory.install("opened", OURS)
    with memory.connect("opened", "alice") as client:
        told = opened(client)
        assert (told.version, told.installation, told.role, told.bypasses_policies) == (
            OURS,
            EXTENSION,
            "alice",
            False,
        )
        assert client.execute("SELECT 'public.vector'::regtype::oid::bigint").fetchone() == (told.vector_oid,)
        assert told.vector_schema == "public"
        assert told.backend_pid == client.info.backend_pid
    with memory.connect("opened") as root:
        assert opened(root).bypasses_policies
        root.execute("ALTER SCHEMA public RENAME TO kept")
        assert opened(root).vector_schema == "kept"


def test_behind_a_pooler_the_server_process_is_another_than_the_connection_says(
    bouncer: str, memory: Server
) -> None:
    memory.install("pooled", OURS)
    with ExitStack() as stack:
        place = {**memory.conninfo, "dbname": "pooled"}
        pool = Pool.start(bouncer, stack, place, {"own": {}}, ["alice"], {"pool_mode": "transaction"})
        client = pool.connect("alice")
        assert opened(client).backend_pid != client.info.backend_pid


@pytest.mark.parametrize("version", [MIN_VERSION, OURS, f"{OURS}9"])
def test_from_the_first_that_is_needed_to_any_patch_of_the_packages_own_every_version_will_do(
    version: str,
) -> None:
    for extension, how in ((version, EXTENSION), (None, PLAIN_SQL)):
        seen = OURS_SEEN._replace(extension=extension, body=f" SELECT '{version}' ")
        assert check_compatible(seen, WHERE, OURS) == ServerInfo(
            version, how, "alice", False, "public", 16390, 7
        )


def test_what_will_not_do_is_said_with_what_to_run() -> None:
    """tests/pgmnemo/client/test_broken.py has more, of real databases."""
    old = OURS_SEEN._replace(extension=None, body=" SELECT '0.6.1' ")
    assert refusal(old).endswith("run mnemo init --dsn")
    for version in ("1.1.0", "2.0.0"):
        newer = OURS_SEEN._replace(extension=version, body=f" SELECT '{version}' ")
        assert f"has pgmnemo {version}, which is newer than this package (1.0.3)" in refusal(newer, "1.0.3")
    for other in ({"has_verbs": False}, {"body": "SELECT version()"}):
        seen = OURS_SEEN._replace(extension="0.20.0", **other)
        assert "another extension named pgmnemo (0.20.0)" in refusal(seen)
    assert "pgvector" in refusal(OURS_SEEN._replace(vector_oid=None))
