"""Large tenants have an HNSW index each, of their own vectors: made, filled, emptied and dropped."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import numpy as np
import psycopg
import pytest
from psycopg import errors

Connection = psycopg.Connection[Any]
WAITING = "SELECT count(*) FROM pgmnemo.vectors WHERE NOT indexed"
INSIDE = "SELECT count(*) FROM pgmnemo.vectors WHERE indexed"
CHECK = "SELECT * FROM pgmnemo.check()"
INDEX = "SELECT pgmnemo.index()"
FORGET = "SELECT pgmnemo.forget(NULL, %s, %s, hard => true)"


def vectors(seed: int, count: int, dimensions: int = 8) -> Any:
    rows = np.random.default_rng(seed).standard_normal((count, dimensions)).astype(np.float32)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def fill(tenant: Any, count: int, name: str = "l", dimensions: int = 8) -> Any:
    rows = vectors(len(name), count, dimensions)
    tenant.store_many({f"{name}{n:04}": f"lesson {n}" for n in range(count)}, rows)
    return rows


def hnsw_table(tenant: Any) -> str:
    """The name of the tenant's HNSW index's table."""
    ((name,),) = tenant.look("SELECT name::text FROM pgmnemo.hnsw_index WHERE tenant_id = %s", tenant.id)
    return str(name)


def entries(tenant: Any) -> int:
    return int(tenant.look(f"SELECT count(*) FROM pgmnemo.{hnsw_table(tenant)}")[0][0])


def tables(owner: Connection) -> set[str]:
    rows = owner.execute(
        "SELECT relname FROM pg_class WHERE relnamespace = 'pgmnemo'::regnamespace "
        "AND relkind = 'r' AND relname ~ '^hnsw_[0-9]+$'"
    )
    return {name for (name,) in rows}


@pytest.fixture
def large(tenant: Any) -> Any:
    """A tenant of 300 lessons, all in its HNSW index."""
    tenant.set(hnsw_min_vectors=100)
    fill(tenant, 300)
    tenant.value(INDEX)
    assert (tenant.value(INSIDE), tenant.value(WAITING), entries(tenant)) == (300, 0, 300)
    return tenant


def test_a_small_tenant_has_none(tenant: Any) -> None:
    tenant.set(hnsw_min_vectors=100)
    fill(tenant, 100)
    assert tenant.value(INDEX) == 0
    assert tenant.look("SELECT FROM pgmnemo.hnsw_index WHERE tenant_id = %s", tenant.id) == []


def test_a_load_writes_its_vectors_once(tenant: Any) -> None:
    tenant.set(hnsw_min_vectors=1000)
    first = fill(tenant, 1200)
    assert (tenant.value(INSIDE), tenant.value(WAITING)) == (0, 1200)  # nobody knew that it would be large
    second = fill(tenant, 1100, name="mm")
    assert (tenant.value(INSIDE), tenant.value(WAITING)) == (1100, 1200)
    tenant.store("one", "more", embedding=[1.0] * 8)
    tenant.rows(FORGET, tenant.project, "mm0003")
    assert tenant.rows(CHECK) == []
    for name, rows, place in (("l", first, 7), ("mm", second, 9)):
        assert tenant.ids(vector=rows[place], mode="vector", k=1) == [f"{name}{place:04}"]
    assert tenant.value(INDEX) == 1201
    assert (tenant.value(INSIDE), tenant.value(WAITING), entries(tenant)) == (2300, 0, 2300)
    assert tenant.rows(CHECK) == []
    fill(tenant, 1000, name="nnn")
    assert tenant.value(WAITING) > 900
    assert tenant.value(INDEX) > 900
    assert tenant.rows(CHECK) == []


def test_an_hnsw_index_is_the_owners_and_a_tenants_alone(
    large: Any, owner: Connection, make_tenant: Any
) -> None:
    name = hnsw_table(large)
    row = owner.execute(
        "SELECT relowner::regrole::text, relacl, relrowsecurity, relforcerowsecurity, attstorage, "
        "format_type(atttypid, atttypmod) FROM pg_class c JOIN pg_attribute a ON attrelid = c.oid "
        "WHERE relname = %s AND attname = 'embedding'", (name,)).fetchone()  # fmt: skip
    assert row == ("pgmnemo_owner", None, True, True, "p", "halfvec(8)")
    assert owner.execute("SELECT FROM pg_depend WHERE objid = %s::regclass AND deptype = 'e'",
                         (f"pgmnemo.{name}",)).fetchall() == []  # fmt: skip
    other = make_tenant()
    assert other.look(f"SELECT count(*) FROM pgmnemo.{name}") == [(0,)]
    with pytest.raises(errors.InsufficientPrivilege):
        large.rows(f"SELECT FROM pgmnemo.{name}")


def test_what_is_written_waits_and_every_way_in_is_the_same(tenant: Any, owner: Connection) -> None:
    tenant.set(hnsw_min_vectors=10)
    fill(tenant, 10)
    assert (tenant.value(INSIDE), tenant.value(WAITING)) == (0, 10)
    for n, row in enumerate(vectors(5, 30)):
        tenant.store(f"m{n}", "more", embedding=row.tolist())
    waiting = tenant.value(WAITING)
    assert 7 <= waiting <= 10  # writers keep it at the bound, four at a time
    assert entries(tenant) == tenant.value(INSIDE) == 40 - waiting
    assert tenant.value(INDEX) == waiting
    assert (entries(tenant), tenant.value(WAITING)) == (40, 0)
    fill(tenant, 200, "bulk")
    assert 130 <= tenant.value(WAITING) <= 140  # a set brings in 64
    before = hnsw_table(tenant)
    with owner.transaction():
        owner.execute("SET LOCAL pgmnemo.hnsw_min_vectors = 10")
        left = [owner.execute("SELECT pgmnemo.maintain(50)").fetchone() for _ in range(12)]
    assert [count for (count,) in left][-1] == 0  # type: ignore[misc]
    assert tenant.value(WAITING) <= 10
    assert tenant.rows(CHECK) == []
    assert before == hnsw_table(tenant) or before not in tables(owner)


def test_upkeep_spends_a_bounded_time_on_a_tenant(large: Any) -> None:
    fill(large, 250, "bulk")
    waiting = large.value(WAITING)
    [(generation,)] = large.look("SELECT generation FROM pgmnemo.hnsw_index WHERE tenant_id = %s", large.id)
    assert large.look(
        "SELECT pgmnemo._hnsw_insert_waiting(%s, %s::smallint, 1000, now())", large.id, generation
    ) == [(100,)]
    assert large.value(WAITING) == waiting - 100


def test_a_lost_hnsw_index_that_is_not_soon_built_is_filled_over_many_calls(
    large: Any, owner: Connection
) -> None:
    soon = "SELECT pg_get_functiondef('pgmnemo._hnsw_builds_soon(uuid, smallint, bigint)'::regprocedure)"
    [(generation,)] = large.look("SELECT generation FROM pgmnemo.hnsw_index WHERE tenant_id = %s", large.id)
    steps, waiting = [], []
    [built] = owner.execute(soon).fetchone()  # type: ignore[misc]
    owner.execute(built.replace("numbers constant bigint := 4000000", "numbers constant bigint := 0"))
    try:
        owner.execute(f"DROP TABLE pgmnemo.{hnsw_table(large)}")
        for _ in range(4):
            steps += large.look("SELECT pgmnemo._unindexed_total(%s, %s::smallint)", large.id, generation)
            large.look(
                "SELECT pgmnemo._hnsw_insert_waiting(%s, %s::smallint, 1000, now())", large.id, generation
            )
            waiting.append(large.value(WAITING))
            assert large.rows(CHECK) == []
    finally:
        owner.execute(built)
    assert steps == [(300,), (200,), (100,), (0,)]
    assert waiting == [200, 100, 0, 0]
    assert entries(large) == 300


def test_an_hnsw_index_that_is_small_for_what_enters_is_made_anew(large: Any, owner: Connection) -> None:
    before = hnsw_table(large)
    fill(large, 20, "few")
    large.value(INDEX)
    assert hnsw_table(large) == before
    fill(large, 1500, "many")
    assert large.value(INDEX) > 1000
    assert hnsw_table(large) != before
    assert before not in tables(owner)
    assert entries(large) == 1820
    assert large.rows(CHECK) == []


def test_what_goes_leaves_the_hnsw_index(large: Any) -> None:
    large.value(FORGET, large.project, "l0001")
    assert entries(large) == 299
    large.store("l0002", "another text")
    large.store("l0003", "lesson 3", embedding=vectors(9, 1)[0].tolist())
    assert large.value(
        "SELECT pgmnemo.store(NULL, %s, 'l0004', 'lesson 4', clear => '{embedding}')", large.project
    )
    assert entries(large) == 296
    assert (
        large.value('SELECT pgmnemo.forget_matching(%s, \'{"topic": "none"}\', hard => true)', large.id) == 0
    )
    large.alter("UPDATE pgmnemo.lesson SET project_id = gen_random_uuid() WHERE external_id < 'l0010'")
    assert large.rows(CHECK) == []
    assert entries(large) == 290
    assert large.value(WAITING) == 7
    large.set(hnsw_min_vectors=100)
    assert large.value(INDEX) == 7
    assert large.rows(CHECK) == []


def test_whoever_forgets_everything_has_no_hnsw_index_and_any_dimension(
    large: Any, owner: Connection
) -> None:
    name = hnsw_table(large)
    assert large.value("SELECT pgmnemo.forget_all(NULL)") == 300
    assert name not in tables(owner)
    assert large.look("SELECT FROM pgmnemo.hnsw_index WHERE tenant_id = %s", large.id) == []
    large.store("a", "river", embedding=[1.0, 2.0, 3.0])
    assert large.rows(CHECK) == []


def test_an_hnsw_index_under_an_open_snapshot_may_go(large: Any, owner: Connection) -> None:
    """A reader of an older snapshot has what it showed; nobody waits for it."""
    reader = large.connect()
    question = vectors(7, 1)[0].tolist()
    recall = "SELECT external_id FROM pgmnemo.recall_lessons(%s::real[], 10, mode => 'vector')"
    reader.execute("SET pgmnemo.hnsw_min_vectors = 100")
    name = hnsw_table(large)
    with reader.transaction():
        reader.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        before = reader.execute(recall, (question,)).fetchall()
        large.client.execute("SET statement_timeout = '10s'")
        large.value("SELECT pgmnemo.forget_all(NULL)")
        assert reader.execute(recall, (question,)).fetchall() == before
    assert len(before) == 10
    owner.execute("SELECT pgmnemo.maintain()")
    assert name not in tables(owner)
    assert reader.execute(recall, (question,)).fetchall() == []


def test_a_lost_hnsw_index_is_found_and_made_anew(large: Any, owner: Connection) -> None:
    for spoil in ("DROP TABLE {}", "DELETE FROM {} WHERE lesson_id % 7 = 0",
                  "UPDATE {} SET lesson_id = -lesson_id WHERE lesson_id % 7 = 0",
                  "UPDATE {} SET project_id = gen_random_uuid() WHERE lesson_id % 7 = 0"):  # fmt: skip
        owner.execute(spoil.format(f"pgmnemo.{hnsw_table(large)}"))
        assert large.rows(CHECK) != []
        large.value("SELECT pgmnemo.repair()")
        assert large.rows(CHECK) == []
        assert entries(large) == 300
    owner.execute(f"DROP TABLE pgmnemo.{hnsw_table(large)}")
    coming = "'hnsw_' || (SELECT last_value + 2 FROM pgmnemo.hnsw_seq)"
    owner.execute(f"UPDATE pgmnemo.hnsw_index SET name = {coming} WHERE tenant_id = %s", (large.id,))
    large.value("SELECT pgmnemo.repair()")  # takes just that name
    assert large.rows(CHECK) == []
    owner.execute(f"DROP TABLE pgmnemo.{hnsw_table(large)}")
    large.store("new", "river", embedding=vectors(8, 1)[0].tolist())
    with owner.transaction():
        owner.execute("SET LOCAL pgmnemo.hnsw_min_vectors = 100")
        owner.execute("SELECT pgmnemo.maintain()")
    assert large.rows(CHECK) == []
    assert entries(large) >= 300


def test_twenty_large_tenants_have_twenty(make_tenant: Callable[[], Any], owner: Connection) -> None:
    before = len(tables(owner))
    tenants = [make_tenant() for _ in range(20)]
    for tenant in tenants:
        tenant.set(hnsw_min_vectors=20)
        fill(tenant, 50, dimensions=int(tenant.id) % 5 + 3)
        tenant.value(INDEX)
    assert len(tables(owner)) == before + 20
    for tenant in tenants:
        assert tenant.rows(CHECK) == []
        assert entries(tenant) == 50
        tenant.value("SELECT pgmnemo.forget_all(NULL)")
    assert len(tables(owner)) == before


LEVELS = ["READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"]


def tried(connection: Connection, level: str, work: Callable[[], Any], failed: Counter[str]) -> None:
    """A transaction, until it goes through."""
    while True:
        try:
            with connection.transaction():
                connection.execute(f"SET TRANSACTION ISOLATION LEVEL {level}")
                work()
            return
        except (errors.SerializationFailure, errors.DeadlockDetected) as error:
            failed[type(error).__name__] += 1
            failed[f"{type(error).__name__}: {error.diag.message_detail}"] += 1


def writer(tenant: Any, number: int, level: str, steps: int) -> Counter[str]:
    """Stores, changes, moves and forgets, on keys that others use, too."""
    chance, failed, connection = random.Random(number), Counter[str](), tenant.connect()
    connection.execute("SET pgmnemo.hnsw_min_vectors = 20")
    rows = vectors(number, steps).tolist()

    def calls() -> None:
        key, kind = f"l{chance.randint(0, 60):04}", chance.random()
        if kind < 0.3:
            connection.execute(FORGET, (tenant.project, key))
        elif kind < 0.4:
            move = "UPDATE pgmnemo.lesson SET project_id = %s WHERE external_id = %s AND project_id <> %s"
            other = chance.choice([tenant.project, tenant.id])
            with tenant.acting(connection):
                connection.execute("SELECT pgmnemo._lock_tenant(%s)", (tenant.id,))
                taken = "SELECT FROM pgmnemo.lesson WHERE external_id = %s AND project_id = %s"
                if not connection.execute(taken, (key, other)).fetchall():
                    connection.execute(move, (other, key, other))
        else:
            store = "SELECT pgmnemo.store(NULL, %s, %s, %s, %s::real[])"
            text = chance.choice(["river", "harbour"])
            connection.execute(store, (tenant.project, key, text, chance.choice(rows)))

    for _ in range(steps):
        tried(connection, level, calls, failed)
    return failed


def merger(tenant: Any, owner: Any, level: str, over: Event) -> Counter[str]:
    failed, connection = Counter[str](), tenant.connect()
    connection.execute("SET pgmnemo.hnsw_min_vectors = 20")
    while not over.is_set():
        tried(connection, level, lambda: connection.execute(INDEX), failed)
        with owner() as admin:
            admin.execute("SET pgmnemo.hnsw_min_vectors = 5")
            tried(admin, level, lambda: admin.execute("SELECT pgmnemo.maintain(7)"), failed)
    return failed


@pytest.mark.parametrize("level", LEVELS)
def test_writers_and_mergers_lose_nothing_and_keep_nothing_twice(
    tenant: Any, database: Any, level: str
) -> None:
    tenant.set(hnsw_min_vectors=20)
    fill(tenant, 60)
    tenant.value(INDEX)
    over = Event()
    with ThreadPoolExecutor(8) as pool:
        mergers = [pool.submit(merger, tenant, database.admin, level, over) for _ in range(2)]
        writers = [pool.submit(writer, tenant, n, LEVELS[0] if n == 0 else level, 60) for n in range(4)]
        try:
            failed = sum((one.result() for one in writers), Counter[str]())
        finally:
            over.set()
        failed += sum((one.result() for one in mergers), Counter[str]())
    assert failed["DeadlockDetected"] == 0, failed
    assert tenant.rows(CHECK) == []
    count = "SELECT count(*), count(DISTINCT lesson_id) FROM pgmnemo.vectors"
    assert tenant.rows(count) == [tenant.rows("SELECT count(*), count(*) FROM pgmnemo.lessons")[0]]
    tenant.value(INDEX)
    assert (tenant.value(WAITING), entries(tenant)) == (
        0,
        tenant.value("SELECT count(*) FROM pgmnemo.vectors"),
    )
    assert tenant.rows(CHECK) == []


@pytest.mark.parametrize("level", LEVELS[1:])
def test_a_deletion_of_an_older_snapshot_leaves_nothing_in_the_hnsw_index(large: Any, level: str) -> None:
    """It fails where a merge has moved the vector since, and is right when it is repeated."""
    deleter = large.connect()
    fill(large, 5, "new")
    for key in ("new0001", "l0001"):
        with pytest.raises(errors.SerializationFailure), deleter.transaction():  # noqa: PT012
            deleter.execute(f"SET TRANSACTION ISOLATION LEVEL {level}")
            assert deleter.execute("SELECT count(*) FROM pgmnemo.lessons").fetchone() >= (300,)
            if key == "l0001":
                fill(large, 1500, "more")  # a rebuild
            large.value(INDEX)
            deleter.execute(FORGET, (large.project, key))
        assert large.rows(CHECK) == []
        deleter.execute(FORGET, (large.project, key))
        assert large.rows(CHECK) == []


@pytest.mark.parametrize("level", LEVELS[1:])
def test_an_older_snapshot_makes_no_hnsw_index_of_what_has_changed(large: Any, level: str) -> None:
    late = large.connect()
    late.execute("SET pgmnemo.hnsw_min_vectors = 100")
    fill(large, 1100, "more")
    with pytest.raises(errors.SerializationFailure), late.transaction():  # noqa: PT012
        late.execute(f"SET TRANSACTION ISOLATION LEVEL {level}")
        late.execute("SELECT count(*) FROM pgmnemo.lessons")
        large.store("l0001", "another text")
        late.execute(INDEX)
    assert large.rows(CHECK) == []


def test_a_merge_passes_over_what_another_session_holds(large: Any) -> None:
    fill(large, 5, "new")
    other = large.connect()
    with other.transaction():
        other.execute(FORGET, (large.project, "new0001"))
        large.client.execute("SET statement_timeout = '10s'")
        assert large.value(INDEX) == 4
    assert (large.value(WAITING), entries(large)) == (0, 304)
    assert large.rows(CHECK) == []


def test_one_session_merges_at_a_time_and_no_other_waits(large: Any) -> None:
    fill(large, 5, "new")
    other = large.connect()
    said: list[str] = []
    large.client.add_notice_handler(lambda notice: said.append(str(notice.message_primary)))
    other.execute("SET pgmnemo.hnsw_min_vectors = 100")
    large.client.execute("SET statement_timeout = '10s'")
    with other.transaction():
        other.execute(INDEX)
        assert large.value(INDEX) == 0
        large.store("meanwhile", "river", embedding=vectors(3, 1)[0].tolist())
    assert [one for one in said if "another session" in one]
    assert large.value(INDEX) == 1
    assert large.rows(CHECK) == []
