"""The doctor tells what is there and what is wrong, with what to run, and changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pgmnemo.paths import SQL_FOLDER
from pgmnemo.postgres.doctor import FAULT, OK, WARNING, DoctorFinding, diagnose, index_health
from pgmnemo.postgres.doctor.database import server_clock
from pgmnemo.postgres.install import install_into_database
from pgmnemo.postgres.releases import release_fingerprint
from pgmnemo.probe import PLAIN_SQL
from tests.pgmnemo.postgres.conftest import GivenServer
from tests.pgmnemo.postgres.memories import POSTGRES
from tests.pgmnemo.postgres.test_install import conninfo
from tests.pooling import Pool
from tests.security.attacked import OURS, PROJECT, A, B, Server

NAME = "examined"
WELL = {"server": OK, "clock": OK, "pgvector": OK, "pgmnemo": OK, "functions": OK, "role": OK, "grants": OK,
        "gate_strict": OK, "index": OK}  # fmt: skip
STORE = "SELECT pgmnemo.store(%s, %s, %s, 'The heron by the river', commit_sha => 'c0ffee')"

EMBEDDED = STORE.removesuffix(")") + ", embedding => %s::vector::real[])"


@pytest.fixture
def memory(servers: dict[int, Server]) -> Server:
    servers[18].install(NAME, OURS)
    with servers[18].connect(NAME, "alice") as alice:
        alice.execute(STORE, (A, PROJECT, "k"))
    return servers[18]


def examined(memory: Server, user: str = "alice", name: str = NAME, **options: Any) -> list[DoctorFinding]:
    return diagnose({**memory.conninfo, "dbname": name, "user": user}, **options)


def wrong(findings: list[DoctorFinding]) -> list[DoctorFinding]:
    return [finding for finding in findings if finding.state != OK]


def only(findings: list[DoctorFinding]) -> DoctorFinding:
    (found,) = wrong(findings)
    return found


@pytest.mark.parametrize("postgres", POSTGRES)
def test_of_what_is_well_it_tells_what_it_is(servers: dict[int, Server], postgres: int) -> None:
    memory = servers[postgres]
    memory.install(NAME, OURS)
    found = examined(memory, tenant=A)
    assert {finding.what: finding.state for finding in found} == WELL
    told = {finding.what: finding.told for finding in found}
    assert told["server"].startswith(f"PostgreSQL {postgres}.")
    assert told["pgmnemo"] == f"pgmnemo {OURS} of role keeper, installed as extension"
    assert told["grants"] == f"role alice reaches the tenant {A}"
    assert [finding.told for finding in examined(memory, "dual") if finding.what == "grants"] == [
        "role dual reaches 2 tenants"
    ]
    memory.create("plain")
    install_into_database(
        {**memory.conninfo, "dbname": "plain", "user": "keeper"}, way=PLAIN_SQL, tenants=[A]
    )
    assert any(finding.told.endswith("as plain SQL") for finding in examined(memory, "keeper", "plain"))


VERSION = "CREATE OR REPLACE FUNCTION pgmnemo.version() RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS "
SET = f"ALTER DATABASE {NAME} SET pgmnemo."
CASES: dict[str, tuple[str, str, str, str]] = {
    "a setting that nobody reads": (
        f"{SET}gate_strickt = 'off'", "settings", WARNING, "RESET pgmnemo.gate_strickt"),
    "a setting by its former name": (
        f"{SET}exact_scan_limit = 100", "settings", WARNING, "RESET pgmnemo.exact_scan_limit"),
    "a setting out of range": (
        f"{SET}pool_depth = '-1'", "settings", FAULT, "RESET pgmnemo.pool_depth"),
    "a version that is no release": (f"{VERSION} $$ SELECT '{OURS}77' $$", "functions", WARNING, ""),
    "a newer pgmnemo": (
        f"{VERSION} $$ SELECT '99.0.0' $$", "pgmnemo", FAULT, "from a newer checkout"),
    "an old pgvector": (
        "UPDATE pg_extension SET extversion = '0.8.0' WHERE extname = 'vector'",
        "pgvector", WARNING, "ALTER EXTENSION vector UPDATE"),
    "a schema of pgvector that was renamed": (
        "ALTER SCHEMA public RENAME TO vectors", "pgvector", FAULT, "ALTER SCHEMA vectors RENAME TO public"),
    "an extension that pg_upgrade gave away": (
        "SET allow_system_table_mods = on; UPDATE pg_extension SET extowner = 10 WHERE extname = 'pgmnemo'",
        "owner", WARNING, "docs/howto/operating.md, By pg_upgrade"),
    "postings that are wrong": (
        "UPDATE pgmnemo.posting SET token_total = 77 WHERE lexeme = 'heron'",
        "index", FAULT, "pgmnemo.repair"),
    "a role whom nothing binds": ("ALTER ROLE alice BYPASSRLS", "role", WARNING, "as an ordinary role"),
    "an owner whom nothing binds": ("ALTER ROLE keeper BYPASSRLS", "owner", WARNING, "Dump and restore"),
    "a grant that is gone": (
        "DELETE FROM pgmnemo.tenant_grant",
        "grants", FAULT, f"have keeper run SELECT pgmnemo.grant_tenant('{A}', 'alice')"),
}  # fmt: skip


if release_fingerprint(SQL_FOLDER, OURS):  # of a version in development no fingerprint is known
    CASES["a function that somebody changed"] = (
        f"{VERSION} $$SELECT '{OURS}'$$", "functions", FAULT, "mnemo init --dsn",
    )  # fmt: skip


@pytest.mark.parametrize("cause", CASES)
def test_what_is_wrong_is_told_with_what_to_run(memory: Server, cause: str) -> None:
    statement, what, state, mend = CASES[cause]
    try:
        with memory.connect(NAME) as root:
            root.execute(statement.encode())
            found = wrong(examined(memory, tenant=A))
            assert {(one.what, one.state) for one in found} == {(what, state)}
            assert mend in found[0].mend
    finally:
        with memory.connect(NAME) as root:
            root.execute("ALTER ROLE alice NOBYPASSRLS; ALTER ROLE keeper NOBYPASSRLS")


def test_a_pgvector_that_left_plain_sql_behind_is_told_with_the_way_back(memory: Server) -> None:
    memory.create("plain")
    install_into_database(
        {**memory.conninfo, "dbname": "plain", "user": "keeper"}, way=PLAIN_SQL, tenants=[A]
    )
    with memory.connect("plain") as root:
        root.execute("CREATE SCHEMA elsewhere; ALTER EXTENSION vector SET SCHEMA elsewhere")
        found = only(examined(memory, "keeper", "plain"))
        assert (found.what, found.state) == ("pgvector", FAULT)
        assert found.mend == "ALTER EXTENSION vector SET SCHEMA public"
        root.execute(found.mend.encode())
    assert wrong(examined(memory, "keeper", "plain", tenant=A)) == []


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
def test_an_encoding_that_holds_less_than_utf8_is_told(memory: Server, encoding: str) -> None:
    with memory.connect("postgres") as root:
        root.execute("DROP DATABASE IF EXISTS encoded")
        root.execute(
            f"CREATE DATABASE encoded OWNER keeper TEMPLATE template0 ENCODING '{encoding}' LOCALE 'C'"
        )
    with memory.connect("encoded") as root:
        root.execute("CREATE EXTENSION vector SCHEMA public")
    install_into_database({**memory.conninfo, "dbname": "encoded", "user": "keeper"}, tenants=[A])
    found = only(examined(memory, "keeper", "encoded", tenant=A))
    assert (found.what, found.state) == ("encoding", WARNING)
    assert encoding in found.told
    assert "UTF8" in found.mend


def test_another_role_is_examined_by_the_owner_alone(memory: Server) -> None:
    assert wrong(examined(memory, "keeper", tenant=B, role="bob")) == []
    assert only(examined(memory, "keeper", tenant=B, role="mallory")).state == FAULT
    assert "may not see the grants of bob" in only(examined(memory, "mallory", tenant=B, role="bob")).told
    assert only(examined(memory, "keeper", role="nobody")).mend == "CREATE ROLE nobody LOGIN"


def test_a_grant_of_a_role_that_is_gone_is_told_to_the_owner(memory: Server) -> None:
    with memory.connect(NAME) as root:
        root.execute("CREATE ROLE gone")
        root.execute("SELECT pgmnemo.grant_tenant(%s, 'gone')", (B,))
        root.execute("DROP ROLE gone")
    assert f"SELECT pgmnemo.revoke_tenant('{B}', '" in only(examined(memory, "keeper", role="bob")).mend


def test_what_slows_a_recall_down_is_told(memory: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("SURPLUS", 1), ("ROWS", 1), ("TAIL", 1)):
        monkeypatch.setattr(index_health, name, value)
    with memory.connect(NAME) as root:
        root.execute(f"ALTER DATABASE {NAME} SET pgmnemo.hnsw_min_vectors = 3")
        vector = "[" + ",".join(["1", *["0"] * 1023]) + "]"
        for number in range(4):
            root.execute(EMBEDDED, (A, PROJECT, f"k{number}", vector))
        root.execute("SELECT pg_stat_force_next_flush()")
    mends = {finding.what: finding.mend for finding in wrong(examined(memory, tenant=A))}
    assert mends["postings"].startswith(f"SELECT pgmnemo.merge_postings('{A}')")
    assert mends["vectors"] == f"SELECT pgmnemo.index('{A}')"
    assert mends["tables"].startswith("VACUUM (ANALYZE) pgmnemo.")


def test_lessons_without_a_vector_beside_others_with_vectors_are_told(memory: Server) -> None:
    with memory.connect(NAME) as root:
        vector = "[" + ",".join(["1", *["0"] * 1023]) + "]"
        root.execute(EMBEDDED, (A, PROJECT, "embedded", vector))
    [found] = [one for one in wrong(examined(memory, tenant=A)) if one.what == "meaning"]
    assert found.state == WARNING
    assert "found by their words alone" in found.told
    assert "multilingual-e5-small" in found.mend


def test_too_much_to_look_at_ends_nothing_else(memory: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_health, "PROBLEMS", "SELECT pg_sleep(60), %s")
    monkeypatch.setattr(
        "pgmnemo.postgres.doctor.diagnosis.READ_ONLY",
        "SET TRANSACTION READ ONLY; SET LOCAL statement_timeout = 100",
    )
    assert only(examined(memory, tenant=A)) == DoctorFinding(
        "index", WARNING, "there is too much to look at in a minute"
    )


def test_where_nothing_is_it_says_what_there_is(memory: Server) -> None:
    memory.create("empty")
    found = examined(memory, "alice", "empty")
    assert found[-1].what == "pgmnemo"
    assert found[-1].mend.startswith("install it with mnemo init --dsn")
    memory.install("older", "0.6.1")
    assert "ALTER EXTENSION pgmnemo UPDATE" in only(examined(memory, "alice", "older")).mend


def test_who_cannot_come_in_finds_out_why(server: GivenServer, make_role: Callable[..., str]) -> None:
    dsn = make_role("guest")
    found = diagnose(conninfo(dsn.replace("secret", "guessed")))
    assert [(one.what, one.state) for one in found] == [("server", FAULT)]
    assert found[0].mend == "correct it in the DSN"
    make_role("reader", "", "default_transaction_read_only = on")
    assert diagnose(conninfo(server.dsn("reader")))[0].told.endswith("default_transaction_read_only is on")


def test_a_pooler_in_transaction_mode_is_told(bouncer: str, memory: Server) -> None:
    with ExitStack() as stack:
        place = {**memory.conninfo, "dbname": NAME}
        told = {"pool_mode": "transaction", "default_pool_size": 1}
        pool = Pool.start(bouncer, stack, place, {"own": {}}, ["alice"], told)
        (found,) = (one for one in diagnose(pool.conninfo("alice"), tenant=A) if one.what == "pooler")
    assert found.state == OK
    assert "a pooler is between" in found.told


def test_two_clocks_are_compared_by_what_lies_between_two_looks() -> None:
    noon = datetime(2026, 5, 1, 12, tzinfo=UTC)
    second = timedelta(seconds=1)
    assert server_clock(noon, noon - second, noon + second).state == OK
    assert server_clock(noon, noon + 30 * second, noon + 40 * second).state == OK
    for there in (noon - 60 * second, noon + 61 * second):
        assert "differ by 60 s" in server_clock(noon, there, noon + second).told
