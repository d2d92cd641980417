"""Each finding of the review of 0.4.1: the attack finds nothing any more.

N9 is what test_ours.py asks of the restore that the README documents; N10 and N12 are documented.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from time import perf_counter
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg import errors, sql

from tests.security.attacked import OURS, PROJECT, A, B, Site, vector

Connection = psycopg.Connection[Any]
LEVELS = pytest.mark.parametrize("level", ["REPEATABLE READ", "SERIALIZABLE"])


@pytest.fixture
def site(make_site: Callable[..., Site]) -> Site:
    return make_site(OURS)


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
def test_n1_a_revoke_binds_open_transactions_and_imported_snapshots(
    site: Site, level: str, kind: str
) -> None:
    alice, second = site.connect("alice", A), site.connect("alice", A)
    site.store(alice, A, "x", "the river")
    alice.execute(f"BEGIN ISOLATION LEVEL {level} {'READ ONLY' if kind == 'read only' else ''}")
    assert sent(alice, READ) is None
    [snapshot] = alice.execute("SELECT pg_export_snapshot()").fetchone()
    grants(site, REVOKE)
    if kind == "imported":
        second.execute(f"BEGIN ISOLATION LEVEL {level} READ WRITE")
        second.execute(sql.SQL("SET TRANSACTION SNAPSHOT {}").format(snapshot))
    call = WRITE if kind == "write" else READ
    assert sent(second if kind == "imported" else alice, call) == "40001"


@LEVELS
@pytest.mark.parametrize("call", ["current_tenant()", "list_grants()"])
def test_n1_a_role_learns_its_tenant_and_grants_no_more(site: Site, level: str, call: str) -> None:
    alice = site.connect("alice", A)
    alice.execute(f"BEGIN ISOLATION LEVEL {level}")
    assert sent(alice, f"SELECT * FROM pgmnemo.{call}") is None
    grants(site, REVOKE)
    assert sent(alice, f"SELECT * FROM pgmnemo.{call}") is not None


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
        assert sent(alice, READ) is not None
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


LOCKS = "SELECT count(*) FROM pg_locks WHERE pid = %s AND relation = 'pgmnemo.revocation_seq'::regclass"


def test_n1_read_committed_is_asked_nothing_more(make_site: Callable[..., Site]) -> None:
    """The sequence is a relation that would be locked."""
    site = make_site(OURS)
    alice = site.connect("alice", A)
    for level, read in (("READ COMMITTED", 0), ("REPEATABLE READ", 1)):
        with alice.transaction():
            alice.execute(f"SET TRANSACTION ISOLATION LEVEL {level}")
            alice.execute(READ)
            assert site.rows(LOCKS, alice.info.backend_pid) == [(read,)]


@pytest.mark.parametrize(
    "places", [(2**31 - 1,), (2**31 - 2,), (-(2**31),), (1 - 2**31,), (1_500_000_000, -1_500_000_000)]
)
def test_n2_no_position_fails_a_recall(site: Site, places: tuple[int, ...]) -> None:
    """It is refused, and one that an older version took does no harm."""
    alice = site.connect("alice", A)
    for number, place in enumerate(places):
        call = f"SELECT pgmnemo.store('{A}', '{PROJECT}', 'x{number}', 'the river', \"position\" => {place})"
        assert sent(alice, call) == "22023"
        site.store(alice, A, f"x{number}", "the river", position=number)
        site.run(f"UPDATE pgmnemo.lesson SET position = {place} WHERE external_id = 'x{number}'")
    assert sent(alice, f"SELECT * FROM pgmnemo.recall('{A}', query_text => 'river')") is None


def test_n2_positions_at_the_limits_are_neighbours(make_site: Callable[..., Site]) -> None:
    site = make_site(OURS)
    alice = site.connect("alice", A)
    most = 1_000_000_000
    for place in (most, most - 1, -most, 1 - most):
        site.store(alice, A, str(place), "the river" if abs(place) == most else "nothing", position=place)
    lifted = (
        f"SELECT external_id FROM pgmnemo.recall('{A}', query_text => 'river', duplicates => true) "
        "WHERE neighbours > 0"
    )
    assert {row[0] for row in alice.execute(lifted)} == {str(most - 1), str(1 - most)}


BOMB = {
    "large": "[" + ", ".join(["1e131000"] * 9000) + "]",
    "long": "[" + ", ".join(["1e-16000"] * 9000) + "]",
}


@pytest.mark.parametrize("kind", BOMB)
def test_n3_metadata_that_cannot_be_dumped_are_named(site: Site, kind: str) -> None:
    """As 0.3.1 took them."""
    alice = site.connect("alice", A)
    site.store(alice, A, "bomb", "small")
    site.store(alice, A, "plain", "small", metadata='{"a": [1e308, -1.5, {"b": 1e-400}]}')
    site.run(f"UPDATE pgmnemo.lesson SET metadata = '{BOMB[kind]}' WHERE external_id = 'bomb'")
    named = [row[3] for row in site.check(alice, A)]
    assert named == ["bomb"]
    said: list[str] = []
    alice.add_notice_handler(lambda notice: said.append(notice.message_primary or ""))
    alice.execute(f"SELECT pgmnemo.repair('{A}')")
    assert [line for line in said if "'bomb'" in line and "plain" not in line and len(line) < 200] == said
    assert site.rows(
        "SELECT jsonb_array_length(metadata) FROM pgmnemo.lesson WHERE external_id = 'bomb'"
    ) == [(9000,)]
    assert site.store(alice, A, "bomb", "small", metadata='{"a": 1}') == "updated"
    assert site.check(alice, A) == []
    assert "error" not in site.server.program("pg_dump", site.name, "-f", "/dev/null")


def test_n4_metadata_are_not_written_out_to_be_measured(site: Site) -> None:
    bomb = "[" + ", ".join(["1e131000"] * 400) + "]"
    with pytest.raises(errors.InvalidParameterValue) as refused:
        site.store(site.connect("alice", A), A, "bomb", "small", metadata=bomb)
    assert "50000000 bytes" not in str(refused.value)


# What goes into a call of pgmnemo.store, and how many bytes or parts of it are still taken.
BOUNDS = {
    "content": ("repeat('word ', n / 5)", 10_000_000),
    **dict.fromkeys(("topic", "role", "commit_sha", "artifact_hash"), ("repeat('x', n)", 10000)),
    "passages": ("array_fill('word'::text, ARRAY[n])", 1_000),
    "passages together": ("array_fill(repeat('word ', n / 5000), ARRAY[1000])", 20_000_000),
    "metadata": ("to_jsonb(repeat('x', n - 12))", 1_000_000),
    "position": ("n", 1_000_000_000),
}


@pytest.mark.parametrize("name", BOUNDS)
def test_n4_each_length_has_its_bound(site: Site, name: str) -> None:
    making, most = BOUNDS[name]
    alice, argument = site.connect("alice", A), name.split()[0]
    given = "" if argument == "content" else ", content => 'word'"
    call = (
        f"SELECT pgmnemo.store('{A}', '{PROJECT}', external_id => 'x'{given}, \"{argument}\" => {making}) "
        "FROM (SELECT {} AS n) g"
    )
    step = {"content": 5, "passages together": 5_000}.get(name, 1)
    assert sent(alice, call.format(most)) is None
    assert sent(alice, call.format(most + step)) == "22023"


def test_n4_toasted_values_are_measured_as_what_they_are(make_site: Callable[..., Site]) -> None:
    """Kept in a table they take a hundredth of it."""
    site = make_site(OURS)
    site.run(
        "CREATE TABLE public.kept AS SELECT repeat('word ', 4000000) AS content, "
        "to_jsonb(repeat('x', 5000000)) AS metadata, "
        "array_fill(repeat('word ', 5000), ARRAY[1000]) AS passages",
        "GRANT SELECT ON public.kept TO alice",
    )
    alice = site.connect("alice", A)
    alice.execute(f"SELECT pgmnemo.store('{A}', '{PROJECT}', 'x', 'word')")
    lesson = site.rows("SELECT id FROM pgmnemo.lesson")[0][0]
    store = f"pgmnemo.store('{A}', '{PROJECT}', 'x', "
    one = "NULL::vector, NULL, NULL, 3::smallint, {}, NULL, NULL, NULL, NULL, NULL, {}, NULL, NULL, NULL"
    for call in (
        f"{store} k.content)",
        f"{store} 'x', metadata => k.metadata)",
        f"{store} 'x', passages => k.passages)",
        f"pgmnemo.store_passages('{A}', {lesson}, k.passages)",
        *(f"pgmnemo.store_set('{A}', ARRAY[ROW('{PROJECT}', 'x', 'word', {one.format(*given)})"
          "::pgmnemo.lesson_input])" for given in (("k.metadata", "NULL"), ("NULL", "k.passages"))),
    ):  # fmt: skip
        assert sent(alice, f"SELECT {call} FROM public.kept k") == "22023"


def test_n4_a_set_has_ten_thousand_lessons_at_most(site: Site) -> None:
    one = f"ROW('{PROJECT}', 'x' || n, 'a'{', NULL' * 14})::pgmnemo.lesson_input"
    call = f"SELECT pgmnemo.store_set('{A}', (SELECT array_agg({one}) FROM generate_series(1, 10001) n))"
    assert sent(site.connect("alice", A), call) == "22023"


def test_n4_of_a_question_the_rarest_terms_count(site: Site) -> None:
    """And explain says what counted."""
    alice = site.connect("alice", A)
    words = [f"word{n}" for n in range(1_200)]
    site.store(alice, A, "all", " ".join(words))
    site.store(alice, A, "most", " ".join(words[:300]))
    explain = (
        f"SELECT count(*) FROM pgmnemo.explain('{A}', '{PROJECT}', 'all', query_text => %s) "
        "WHERE weight > 0 AND section = 'term'"
    )
    [(counted,)] = alice.execute(explain, (" ".join(words),)).fetchall()
    assert counted <= 1_000
    assert site.recall(alice, A, " ".join(words)) == ["all", "most"]


def test_n5_a_question_is_read_for_times_no_further_than_is_cheap(site: Site) -> None:
    alice = site.connect("alice", A)
    dates = " ".join(f"{1 + n % 28} may {1990 + n % 40}" for n in range(3_000))
    [(count,)] = alice.execute(
        "SELECT cardinality(since) FROM pgmnemo._times(%s, now())", (dates,)
    ).fetchall()
    assert count <= 20
    unread = "SELECT cardinality(since) FROM pgmnemo._times(%s, now())"
    for question, due in (("x" * 9_990 + " in 2021", 1), ("x" * 10_000 + " in 2021", 0)):
        assert alice.execute(unread, (question,)).fetchall() == [(due,)]


TINY = """
SELECT pgmnemo.store_set('{tenant}', (SELECT array_agg(jsonb_populate_record(NULL::pgmnemo.lesson_input,
    jsonb_build_object('project_id', '{project}', 'external_id', 'x' || n, 'content', 'a',
                       'embedding', {vector}, 'importance', 3, 'metadata', '{{}}'::jsonb)))
    FROM generate_series({first}, {last}) n))
"""


def fill(client: Connection, tenant: UUID, first: int, last: int, embedded: bool) -> None:
    given = f"'{vector(1)}'::text" if embedded else "NULL"
    client.execute(TINY.format(tenant=tenant, project=PROJECT, vector=given, first=first, last=last))


def test_n6_lessons_without_vectors_claim_no_index(site: Site) -> None:
    alice = site.connect("alice", A, **{"pgmnemo.hnsw_min_vectors": 0})
    fill(alice, A, 1, 5_001, embedded=False)
    alice.execute(f"SELECT pgmnemo.index('{A}')")
    site.holds(site.rows("SELECT tenant_id FROM pgmnemo.hnsw_index WHERE tenant_id IS NOT NULL"))


def test_n6_a_claim_ends_with_the_tenants_lessons(site: Site) -> None:
    alice = site.connect("alice", A, **{"pgmnemo.hnsw_min_vectors": 0})
    fill(alice, A, 1, 5_001, embedded=True)
    fill(alice, A, 5_002, 5_003, embedded=True)
    holder = "SELECT tenant_id FROM pgmnemo.hnsw_index WHERE tenant_id IS NOT NULL"
    assert site.rows(holder) == [(A,)]
    alice.execute(f"SELECT pgmnemo.forget_all('{A}', '{PROJECT}')")
    assert site.rows(holder) == [(A,)]
    alice.execute(f"SELECT pgmnemo.forget_all('{A}')")
    site.holds(site.rows(holder))


VERBS = """
SELECT proname, proargnames[1:pronargs], string_to_array(oidvectortypes(proargtypes), ', ') FROM pg_proc
WHERE pronamespace = 'pgmnemo'::regnamespace AND proname !~ '^_' AND 'text'::regtype = ANY (proargtypes)
AND has_function_privilege('public', oid, 'EXECUTE')
"""
GIVEN = {
    "tenant": f"'{A}'", "project_id": f"'{PROJECT}'", "lesson_id": "1", "hard": "true", "revive": "true",
    "single": "true", "external_id": "'kept'", "source": "'kept'", "old": "'kept'", "target": "'other'",
    "new": "'other'", "kind": "'follows'", "mode": "'hybrid'", "clear": "'topic'",
    "dimensions": "3", "language": "'german'",
    **dict.fromkeys(("lesson_ids", "numbers", "embeddings", "marks"), "'{}'"),
}  # fmt: skip


def test_n7_texts_of_any_collation_are_taken(site: Site) -> None:
    """By every verb, each of its texts."""
    alice, failed = site.connect("alice", A), {}
    for key in ("kept", "other"):
        site.store(alice, A, key, "the river", role="pilot", topic="north")
    alice.execute(f"SELECT pgmnemo.set_embedder('{A}', 'river', 3)")
    alice.execute(f"SELECT pgmnemo.begin_reembedding('{A}', 3, 'river')")
    verbs = alice.execute(VERBS).fetchall()
    assert len(verbs) >= 12
    for verb, names, types in verbs:
        given = []
        for name, kind in zip(names or (), types, strict=False):
            text = GIVEN.get(name, "'river'") + ' COLLATE "POSIX"'
            if kind in ("text", "text[]"):
                given.append(f'"{name}" => ' + (text if kind == "text" else f"ARRAY[{text}]"))
            elif name in GIVEN:
                given.append(f"{name} => {GIVEN[name]}")
        with alice.transaction(force_rollback=True):
            if state := sent(alice, f"SELECT * FROM pgmnemo.{verb}({', '.join(given)})"):
                failed[verb] = state
    assert failed == {}


def candidates(client: Connection, key: str) -> int:
    """How many there are for a question about the river."""
    explain = "SELECT note FROM pgmnemo.explain(%s, %s, %s, query_text => 'river') WHERE item = 'rank'"
    [(note,)] = client.execute(explain, (A, PROJECT, key)).fetchall()
    return int(re.search(r"of (\d+) candidates", note)[1])


def test_n8_many_lessons_on_one_position_cost_no_more_than_a_few(site: Site) -> None:
    alice = site.connect("alice", A, **{"pgmnemo.pool_depth": 10})
    alice.execute(
        f"SELECT pgmnemo.store('{A}', '{PROJECT}', 'x' || n, 'a lake', \"position\" => 7) "
        "FROM generate_series(1, 500) n"
    )
    site.store(alice, A, "seed", "the river", position=8)
    assert candidates(alice, "seed") <= 10 + 32
    assert "x1" in site.recall(alice, A, "river", k=40)


def test_n8_hubs_cost_no_more_than_their_first_edges(site: Site) -> None:
    alice = site.connect("alice", A, **{"pgmnemo.pool_depth": 10})
    site.store(alice, A, "hub", "the river")
    leaf, leaves = "'x' || lpad(n::text, 4, '0')", "FROM generate_series({}, {}) n"
    alice.execute(f"SELECT pgmnemo.store('{A}', '{PROJECT}', {leaf}, 'lake ' || n) {leaves.format(1, 600)}")
    weight = "CASE WHEN n % 300 = 0 THEN 1 ELSE 0.5 END"
    for ends, some in ((f"'hub', {leaf}", (1, 300)), (f"{leaf}, 'hub'", (301, 600))):
        link = f"SELECT pgmnemo.link('{A}', '{PROJECT}', {ends}, 'follows', {weight}) "
        alice.execute(link + leaves.format(*some))
    reached = {
        row[0]
        for row in alice.execute(
            f"SELECT external_id FROM pgmnemo.recall('{A}', query_text => 'river', k => 300) WHERE graph > 0"
        )
    }
    assert "x0200" in reached
    site.holds(reached & {"x0300", "x0600"})


def test_n11_a_sequence_that_was_set_back_is_found_and_mended(site: Site) -> None:
    alice, bob = site.connect("alice", A), site.connect("bob", B)
    for key in "abc":
        site.store(alice, A, key, "the river")
    site.store(bob, B, "x", "the river")
    last = "SELECT last_value FROM pgmnemo.lesson_id_seq"
    [(greatest,)] = site.rows(last)
    site.run("SELECT setval('pgmnemo.lesson_id_seq', 1)")
    late = f"SELECT pgmnemo.store('{A}', '{PROJECT}', 'late', 'the river')"
    assert sent(alice, late) == "23505"
    assert [row for row in site.check(alice, A) if "sequence" in row[0]]
    alice.execute(f"SELECT pgmnemo.repair('{A}')")
    assert sent(alice, late) is None
    [(mended,)] = site.rows(last)
    alice.execute(f"SELECT pgmnemo.repair('{A}')")
    bob.execute(f"SELECT pgmnemo.repair('{B}')")
    assert site.rows(last) == [(max(mended, greatest),)]
    for client, tenant in ((alice, A), (bob, B)):
        assert site.check(client, tenant) == []
