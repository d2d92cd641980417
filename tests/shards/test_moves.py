"""A move keeps every row with its id, whatever happens to the mover, and says what stands in its way."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event
from typing import Any
from uuid import UUID, uuid4

import pytest
from psycopg import errors

from pgmnemo.errors import DatabaseError, PgmnemoError, UsageError
from pgmnemo_shards import chaos, cli, copying, move_sessions, moving, replication
from pgmnemo_shards.installing import open_operator
from tests.shards.conftest import PROJECT, Connection, Site, recovered, store, where

KILLED = """
import os, signal, sys
from uuid import UUID
from pgmnemo_shards import moving
from pgmnemo_shards.installing import open_operator
from psycopg.conninfo import conninfo_to_dict
def step(name):
    if name == sys.argv[4]:
        os.kill(os.getpid(), signal.SIGKILL)
with open_operator(conninfo_to_dict(sys.argv[1])) as router:
    moving.move(router, UUID(sys.argv[2]), sys.argv[3], step)
"""
VERSION = """
CREATE OR REPLACE FUNCTION pgmnemo.version() RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT '{}' $$
"""
OF_TENANTS = """
SELECT attrelid::regclass::text FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
 WHERE c.relnamespace = 'pgmnemo'::regnamespace AND c.relkind = 'r' AND a.attname = 'tenant_id'
"""
HNSW_TABLES = """
SELECT relname FROM pg_class
 WHERE relnamespace = 'pgmnemo'::regnamespace AND relkind = 'r' AND relname ~ '^hnsw_[0-9]'
"""
VECTORS = """
SELECT lesson_id, generation, number, project_id, embedding
  FROM pgmnemo.lesson_vector WHERE tenant_id = %s ORDER BY 1, 2, 3
"""
SPACE = "SELECT * FROM pgmnemo.embedding_space WHERE tenant_id = %s"
SET_HNSW_MINIMUM = """
SELECT count(*) FROM pgmnemo.store_set(%s, array(
    SELECT ROW(%s::uuid, 'k' || n, 'The heron number ' || mod(n, 40), ARRAY[n, 1, 1]::real[]::vector,
               NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, n,
               NULL)::pgmnemo.lesson_input
      FROM generate_series(1, %s) n))
"""
NUMBERS = "SELECT number FROM pgmnemo.supersession WHERE tenant_id = %s ORDER BY recorded_at"
HELD = """
SELECT id, external_id, content, metadata, stored_at, active
  FROM pgmnemo.lesson WHERE tenant_id = %s ORDER BY 1
"""


def filled(site: Site, shard: str = "shard1") -> tuple[UUID, Connection]:
    """A tenant with lessons of every kind: with passages, linked, softly forgotten, of another language."""
    tenant, client = site.tenant(shard), site.connect("alice")
    vectors = f"ARRAY['[0,1{',0' * 382}]', '[1,1{',0' * 382}]']"
    for n in range(12):
        client.execute(
            "SELECT pgmnemo.store(%s, %s, %s, %s, array_fill(%s::real, '{384}'), "
            "passages => ARRAY['heron', 'river'], "
            f"passage_embeddings => {vectors})",
            (tenant, PROJECT, f"k{n}", f"The heron number {n} stands in the river.", 0.1 + n),
        )
    client.execute("SELECT pgmnemo.link(%s, %s, 'k1', 'k2', 'follows', 0.5)", (tenant, PROJECT))
    client.execute("SELECT pgmnemo.forget(%s, %s, 'k3')", (tenant, PROJECT))
    client.execute("SET pgmnemo.text_config = german")
    store(client, tenant, "german", "Die Reiher standen in den Flüssen.")
    client.execute("RESET pgmnemo.text_config")
    return tenant, client


def nowhere_else(site: Site, tenant: UUID) -> None:
    """Rows and grants of the tenant are on its shard only, HNSW tables and marks of moves nowhere else."""
    for name in {"shard1", "shard2", "shard3"} - {where(site, tenant)}:
        for (table,) in site.rows(name, OF_TENANTS):
            assert site.rows(name, f"SELECT count(*) FROM {table} WHERE tenant_id = %s", tenant) == [(0,)]
        assert site.rows(name, HNSW_TABLES) == []
    for name in ("shard1", "shard2", "shard3"):
        assert site.rows(name, f"{replication.LEFTOVERS} UNION {chaos.MARKS_LEFT}") == []


def untouched(site: Site, tenant: UUID, client: Connection) -> None:
    """The tenant lies on shard1 alone, is served there, and no move is left."""
    assert store(client, tenant, "after") == "inserted"
    assert where(site, tenant) == "shard1"
    assert site.rows("router", "SELECT * FROM directory.move") == []
    nowhere_else(site, tenant)


def test_rows_keep_their_ids_and_answers_stay(site: Site) -> None:
    tenant, client = filled(site)
    before = site.rows("shard1", HELD, tenant)
    question = (
        "SELECT * FROM pgmnemo.recall(%s, array_fill(0.3::real, '{384}'), query_text => 'heron 5 Reiher', "
        "as_of => '2026-01-01')"
    )
    answer = client.execute(question, (tenant,)).fetchall()
    done = moving.move(site.router, tenant, "shard2")
    assert (done.source.name, done.target.name, where(site, tenant)) == ("shard1", "shard2", "shard2")
    assert site.rows("shard2", HELD, tenant) == before
    assert client.execute(question, (tenant,)).fetchall() == answer
    assert client.execute("SELECT * FROM pgmnemo.check(%s)", (tenant,)).fetchall() == []
    nowhere_else(site, tenant)
    assert store(client, tenant, "k1", "changed") == "unembedded"
    moving.move(site.router, tenant, "shard1")
    assert where(site, tenant) == "shard1"
    assert client.execute("SELECT * FROM pgmnemo.check(%s)", (tenant,)).fetchall() == []
    nowhere_else(site, tenant)
    outcomes = site.rows("router", "SELECT outcome FROM directory.moved WHERE tenant_id = %s", tenant)
    assert outcomes == [("moved",), ("moved",)]


def test_a_vacuum_that_finds_the_rows_uncommitted_misleads_nobody(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It notes that the table is empty: a move of 50,000 lessons took ten minutes for one."""
    tenant, _ = filled(site)
    carry = copying._copy_table

    def vacuumed(source: Connection, target: Connection, table: str, *given: Any) -> None:
        carry(source, target, table, *given)
        if table == "lesson":
            with open_operator(site.cluster.conninfo("shard2")) as shard:
                shard.execute("VACUUM (ANALYZE) pgmnemo.lesson")

    monkeypatch.setattr(copying, "_copy_table", vacuumed)
    moving.move(site.router, tenant, "shard2")
    rows = "SELECT reltuples FROM pg_class WHERE oid = 'pgmnemo.lesson'::regclass"
    assert site.rows("shard2", rows) >= [(13,)]


@pytest.mark.parametrize("when", ["follow", "derive", "compare", "hold the writers"])
def test_what_changes_meanwhile_arrives_too_and_nothing_of_others(site: Site, when: str) -> None:
    (tenant, client), other = filled(site), site.tenant("shard1")

    def meanwhile(step: str) -> None:
        if step == when:  # all is copied, and writers are not held yet
            store(client, tenant, "new")
            store(client, tenant, "k5", "The otter has taken the place of the heron.")
            client.execute("SELECT pgmnemo.forget(%s, %s, 'k6', true)", (tenant, PROJECT))
            client.execute("SELECT pgmnemo.unlink(%s, %s, 'k1', 'k2', 'follows')", (tenant, PROJECT))
            client.execute("SELECT pgmnemo.link(%s, %s, 'k7', 'new', 'follows')", (tenant, PROJECT))
            client.execute("SELECT pgmnemo.supersede(%s, %s, 'k7', 'k8')", (tenant, PROJECT))
            described = "SELECT pgmnemo.store(%s, %s, 'k9', 'A heron.', metadata => '{\"lang\": \"en\"}')"
            client.execute(described, (tenant, PROJECT))
            store(client, other, "of another")
        elif step == "copy the rest":
            held.extend(site.rows("shard1", HELD, tenant))

    held: list[tuple[object, ...]] = []
    moving.move(site.router, tenant, "shard3", meanwhile)
    assert {row[1] for row in held} >= {"new", "german"}
    assert site.rows("shard3", HELD, tenant) == held
    assert site.rows("shard3", HELD, other) == []
    assert len(client.execute("SELECT * FROM pgmnemo.list_edges(%s)", (tenant,)).fetchall()) == 1
    assert client.execute("SELECT * FROM pgmnemo.check(%s)", (tenant,)).fetchall() == []
    client.execute("SELECT pgmnemo.undo_supersede(%s, %s, 'k7')", (tenant, PROJECT))
    client.execute("SELECT pgmnemo.supersede(%s, %s, 'k7', 'k9')", (tenant, PROJECT))
    numbers = site.rows("shard3", NUMBERS, tenant)
    assert numbers == sorted(numbers)
    assert len(numbers) == 2


def test_vectors_of_an_embedder_that_changes_meanwhile_arrive_as_they_are(site: Site) -> None:
    tenant, client = filled(site)
    site.run(
        "shard1",
        "INSERT INTO pgmnemo.lesson_vector (tenant_id, generation, project_id, lesson_id, number, embedding) "
        "SELECT tenant_id, 2, project_id, lesson_id, number, '[0.6,0.8]' FROM pgmnemo.lesson_vector "
        "WHERE tenant_id = %s",
        tenant,
    )
    change = "UPDATE pgmnemo.embedding_space SET {} WHERE tenant_id = %s"
    site.run("shard1", change.format("next_generation = 2, next_dimensions = 2"), tenant)
    told = [site.rows("shard1", query, tenant) for query in (VECTORS, SPACE)]
    moving.move(site.router, tenant, "shard2")
    assert [site.rows("shard2", query, tenant) for query in (VECTORS, SPACE)] == told
    assert len(told[0]) == 72

    def meanwhile(step: str) -> None:
        if step == "hold the writers":
            served = "generation = 2, dimensions = 2, next_generation = NULL, next_dimensions = NULL"
            site.run("shard2", change.format(served), tenant)
            site.run(
                "shard2", "DELETE FROM pgmnemo.lesson_vector WHERE tenant_id = %s AND generation = 1", tenant
            )

    moving.move(site.router, tenant, "shard1", meanwhile)
    assert site.rows("shard1", VECTORS, tenant) == [row for row in told[0] if row[1] == 2]
    assert client.execute("SELECT * FROM pgmnemo.check(%s)", (tenant,)).fetchall() == []
    asked = "SELECT count(*) FROM pgmnemo.recall(%s, ARRAY[0.6, 0.8]::real[], mode => 'vector')"
    assert client.execute(asked, (tenant,)).fetchall() == [(10,)]
    nowhere_else(site, tenant)


def test_a_large_tenant_gets_its_hnsw_index_and_its_pieces_anew(site: Site) -> None:
    tenant = site.tenant("shard1")
    limit = "ALTER ROLE postgres {} pgmnemo.hnsw_min_vectors"
    for shard in ("shard1", "shard2", "shard3"):
        site.run(shard, f"{limit.format('SET')} = 100")
    with site.connect("postgres", "shard1") as shard1:
        assert shard1.execute(SET_HNSW_MINIMUM, (tenant, PROJECT, 4_200)).fetchall() == [(4_200,)]
        shard1.execute("SELECT pgmnemo.index(%s), pgmnemo.merge_postings(%s)", (tenant, tenant))
    held = (
        "SELECT (SELECT count(*) FROM pgmnemo.segment WHERE tenant_id = v.tenant_id) > 0, "
        "(SELECT count(*) FROM pgmnemo.hnsw_index WHERE tenant_id = v.tenant_id), count(*) "
        "FROM pgmnemo.lesson_vector v WHERE tenant_id = %s AND indexed GROUP BY tenant_id"
    )
    assert site.rows("shard1", held, tenant) == [(True, 1, 4_200)]
    client = site.connect("alice")
    question = (
        "SELECT * FROM pgmnemo.recall(%s, '{7,1,1}', query_text => 'heron 5', as_of => '2026-01-01')",
        (tenant,),
    )
    answer = client.execute(*question).fetchall()

    def meanwhile(step: str) -> None:
        if step == "compare":  # the HNSW index is made
            again = "SELECT pgmnemo.store(%s, %s, 'k2', 'The heron number 2', '{1,2,3}')"
            client.execute(again, (tenant, PROJECT))
            client.execute("SELECT pgmnemo.forget(%s, %s, 'k3', true)", (tenant, PROJECT))

    try:
        moving.move(site.router, tenant, "shard2")
        assert site.rows("shard2", held, tenant) == [(True, 1, 4_200)]
        assert client.execute(*question).fetchall() == answer
        nowhere_else(site, tenant)
        assert store(client, tenant, "k1", "changed") == "unembedded"
        moving.move(site.router, tenant, "shard3", meanwhile)
    finally:
        for shard in ("shard1", "shard2", "shard3"):
            site.run(shard, limit.format("RESET"))
    assert site.rows("shard3", held, tenant) == [(True, 1, 4_197)]
    assert client.execute("SELECT * FROM pgmnemo.check(%s)", (tenant,)).fetchall() == []
    nowhere_else(site, tenant)
    client.execute("SELECT pgmnemo.forget_all(%s)", (tenant,))


def test_a_writer_meets_one_retryable_error_at_most(site: Site) -> None:
    tenant, _ = filled(site)
    end, done, tries = Event(), list[str](), [0]

    def write() -> None:
        client = site.connect("alice")
        while not end.is_set():
            try:
                store(client, tenant, f"n{len(done)}")
                done.append(f"n{len(done)}")
                tries.append(0)
            except errors.SerializationFailure:
                tries[-1] += 1

    with ThreadPoolExecutor(1) as pool:
        writer = pool.submit(write)
        try:
            for target in ("shard2", "shard3", "shard1"):
                moving.move(site.router, tenant, target)
        finally:
            end.set()
        writer.result()
    assert max(tries) <= 1
    assert done
    assert set(done) <= {row[1] for row in site.rows("shard1", HELD, tenant)}


@pytest.mark.parametrize("step", moving.STEPS)
def test_a_mover_that_is_killed_leaves_what_recover_undoes_or_finishes(site: Site, step: str) -> None:
    tenant, client = filled(site)
    before = site.rows("shard1", HELD, tenant)
    arguments = [site.cluster.operator("router"), str(tenant), "shard2", step]
    mover = subprocess.run(
        [sys.executable, "-c", KILLED, *arguments], capture_output=True, text=True, check=False
    )
    assert mover.returncode == -9, mover.stderr
    late = step in moving.STEPS[8:]
    if step in ("switch", "open the target"):  # both ends are closed: nobody is served, nothing lost
        with pytest.raises(errors.SerializationFailure, match="is on its way to another shard"):
            store(client, tenant, "meanwhile")
    else:
        assert store(client, tenant, "meanwhile") == "inserted"
    assert recovered(site) == ([] if step == "done" else ["moved"] if late else ["undone"])
    assert where(site, tenant) == ("shard2" if late else "shard1")
    store(client, tenant, "meanwhile")
    held = site.rows(where(site, tenant), HELD, tenant)
    assert [row for row in held if row[1] != "meanwhile"] == before
    assert client.execute("SELECT * FROM pgmnemo.check(%s)", (tenant,)).fetchall() == []
    nowhere_else(site, tenant)
    assert site.rows("router", "SELECT * FROM directory.move") == []
    moving.move(site.router, tenant, "shard3")
    assert where(site, tenant) == "shard3"


def gone(step: str) -> None:
    """A mover's end before the switch; nothing is undone."""
    if step == "switch":
        raise SystemExit


def status(site: Site) -> int:
    return cli.main(["status", "--router", site.cluster.operator("router")])


def test_status_ends_a_move_whose_mover_is_gone(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    tenant, client = filled(site)
    with pytest.raises(SystemExit):
        moving.move(site.router, tenant, "shard2", gone)
    assert status(site) == 0
    assert f"move of {tenant} from shard1 to shard2: undone" in capsys.readouterr().out
    untouched(site, tenant, client)


def test_the_next_move_ends_one_whose_mover_is_gone(site: Site) -> None:
    tenant, _ = filled(site)
    with pytest.raises(SystemExit):
        moving.move(site.router, tenant, "shard2", gone)
    moving.move(site.router, tenant, "shard3")
    outcomes = "SELECT target, outcome FROM directory.moved WHERE tenant_id = %s ORDER BY ended_at"
    assert site.rows("router", outcomes, tenant) == [("shard2", "undone"), ("shard3", "moved")]
    nowhere_else(site, tenant)


def test_what_a_move_left_that_no_directory_knows_is_ended(site: Site) -> None:
    name = replication.object_name(uuid4())
    site.run("shard1", f"CREATE PUBLICATION {name} FOR TABLE pgmnemo.lesson")
    site.rows("shard1", "SELECT pg_create_logical_replication_slot(%s, 'pgoutput')::text", name)
    connection = f"CONNECTION '{site.cluster.operator('shard1')}' PUBLICATION {name}"
    site.run(
        "shard2", f"CREATE SUBSCRIPTION {name} {connection} WITH (create_slot = false, copy_data = false)"
    )
    assert recovered(site) == []
    assert [site.rows(shard, replication.LEFTOVERS) for shard in ("shard1", "shard2")] == [[], []]


def test_between_shards_that_cannot_replicate(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    tenant, client = filled(site)
    with monkeypatch.context() as replica:
        replica.setattr(replication, "LEVEL", "SELECT 'replica'")
        with pytest.raises(
            DatabaseError, match="shard1 runs with wal_level = replica, and a move needs logical"
        ):
            moving.move(site.router, tenant, "shard2")
    address = "UPDATE directory.shard SET address = %s WHERE name = 'shard1'"
    site.run("router", address, "host=/nowhere dbname=pgmnemo")
    with pytest.raises(DatabaseError, match="the server of shard shard2 cannot reach shard shard1 at"):
        moving.move(site.router, tenant, "shard2")
    site.run("router", address, site.cluster.address("shard1"))
    untouched(site, tenant, client)


def test_two_moves_of_one_tenant_at_once(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    tenant, _ = filled(site)

    def second(step: str) -> None:
        if step == "copy the rest":
            with pytest.raises(DatabaseError, match="is being moved by another command; wait for it to end"):
                moving.move(site.router, tenant, "shard3")
            assert status(site) == 0
            assert f"move of {tenant} from shard1 to shard2: at work" in capsys.readouterr().out

    moving.move(site.router, tenant, "shard2", second)
    assert where(site, tenant) == "shard2"


def test_a_move_that_ended_a_moment_ago_is_not_overlooked(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenant, _ = filled(site)
    before = site.rows("shard1", HELD, tenant)

    @contextmanager
    def late(session: Connection, tenant: UUID) -> Iterator[None]:
        with monkeypatch.context() as alone:
            alone.setattr(moving, "tenant_move_lock", move_sessions.tenant_move_lock)
            moving.move(site.router, tenant, "shard2")
        with move_sessions.tenant_move_lock(session, tenant):
            yield

    monkeypatch.setattr(moving, "tenant_move_lock", late)
    assert moving.move(site.router, tenant, "shard3").source.name == "shard2"
    assert site.rows("shard3", HELD, tenant) == before


def test_a_mover_that_lost_the_router_is_still_at_work(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    tenant, client = filled(site)
    router = site.router
    monkeypatch.setattr(move_sessions, "RECONNECT_TIMEOUT", 2.0)

    def lost(step: str) -> None:
        if step == "hold the writers":
            site.rows("router", "SELECT pg_terminate_backend(%s, 5000)", router.info.backend_pid)
            assert [outcome for _, outcome in moving.recover(site.router, tenant)] == ["at work"]

    with pytest.raises(DatabaseError, match="the connection to the router was lost"):
        moving.move(router, tenant, "shard2", lost)
    untouched(site, tenant, client)


@pytest.mark.parametrize("step", ["open the target", "recover"])
def test_what_the_target_does_not_hold_is_not_taken_away(
    site: Site, capsys: pytest.CaptureFixture[str], step: str
) -> None:
    tenant, client = filled(site)
    before = site.rows("shard1", HELD, tenant)

    def loses(name: str) -> None:
        if name == "open the target":
            site.run(
                "shard2", "DELETE FROM pgmnemo.lesson WHERE tenant_id = %s AND external_id = 'k7'", tenant
            )
            if step == "recover":
                raise KeyboardInterrupt

    with pytest.raises((DatabaseError, KeyboardInterrupt)) as caught:
        moving.move(site.router, tenant, "shard2", loses)
    told = str(caught.value)
    if step == "recover":
        assert cli.main(["recover", "--router", site.cluster.operator("router")]) == 3
        told = capsys.readouterr().out
    assert "12 of 13 lessons" in told
    assert site.rows("shard1", HELD, tenant) == before
    if step == "recover":  # nobody is served until both are alike
        with pytest.raises(errors.SerializationFailure, match="was cut short"):
            store(client, tenant, "after")
    site.run("router", "UPDATE directory.tenant SET shard = 'shard1' WHERE tenant_id = %s", tenant)
    site.run("router", "UPDATE directory.move SET state = 'copying' WHERE tenant_id = %s", tenant)
    assert recovered(site) == ["undone"]
    assert store(client, tenant, "after") == "inserted"


def test_an_interrupted_move_is_undone(site: Site) -> None:
    tenant, client = filled(site)

    def interrupted(step: str) -> None:
        if step == "switch":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        moving.move(site.router, tenant, "shard2", interrupted)
    untouched(site, tenant, client)


def test_a_slip_on_the_way_undoes_the_move(site: Site) -> None:
    tenant, client = filled(site)

    def slip(step: str) -> None:
        if step == "compare":
            spoil = "UPDATE pgmnemo.lesson SET content = 'spoilt' WHERE tenant_id = %s AND external_id = 'k1'"
            site.run("shard2", spoil, tenant)

    with pytest.raises(DatabaseError, match=r"13 of 13 lessons .* nothing was moved"):
        moving.move(site.router, tenant, "shard2", slip)
    untouched(site, tenant, client)


def test_to_a_shard_that_is_its_own_unknown_or_full(site: Site) -> None:
    tenant, _ = filled(site)
    for target, sentence in {
        "shard1": "lies on shard shard1 already",
        "shard9": "there is no shard 'shard9'; the directory names: shard1, shard2, shard3",
    }.items():
        with pytest.raises(UsageError, match=sentence):
            moving.move(site.router, tenant, target)
    with pytest.raises(UsageError, match="the directory knows no tenant"):
        moving.move(site.router, uuid4(), "shard1")
    site.run("router", "UPDATE directory.shard SET capacity = 1000000 WHERE name = 'shard2'")
    try:
        with pytest.raises(DatabaseError, match=r"shard shard2 is full: it holds .* of 1,000,000 bytes"):
            moving.move(site.router, tenant, "shard2")
        with pytest.raises(errors.UndefinedObject, match="names no shard shard2 with room"):
            site.router.execute("SELECT pgmnemo.place_tenant(%s, 'shard2')", (uuid4(),))
    finally:
        site.run("router", "UPDATE directory.shard SET capacity = NULL WHERE name = 'shard2'")
    nowhere_else(site, tenant)


def test_to_a_shard_of_another_version_or_without_the_login(site: Site) -> None:
    tenant, _ = filled(site)
    found = site.rows("shard1", "SELECT pgmnemo.version()")[0][0]
    site.run("shard2", VERSION.format("0.9.9"))
    try:
        with pytest.raises(DatabaseError, match=r"shard shard2 has pgmnemo 0.9.9, and shard shard1"):
            moving.move(site.router, tenant, "shard2")
    finally:
        site.run("shard2", VERSION.format(found))
    site.run("shard1", "CREATE ROLE stranger LOGIN")
    site.rows("shard1", "SELECT pgmnemo.grant_tenant(%s, 'stranger')", tenant)
    with pytest.raises(DatabaseError, match="shard shard2 has no role stranger"):
        moving.move(site.router, tenant, "shard2")
    site.rows("shard1", "SELECT pgmnemo.revoke_tenant(%s, 'stranger')", tenant)
    site.run("shard1", "DROP ROLE stranger")


def test_to_a_shard_that_holds_rows_of_it_already(site: Site) -> None:
    tenant, _ = filled(site)
    site.rows("shard2", "SELECT pgmnemo.grant_tenant(%s, 'alice')", tenant)
    with pytest.raises(
        DatabaseError, match=r"shard shard2 holds rows of tenant .*, which the directory places on shard1"
    ):
        moving.move(site.router, tenant, "shard2")
    with site.connect("postgres", "shard2") as shard:
        copying.delete_tenant(shard, tenant)
    moving.move(site.router, tenant, "shard2")


def test_a_call_that_does_not_end_stops_the_move_not_the_tenant(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenant, client = filled(site)
    monkeypatch.setattr(move_sessions, "LOCK_TIMEOUT", 0.2)
    slow = site.connect("postgres", "shard1")
    with slow.transaction():
        slow.execute("SELECT pgmnemo_shard._enter(%s)", (tenant,))
        with pytest.raises(PgmnemoError, match=r"did not end within 0.2 s; nothing was moved"):
            moving.move(site.router, tenant, "shard2")
    untouched(site, tenant, client)
