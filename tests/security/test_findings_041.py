"""Each finding of the review of 0.4.1: the attack still finds the hole there, and nothing in ours.

Of N9, N10 and N12, which are documented, tests/sql/test_dump.py and test_readme.py tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from time import perf_counter
from typing import Any

import psycopg
import pytest
from psycopg import errors, sql

from tests.security.attacked import OURS, PROJECT, A, B, Site, attempt, vector
from tests.security.verbs import VERBS
from tests.sql.conftest import POSTGRES

Connection = psycopg.Connection[Any]
REVIEWED = "0.4.1"
LEVELS = pytest.mark.parametrize("level", ["REPEATABLE READ", "SERIALIZABLE"])


@pytest.fixture(params=[REVIEWED, OURS])
def site(request: pytest.FixtureRequest, make_site: Callable[..., Site]) -> Site:
    return replace(make_site(request.param, on=POSTGRES), reviewed=REVIEWED)


def sent(client: Connection, statement: str, *values: object) -> str | None:
    """Why PostgreSQL refused a statement; None where it did not."""
    try:
        client.execute(statement, values or None)
    except psycopg.Error as error:
        return error.sqlstate or ""
    return None


def seconds(act: Callable[[], object]) -> float:
    """How long it took, whether it was refused or not."""
    begun = perf_counter()
    with suppress(psycopg.Error):
        act()
    return perf_counter() - begun


def grants(site: Site, *calls: str) -> None:
    """As the extension's owner, in one transaction."""
    with site.connect("keeper") as owner, owner.transaction():
        for call in calls:
            owner.execute(f"SELECT pgmnemo.{call}")


READ = f"SELECT * FROM pgmnemo.list_lessons('{A}')"
WRITE = f"SELECT pgmnemo.store('{A}', '{PROJECT}', 'late', 'a late lesson')"
REVOKE, GRANT = f"revoke_tenant('{A}', 'alice')", f"grant_tenant('{A}', 'alice')"


@LEVELS
@pytest.mark.parametrize("kind", ["read", "write", "read only", "imported"])
def test_n1_a_revoke_binds_open_transactions_and_imported_snapshots(site: Site, level: str, kind: str) -> None:
    alice, second = site.connect("alice", A), site.connect("alice", A)
    site.store(alice, A, "x", "the river")
    alice.execute(f"BEGIN ISOLATION LEVEL {level} {'READ ONLY' if kind == 'read only' else ''}")
    assert sent(alice, READ) is None
    [snapshot] = alice.execute("SELECT pg_export_snapshot()").fetchone()
    grants(site, REVOKE)
    if kind == "imported":
        second.execute(f"BEGIN ISOLATION LEVEL {level} READ WRITE")
        second.execute(sql.SQL("SET TRANSACTION SNAPSHOT {}").format(snapshot))
    refused = [
        sent(second if kind == "imported" else alice, call)
        for call in ([WRITE] if kind == "write" else [READ])
    ]
    assert refused in ([None], ["40001"])
    site.holds([call for call in refused if call is None])


@LEVELS
def test_n1_a_role_learns_its_tenant_and_grants_no_more(site: Site, level: str) -> None:
    told = []
    for call in ("current_tenant()", "list_grants()"):
        grants(site, GRANT)
        with site.connect("alice", A) as alice:
            alice.execute(f"BEGIN ISOLATION LEVEL {level}")
            assert sent(alice, f"SELECT * FROM pgmnemo.{call}") is None
            grants(site, REVOKE)
            if sent(alice, f"SELECT * FROM pgmnemo.{call}") is None:
                told.append(call)
    site.holds(told)


def test_n1_of_two_ways_to_a_tenant_the_one_that_is_left_serves_the_repeated_transaction(site: Site) -> None:
    root = site.connect()
    root.execute("DROP ROLE IF EXISTS crew")
    root.execute("CREATE ROLE crew ROLE alice")
    try:
        grants(site, f"grant_tenant('{A}', 'crew')")
        alice, dual = site.connect("alice", A), site.connect("dual", A)
        for client in (alice, dual):
            client.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
            assert sent(client, READ) is None
        grants(site, REVOKE)
        assert sent(dual, READ) is None  # whom no revoked grant reached
        site.holds([call for call in (READ,) if sent(alice, call) is None])
        alice.execute("ROLLBACK")
        alice.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        assert sent(alice, READ) is None
        alice.execute("ROLLBACK")
        grants(site, f"revoke_tenant('{A}', 'crew')")
    finally:
        root.execute("DROP ROLE crew")


@pytest.mark.parametrize("within", ["transaction", "savepoint"])
@pytest.mark.parametrize("mode", ["READ WRITE", "READ ONLY"])
def test_n1_a_revoke_that_is_rolled_back_locks_nobody_out(
    make_site: Callable[..., Site], within: str, mode: str
) -> None:
    site = make_site(OURS)
    alice, owner = site.connect("alice", A), site.connect("keeper")
    begin = f"BEGIN ISOLATION LEVEL REPEATABLE READ {mode}"
    alice.execute(begin)
    assert sent(alice, READ) is None
    owner.execute("BEGIN")
    owner.execute("SAVEPOINT s")
    owner.execute(f"SELECT pgmnemo.{REVOKE}")
    assert sent(alice, READ) == "40001"  # nobody knows yet
    owner.execute("ROLLBACK" if within == "transaction" else "ROLLBACK TO s; COMMIT")
    alice.execute("ROLLBACK")
    for _ in range(2):
        alice.execute(begin)
        assert sent(alice, READ) is None
        alice.execute("COMMIT")
    assert sent(alice, WRITE) is None


def test_n1_a_grant_that_is_given_again_holds_from_the_next_transaction_on(
    make_site: Callable[..., Site],
) -> None:
    site = make_site(OURS)
    alice = site.connect("alice", A)
    alice.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
    assert sent(alice, READ) is None
    grants(site, REVOKE, GRANT)
    assert sent(alice, WRITE) == "40001"
    alice.execute("ROLLBACK")
    alice.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
    assert sent(alice, WRITE) is None


def test_n1_read_committed_is_asked_nothing_more(make_site: Callable[..., Site]) -> None:
    """The sequence is a relation that would be locked."""
    site = make_site(OURS)
    alice = site.connect("alice", A)
    for level, read in (("READ COMMITTED", 0), ("REPEATABLE READ", 1)):
        with alice.transaction():
            alice.execute(f"SET TRANSACTION ISOLATION LEVEL {level}")
            alice.execute(READ)
            locks = "SELECT count(*) FROM pg_locks WHERE pid = %s AND relation = 'pgmnemo.revocation_seq'::regclass"
            assert site.rows(locks, alice.info.backend_pid) == [(read,)]


@pytest.mark.parametrize(
    "places", [(2**31 - 1,), (2**31 - 2,), (-(2**31),), (1 - 2**31,), (1_500_000_000, -1_500_000_000)]
)
def test_n2_no_position_fails_a_recall(site: Site, places: tuple[int, ...]) -> None:
    """It is refused, and one that an older version took does no harm."""
    alice, failed = site.connect("alice", A), []
    for number, place in enumerate(places):
        refused = sent(alice, f"SELECT pgmnemo.store('{A}', '{PROJECT}', 'x{number}', 'the river', "
                              f"\"position\" => {place})")  # fmt: skip
        assert refused == (None if site.old else "22023")
        site.store(alice, A, f"x{number}", "the river", position=number)
        site.run(f"UPDATE pgmnemo.lesson SET position = {place} WHERE external_id = 'x{number}'")
    if state := sent(alice, f"SELECT * FROM pgmnemo.recall('{A}', query_text => 'river')"):
        failed.append(state)
    site.holds(failed)


def test_n2_positions_at_the_limits_are_neighbours(make_site: Callable[..., Site]) -> None:
    site = make_site(OURS)
    alice = site.connect("alice", A)
    most = 1_000_000_000
    for place in (most, most - 1, -most, 1 - most):
        site.store(alice, A, str(place), "the river" if abs(place) == most else "nothing", position=place)
    lifted = f"SELECT external_id FROM pgmnemo.recall('{A}', query_text => 'river') WHERE neighbours > 0"
    assert {row[0] for row in alice.execute(lifted)} == {str(most - 1), str(1 - most)}


BOMB = {"large": "[" + ", ".join(["1e131000"] * 9000) + "]", "long": "[" + ", ".join(["1e-16000"] * 9000) + "]"}


@pytest.mark.parametrize("kind", BOMB)
def test_n3_metadata_that_cannot_be_dumped_are_named(site: Site, kind: str) -> None:
    """As 0.3.1 took them."""
    alice = site.connect("alice", A)
    site.store(alice, A, "bomb", "small")
    site.store(alice, A, "plain", "small", metadata='{"a": [1e308, -1.5, {"b": 1e-400}]}')
    site.run(f"UPDATE pgmnemo.lesson SET metadata = '{BOMB[kind]}' WHERE external_id = 'bomb'")
    named = [row[3] for row in site.check(alice, A)]
    assert named == ([] if site.old else ["bomb"])
    said: list[str] = []
    alice.add_notice_handler(lambda notice: said.append(notice.message_primary or ""))
    alice.execute(f"SELECT pgmnemo.repair('{A}')")
    assert [line for line in said if "'bomb'" in line and "plain" not in line and len(line) < 200] == (
        [] if site.old else said
    )
    assert site.rows("SELECT jsonb_array_length(metadata) FROM pgmnemo.lesson WHERE external_id = 'bomb'") == [
        (9000,)
    ]
    site.holds([] if named else ["nothing is said"])
    assert site.store(alice, A, "bomb", "small", metadata='{"a": 1}') == "updated"
    assert site.check(alice, A) == []
    assert "error" not in site.server.program("pg_dump", site.name, "-f", "/dev/null")
