"""What an attack on the storage of 0.6.0 found before its release: each failed on it as it was."""

from __future__ import annotations

import time
from collections.abc import Callable
from uuid import UUID

import psycopg
import pytest
from psycopg import errors

from tests.security.attacked import OURS, PROJECT, A, B, Connection, Site, attempt

SET = """
SELECT pgmnemo.store_set('{tenant}', (SELECT array_agg(ROW('{project}', '{name}' || n, 'river ' || n,
    ('[' || n || ',1,2]')::vector, NULL, NULL, 3, '{{}}', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
    )::pgmnemo.lesson_input) FROM generate_series(1, {count}) n))
"""


@pytest.fixture
def site(make_site: Callable[..., Site]) -> Site:
    return make_site(OURS)


def fill(client: Connection, tenant: UUID, count: int, name: str = "n") -> None:
    client.execute(SET.format(tenant=tenant, project=PROJECT, name=name, count=count))


def large(site: Site, role: str, tenant: UUID, count: int = 250) -> Connection:
    """A login whose tenant has an HNSW index of so many vectors."""
    client = site.connect(role, tenant, **{"pgmnemo.hnsw_min_vectors": 100})
    fill(client, tenant, count)
    client.execute("SELECT pgmnemo.index(%s)", (tenant,))
    return client


def hnsw_table(site: Site, tenant: UUID) -> str:
    return str(site.rows("SELECT name FROM pgmnemo.hnsw_index WHERE tenant_id = %s", tenant)[0][0])


def hnsw_tables(site: Site) -> set[str]:
    found = site.rows("SELECT relname FROM pg_class WHERE relnamespace = 'pgmnemo'::regnamespace "
                      "AND relkind = 'r' AND relname ~ '^hnsw_[0-9]'")  # fmt: skip
    return {name for (name,) in found}


def maintain(site: Site, most: int = 1000) -> int:
    """By the owner, as a scheduler calls it."""
    with site.server.connect(site.name, "keeper", **{"pgmnemo.hnsw_min_vectors": 100}) as keeper:
        return int(keeper.execute("SELECT pgmnemo.maintain(%s)", (most,)).fetchall()[0][0])


def test_no_catalogue_that_anybody_reads_names_a_tenant(site: Site) -> None:
    """Policies are anybody's to read, and a table's size and counters: so nothing says whose graph it is."""
    large(site, "bob", B)
    mallory = site.connect("mallory")
    for view in ("pg_policies", "pg_policy", "pg_class", "pg_description", "pg_constraint", "pg_attrdef",
                 "pg_indexes", "pg_trigger", "pg_stat_user_tables", "pg_stats"):  # fmt: skip
        told = f"SELECT x::text FROM pg_catalog.{view} x WHERE x::text ~ '{B}|{B.hex}'"
        assert not attempt(mallory, told), view
    asked = "SELECT pg_get_expr(polqual, polrelid) FROM pg_policy"
    assert str(B) not in str(attempt(mallory, asked))


@pytest.mark.parametrize("reading", ["READ COMMITTED", "REPEATABLE READ"])
@pytest.mark.parametrize("change", ["index", "forget_all", "repair"])
def test_readers_wait_for_nobody_who_makes_or_gives_up_an_hnsw_index(
    site: Site, reading: str, change: str
) -> None:
    """An index that is replaced was locked until the transaction ended, and with it everybody who read it."""
    bob, dual = large(site, "bob", B), site.connect("dual", B, **{"pgmnemo.hnsw_min_vectors": 100})
    before = hnsw_table(site, B)
    found = site.recall(dual, B, None, [3.0, 1.0, 2.0])
    dual.execute(f"SET default_transaction_isolation = '{reading.lower()}'")
    fill(bob, B, 1500, "more") if change == "index" else None
    if change == "repair":
        site.run(f"DELETE FROM pgmnemo.{before}")
    with bob.transaction():
        bob.execute(f"SELECT pgmnemo.{change}('{B}')")
        again = site.recall(dual, B, None, [3.0, 1.0, 2.0])
        assert again == found or change != "forget_all" or reading == "READ COMMITTED"
    assert before not in hnsw_tables(site)
    assert site.check(dual, B) == []


def test_a_tenants_open_transaction_holds_up_no_upkeep(site: Site) -> None:
    """maintain waited for alice's lock, and bob's writers for the one that maintain held by then."""
    alice, bob = (large(site, *who) for who in (("alice", A), ("bob", B)))
    for client, tenant in ((alice, A), (bob, B)):
        fill(client, tenant, 1500, "more")
    with alice.transaction():
        alice.execute(f"SELECT pgmnemo.forget('{A}', '{PROJECT}', 'n1')")
        started = time.monotonic()
        for _ in range(4):
            maintain(site, 100_000)
        assert time.monotonic() - started < 10
        left = site.rows(
            "SELECT tenant_id, count(*) FROM pgmnemo.lesson_vector WHERE NOT indexed GROUP BY 1 ORDER BY 1"
        )
        assert dict(left).get(B, 0) <= 100
    maintain(site, 100_000)
    assert [*site.check(alice, A), *site.check(bob, B)] == []


def test_a_tenant_whose_rows_are_spoilt_holds_up_no_upkeep(site: Site) -> None:
    """Whatever fails for one tenant failed for all."""
    alice, bob = (large(site, *who) for who in (("alice", A), ("bob", B)))
    for client, tenant in ((alice, A), (bob, B)):
        fill(client, tenant, 150, "more")
    site.run(
        f"INSERT INTO pgmnemo.{hnsw_table(site, A)} SELECT lesson_id, number, project_id, embedding "
        f"FROM pgmnemo.lesson_vector WHERE tenant_id = '{A}' AND NOT indexed"
    )
    said: list[str] = []
    with site.server.connect(site.name, "keeper", **{"pgmnemo.hnsw_min_vectors": 0}) as keeper:
        keeper.add_notice_handler(lambda notice: said.append(str(notice.message_primary)))
        keeper.execute("SELECT pgmnemo.maintain()")
        keeper.execute("SELECT pgmnemo.maintain()")
    assert any(str(A) in text and "stays as it is: duplicate key" in text for text in said)
    assert site.rows("SELECT DISTINCT tenant_id FROM pgmnemo.lesson_vector WHERE NOT indexed") == [(A,)]
    alice.execute(f"SELECT pgmnemo.repair('{A}')")
    assert site.check(alice, A) == []


def test_many_projects_keep_upkeep_at_work_once(site: Site) -> None:
    """Each project has a small block that nothing can merge: maintain merged such a tenant at every call."""
    alice = site.connect("alice", A)
    with alice.transaction():
        for n in range(600):
            alice.execute("SELECT pgmnemo.store(%s, %s, 'x', 'river')", (A, UUID(int=n)))
    blocks = "SELECT count(*), max(xmin::text::bigint) FROM pgmnemo.posting"
    before = site.rows(blocks)
    assert maintain(site) == 0
    assert site.rows(blocks) == before
    assert maintain(site, 1) == 0


def test_a_name_that_somebody_took_is_not_used(site: Site) -> None:
    """Somebody who was let to create in the schema: his triggers must not run in the owner's name."""
    bob = large(site, "bob", B)
    name = hnsw_table(site, B)
    number = int(name.removeprefix("hnsw_"))
    site.run(
        "CREATE TABLE public.marks (who text)", "GRANT ALL ON public.marks TO PUBLIC",
        "GRANT CREATE ON SCHEMA pgmnemo TO mallory", f"DROP TABLE pgmnemo.{name}",
    )  # fmt: skip
    mallory = site.connect("mallory")
    squatted = [name, *(f"hnsw_{number + n}" for n in range(1, 20))]
    for squat in squatted:
        mallory.execute(f"CREATE TABLE pgmnemo.{squat} (lesson_id bigint, number smallint, project_id uuid, "
                        "embedding public.halfvec(3))")  # fmt: skip
        mallory.execute(f"GRANT ALL ON pgmnemo.{squat} TO PUBLIC")
    mallory.execute("CREATE FUNCTION pg_temp.f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
                    "INSERT INTO public.marks VALUES (current_user); RETURN NEW; END $$")  # fmt: skip
    for squat in squatted:
        mallory.execute(f"CREATE TRIGGER t BEFORE INSERT OR DELETE ON pgmnemo.{squat} FOR EACH STATEMENT "
                        "EXECUTE FUNCTION pg_temp.f()")  # fmt: skip
    assert len(site.recall(bob, B, None, [3.0, 1.0, 2.0])) == 10
    assert [row[0] for row in site.check(bob, B)] == ["HNSW index missing"]
    bob.execute(f"SELECT pgmnemo.forget('{B}', '{PROJECT}', 'n1', true)")
    assert maintain(site) == 0
    fill(bob, B, 600, "more")
    bob.execute(f"SELECT pgmnemo.index('{B}')")
    assert site.check(bob, B) == []
    assert hnsw_table(site, B) not in squatted
    assert site.rows("SELECT FROM public.marks") == []
    assert {*squatted} <= hnsw_tables(site)
    bob.execute(f"SELECT pgmnemo.forget_all('{B}')")
    assert hnsw_tables(site) == {*squatted}


def test_hnsw_indexes_of_few_vectors_are_bounded(site: Site) -> None:
    """Any role may set hnsw_min_vectors to 0: one vector of each tenant made a table with three indexes.

    And one tenant that made and forgot it all the time let half of all calls of pg_dump fail.
    """
    site.run("SELECT setval('pgmnemo.hnsw_seq', 2000)")
    bob = site.connect("bob", B, **{"pgmnemo.hnsw_min_vectors": 0})
    before = hnsw_tables(site)
    fill(bob, B, 900)
    bob.execute(f"SELECT pgmnemo.index('{B}')")
    assert hnsw_tables(site) == before
    fill(bob, B, 200, "more")
    bob.execute(f"SELECT pgmnemo.index('{B}')")
    assert len(hnsw_tables(site)) == len(before) + 1
    assert site.check(bob, B) == []


def test_few_vectors_make_no_table_come_and_go(site: Site) -> None:
    bob = large(site, "bob", B)
    bob.execute("SET pgmnemo.hnsw_min_vectors = 0")
    before = hnsw_table(site, B)
    for n in range(3):
        bob.execute(f"SELECT pgmnemo.forget_all('{B}', '{PROJECT}')")
        site.store(bob, B, f"again{n}", "river", embedding=[1.0, 2.0, 3.0])
        bob.execute(f"SELECT pgmnemo.index('{B}')")
        assert hnsw_table(site, B) == before
    assert site.check(bob, B) == []


def test_what_was_taken_back_is_found_at_once(site: Site) -> None:
    """Each block was compared with each lesson that went: the square of them."""
    alice = site.connect("alice", A)
    words = " ".join(f"w{n}x" for n in range(100))
    alice.execute(
        f"SELECT pgmnemo.store_set('{A}', (SELECT array_agg(ROW('{PROJECT}', 'n' || n, %s, NULL, NULL, NULL, "
        "3, '{}', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)::pgmnemo.lesson_input) "
        "FROM generate_series(1, 3000) n))", (words,))  # fmt: skip
    with site.connect("keeper") as keeper, keeper.transaction():
        keeper.execute("SELECT set_config('pgmnemo.acting_tenant', %s, true)", (str(A),))
        keeper.execute(f"SELECT pgmnemo._lock_tenant('{A}'), pgmnemo._merge_segments('{A}', 3000)")
    with alice.transaction():
        for n in range(1, 3001, 3):
            alice.execute(f"SELECT pgmnemo.forget('{A}', '{PROJECT}', 'n{n}')")
    assert site.rows("SELECT count(*) FROM pgmnemo.posting WHERE lesson_count < 0") == [(101_000,)]
    started = time.monotonic()
    alice.execute(f"SELECT pgmnemo.forget_all('{A}')")
    assert time.monotonic() - started < 5
    assert site.rows("SELECT count(*) FROM pgmnemo.posting") == [(0,)]


def test_a_lock_timeout_or_a_timeout_in_a_merge_leaves_all_as_it_was(site: Site) -> None:
    bob = large(site, "bob", B)
    name = hnsw_table(site, B)
    fill(bob, B, 2000, "more")
    for setting in ("statement_timeout = 100", "statement_timeout = 30", "lock_timeout = 1"):
        with site.connect("bob", B, **{"pgmnemo.hnsw_min_vectors": 100}) as other:
            other.execute(f"SET {setting}")
            with bob.transaction(force_rollback=True):
                bob.execute(f"SELECT pgmnemo.forget('{B}', '{PROJECT}', 'n2')")
                with pytest.raises((errors.QueryCanceled, errors.LockNotAvailable)):
                    other.execute(f"SELECT pgmnemo.index('{B}')")
        assert (hnsw_tables(site), hnsw_table(site, B)) == ({name}, name)
        assert site.check(bob, B) == []


def test_tablespaces_and_methods_of_the_caller_decide_no_more_than_his_own(site: Site) -> None:
    """A table that a verb makes is made under the caller's settings."""
    bob = large(site, "bob", B)
    fill(bob, B, 1500, "more")
    bob.execute("SET default_tablespace = pg_global")
    with pytest.raises(psycopg.Error):
        bob.execute(f"SELECT pgmnemo.index('{B}')")
    assert site.check(bob, B) == []
