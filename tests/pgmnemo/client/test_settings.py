"""Settings are those of a memory, also where its connections are others' the next moment."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from pgmnemo import AsyncMemory, Item
from pgmnemo.errors import DatabaseError, RefusedError, UsageError
from tests.pgmnemo.client.driving import Place, Shell
from tests.pooling import Pool

BLIND = {"bm25_weight": 0, "passage_terms_weight": 0}  # words count for nothing
NOTES = [Item("The kettle leaks.", "kettle", commit_sha="c0ffee"), Item("A violin.", "violin")]


@pytest.fixture
def bounced(bouncer: str, place: Place) -> Iterator[Callable[..., Pool]]:
    """Call it with a mode, and how many connections to the server there are, for a PgBouncer of its own."""
    with ExitStack() as stack:

        def start(mode: str, size: int = 1) -> Pool:
            server = {**place.server.conninfo, "dbname": place.name}
            settings = {"pool_mode": mode, "default_pool_size": size}
            return Pool.start(bouncer, stack, server, {"own": {}}, ["alice"], settings)

        yield start


def address(pool: Pool) -> str:
    return " ".join(f"{name}={value}" for name, value in pool.conninfo("alice").items())


def words(scope: Any) -> float:
    """How much the words of a question count for."""
    hit = next(hit for hit in scope.recall("kettle") if hit.key == "kettle")
    return sum(share for name, share in hit.contributions.items() if name in ("bm25", "passage_terms"))


def test_two_memories_of_other_settings_share_connections_in_transaction_mode(
    bounced: Any, shell: Shell, place: Place
) -> None:
    dsn, name = address(bounced("transaction")), place.tenant()
    blind = shell.open(dsn, settings=BLIND).tenant(name).project("p")
    strict = shell.open(dsn, settings={"gate_strict": "enforce"}).tenant(name).project("p")
    plain = shell.open(dsn).tenant(name).project("p")
    plain.add_many(NOTES)
    for _ in range(3):
        assert (words(blind), words(plain) > 0, words(strict) > 0) == (0, True, True)
        assert {hit.key for hit in strict.recall("violin")} == {"kettle"}  # the other has no provenance
        assert "violin" in {hit.key for hit in plain.recall("violin")}
        with pytest.raises(RefusedError, match="commit_sha"):
            strict.add("x", key="k")
        assert plain.add("x", key="k").outcome in ("inserted", "unchanged")
        with pytest.raises(RefusedError, match="commit_sha"):
            strict.add_many(["x"])
        assert plain.add_many([Item("x", "k")]).outcomes == {"unchanged": 1}


async def test_many_calls_at_once_keep_their_tenants_and_settings_apart(bounced: Any, place: Place) -> None:
    dsn = address(bounced("transaction", 2))

    names = [place.tenant(), place.tenant()]
    async with (
        await AsyncMemory.open(dsn, embedder=None, settings=BLIND) as blind,
        await AsyncMemory.open(dsn, embedder=None) as plain,
    ):
        for number, name in enumerate(names):
            text = f"The kettle of {number}."
            await plain.tenant(name).project("p").add_many([Item(text, "kettle"), *NOTES[1:]])

        async def asked(memory: AsyncMemory, number: int) -> None:
            scope = memory.tenant(names[number]).project("p")
            hits = {hit.key: hit for hit in await scope.recall("kettle")}
            assert hits["kettle"].text == f"The kettle of {number}."
            told = hits["kettle"].contributions["passage_terms"]
            assert (told > 0) == (memory is plain)
            await scope.add("said", role="user")

        await asyncio.gather(*(asked(m, n) for _ in range(10) for m in (blind, plain) for n in (0, 1)))
        for name in names:
            found = [one async for one in plain.tenant(name).project("p").list(role="user")]
            assert [one.position for one in found] == list(range(1, 21))


@pytest.mark.parametrize("mode", ["session", "transaction", "statement"])
def test_behind_any_pooler_what_it_can_do_is_done(
    mode: str, bounced: Any, shell: Shell, place: Place
) -> None:
    scope = shell.open(address(bounced(mode)), retry_timeout=0).tenant(place.tenant()).project("p")
    for _ in range(7):  # psycopg would prepare a statement after five times
        scope.add("The kettle leaks.", key="k", importance=4)
        assert [hit.key for hit in scope.recall("kettle")] == ["k"]
    if mode == "statement":
        with pytest.raises(DatabaseError, match="transaction blocks not allowed"):
            scope.add_many(["x"])
    else:
        assert scope.add_many(["x"]).outcomes == {"inserted": 1}


def test_a_connection_that_is_used_again_knows_nothing_of_its_last_user(shell: Shell, place: Place) -> None:
    memory = shell.open(place.dsn(), settings={**BLIND, "tenant_id": "x"}, connections=1)
    scope = memory.tenant(place.tenant()).project("p")
    scope.add_many(NOTES)
    scope.recall("kettle")
    source = getattr(memory, "inner", memory)._executor.source
    [connection] = source._idle
    left = "SELECT coalesce(current_setting('pgmnemo.' || name, true), '') FROM unnest(%s::text[]) AS name"
    names = [*BLIND, "tenant_id", "acting_tenant", "gate_strict"]
    rows = shell.call(shell.call(connection.execute, left, (names,)).fetchall)
    assert {row[0] for row in rows} == {""}


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"asistant_weight": 1}, "there is no setting 'asistant_weight'; those are .*assistant_weight"),
        ({"assistant_weight": "heavy"}, "the setting assistant_weight is 'heavy', but must be a number"),
    ],
)
def test_a_setting_that_there_is_not_is_told_when_the_memory_is_opened(
    given: Any, sentence: str, shell: Shell, place: Place
) -> None:
    with pytest.raises(UsageError, match=sentence):
        shell.open(place.dsn(), settings=given)


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("assistant_weight", -1, "is '-1', but must be"),
        ("time_zone", "No/Land", "is 'No/Land', but must be a"),
    ],
)
def test_a_setting_out_of_range_is_told_by_whoever_uses_it(
    name: str, value: Any, sentence: str, shell: Shell, place: Place
) -> None:
    scope = shell.open(place.dsn(), settings={name: value}).tenant(place.tenant()).project("p")
    with pytest.raises(UsageError, match=f"{name} {sentence}"):
        scope.recall("kettle")


@pytest.mark.parametrize(("pooled", "prepared"), [(False, True), (True, False)])
def test_statements_are_prepared_where_no_pooler_is_between(
    pooled: bool, prepared: bool, bounced: Any, shell: Shell, place: Place
) -> None:
    memory = shell.open(address(bounced("transaction")) if pooled else place.dsn(), connections=1)
    scope = memory.tenant(place.tenant()).project("p")
    for _ in range(7):
        scope.recall("kettle")
    [connection] = getattr(memory, "inner", memory)._executor.source._idle
    [(found,)] = shell.call(
        shell.call(connection.execute, "SELECT count(*) FROM pg_prepared_statements").fetchall
    )
    assert (found > 0) == prepared
