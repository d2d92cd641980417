"""A setting that a call brings along holds for its verb, and for nothing after it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg import errors

from tests.pgmnemo.postgres.memories import POSTGRES
from tests.pooling import Pool
from tests.security.attacked import OURS, PROJECT, A, B, Server

Connection = psycopg.Connection[Any]
NAME = "statement"
KEPT = "SELECT current_setting('pgmnemo.gate_strict', true)"


def under(gate: str, verb: str, tenant: UUID, **given: object) -> tuple[str, tuple[object, ...]]:
    """A verb's statement with the setting gate_strict."""
    named = "".join(f', "{name}" => %s' for name in given)
    statement = (
        "SELECT f.* FROM (SELECT set_config('pgmnemo.gate_strict', %s, true)) AS s (made), "
        f"LATERAL pgmnemo.{verb}(tenant => CASE WHEN made IS NOT NULL THEN %s::uuid END{named}) AS f"
    )
    return statement, (gate, tenant, *given.values())


def store(gate: str, tenant: UUID, key: str, **given: object) -> tuple[str, tuple[object, ...]]:
    return under(gate, "store", tenant, project_id=PROJECT, external_id=key, content="A heron", **given)


@pytest.fixture(scope="module", params=POSTGRES)
def memory(request: pytest.FixtureRequest, servers: dict[int, Server]) -> Server:
    server = servers[request.param]
    server.install(NAME, OURS)
    return server


@pytest.fixture(params=[None, 0], ids=["unprepared", "prepared"])
def client(request: pytest.FixtureRequest, memory: Server) -> Iterator[Connection]:
    with memory.connect(NAME, "alice") as connection:
        connection.prepare_threshold = request.param
        connection.execute("SELECT pgmnemo.forget_all(%s)", (A,))
        yield connection


def test_it_is_in_force_within_the_verb_and_nothing_stays(client: Connection) -> None:
    for number in range(7):  # beyond custom plans
        assert client.execute(*store("off", A, f"k{number}")).fetchall() == [("inserted",)]
        assert client.execute(KEPT).fetchone() in [(None,), ("",)]
    for _ in range(7):
        found = client.execute(*under("off", "recall", A, query_text="heron", duplicates=True)).fetchall()
        assert len(found) == 7
        assert len(client.execute(*under("off", "list", A, project_id=PROJECT)).fetchall()) == 7
        assert client.execute(*under("off", "count", A)).fetchall() == [(7, 0)]
        assert client.execute(*under("enforce", "count", A)).fetchall() == [(0, 7)]
    for verb, given in (("recall", {"query_text": "heron"}), ("list", {})):
        with pytest.raises(errors.ObjectNotInPrerequisiteState):
            client.execute(*under("enforce", verb, A, **given))
    with pytest.raises(errors.CheckViolation):
        client.execute(*store("enforce", A, "m"))
    with pytest.raises(errors.InvalidParameterValue):
        client.execute(*store("off", A, "m", importance=9))
    assert client.execute(KEPT).fetchone() in [(None,), ("",)]


def test_who_calls_is_still_who_calls(client: Connection, memory: Server) -> None:
    for verb, given in (("recall", {"query_text": "heron"}), ("list", {})):
        client.execute(*under("off", verb, A, **given))
        with pytest.raises(errors.InsufficientPrivilege, match="role alice has no grant"):
            client.execute(*under("off", verb, B, **given))
    with memory.connect(NAME) as root, root.transaction():
        root.execute("SET LOCAL ROLE bob")
        root.execute(*under("off", "list", B))
        with pytest.raises(errors.InsufficientPrivilege, match="role bob has no grant"):
            root.execute(*under("off", "list", A))


def test_behind_a_pooler_in_transaction_mode_the_next_client_finds_nothing(
    bouncer: str, memory: Server
) -> None:
    with ExitStack() as stack:
        place = {**memory.conninfo, "dbname": NAME}
        told = {"pool_mode": "transaction", "default_pool_size": 1}
        pool = Pool.start(bouncer, stack, place, {"own": {}}, ["dual"], told)
        first, second = pool.connect("dual"), pool.connect("dual")
        for client in (first, second):
            client.execute("SELECT pgmnemo.forget_all(%s)", (A if client is first else B,))
        for number in range(7):
            assert first.execute(*store("off", A, f"k{number}")).fetchall() == [("inserted",)]
            assert second.execute(KEPT).fetchone() in [(None,), ("",)]
            with pytest.raises(errors.CheckViolation):
                first.execute(*store("enforce", A, "m"))
            assert second.execute("SELECT pgmnemo.store(%s, %s, 'k', 'An otter')", (B, PROJECT)).fetchone()
            assert second.execute(*store("off", B, f"k{number}")).fetchall() == [("inserted",)]
            found = first.execute(*under("off", "list", A)).fetchall()
            assert len(found) == number + 1


def test_passages_take_their_vectors_from_text_wherever_pgvector_is(memory: Server) -> None:
    name = "elsewhere"
    memory.create(name, "CREATE SCHEMA kept", "ALTER EXTENSION vector SET SCHEMA kept",
                  "GRANT USAGE ON SCHEMA kept TO keeper")  # fmt: skip
    with memory.connect(name, "keeper") as owner:
        owner.execute("CREATE EXTENSION pgmnemo")
        owner.execute("SELECT pgmnemo.grant_tenant(%s, 'alice')", (A,))
    vector = "[" + ",".join(["3", "4", *["0"] * 1022]) + "]"
    with memory.connect(name, "alice") as client:
        call = store("off", A, "k", passages=["A heron"], passage_embeddings=f'{{"{vector}"}}')
        assert client.execute(*call).fetchall() == [("inserted",)]
        told = client.execute("SELECT embedding::text FROM pgmnemo.list_vectors(%s)", (A,)).fetchone()
        assert told is not None
        assert told[0].startswith("[0.6")
