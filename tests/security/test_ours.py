"""What the review did not look for, for 0.3.1 had no verbs with their owner's rights.

Proofs, rights, owners, restores.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg import errors

from tests.security.attacked import OURS, PROJECT, A, B, Site, attempt, vector

Make = Callable[..., Site]


@pytest.fixture
def ours(make_site: Make) -> Site:
    site = make_site(OURS)
    for role, tenant in (("alice", A), ("bob", B)):
        with site.connect(role, tenant) as client:
            site.store(client, tenant, "kept", f"the river of {role}")
    return site


def proof(client: psycopg.Connection[Any]) -> tuple[str, bytes]:
    return client.execute("SELECT name, proof FROM pgmnemo.calling").fetchall()[0]


LISTED = "SELECT count(*) FROM pgmnemo.list_lessons(%s, ROW(%s, %s)::pgmnemo.caller)"


def test_a_proof_is_worth_nothing_elsewhere_or_later_or_for_another(ours: Site) -> None:
    alice, other = ours.connect("alice"), ours.connect("alice")
    with alice.transaction():
        name, mine = proof(alice)
        assert alice.execute(LISTED, (A, name, mine)).fetchone() == (1,)
        forgeries = ((alice, B, "bob"), (alice, B, "keeper"), (alice, B, "postgres"), (other, A, name))
        for client, tenant, forged in forgeries:
            with pytest.raises(errors.InsufficientPrivilege, match="does not prove"), client.transaction():
                client.execute(LISTED, (tenant, forged, mine))
    with pytest.raises(errors.InsufficientPrivilege, match="does not prove that role alice calls"):
        alice.execute(LISTED, (A, name, mine))


def test_no_proof_is_no_proof_even_without_a_key(ours: Site) -> None:
    ours.run("DELETE FROM pgmnemo.caller_key")
    alice = ours.connect("alice")
    for caller in ("NULL", "ROW(NULL, NULL)::pgmnemo.caller", "ROW('bob', NULL)::pgmnemo.caller"):
        for call in (f"list_lessons('{B}', {caller})", f"list_grants({caller})"):
            with pytest.raises(errors.InsufficientPrivilege, match="does not prove"):
                alice.execute(f"SELECT * FROM pgmnemo.{call}")


def test_a_strangers_function_proves_its_owner_alone(ours: Site) -> None:
    """bob calls a function of alice's that has her rights: it neither gets his tenant nor lends him hers."""
    ours.run("CREATE SCHEMA alice AUTHORIZATION alice", "GRANT USAGE ON SCHEMA alice TO PUBLIC")
    alice = ours.connect("alice")
    alice.execute(
        "CREATE FUNCTION alice.count(tenant uuid) RETURNS bigint LANGUAGE sql SECURITY DEFINER "
        "AS 'SELECT count(*) FROM pgmnemo.list_lessons(tenant)'"
    )
    bob = ours.connect("bob")
    with pytest.raises(errors.InsufficientPrivilege, match="role alice has no grant"):
        bob.execute("SELECT alice.count(%s)", (B,))
    assert bob.execute("SELECT alice.count(%s)", (A,)).fetchone() == (1,)  # as alice wants it


def hnsw_table(site: Site, tenant: UUID) -> str:
    """The table of the tenant's HNSW index."""
    return str(site.rows("SELECT name FROM pgmnemo.hnsw_index WHERE tenant_id = %s", tenant)[0][0])


@pytest.mark.parametrize("right", ["pg_read_all_data", "pg_write_all_data"])
def test_who_reads_all_data_reads_no_secret_and_no_lesson(ours: Site, right: str) -> None:
    ours.run(f"GRANT {right} TO mallory")
    bob = ours.connect("bob", B, **{"pgmnemo.hnsw_min_vectors": 0})
    ours.store(bob, B, "far", "a vector", embedding=vector(1))
    try:
        mallory = ours.connect("mallory", B, **{"pgmnemo.acting_tenant": B})
        for table in ("caller_key", "tenant_grant", "lesson", "passage", "posting", "lesson_edge", "tenant",
                      "hnsw_index", "lesson_vector", "embedding_space", "segment", "segment_lesson",
                      "segment_project", "segment_term", hnsw_table(ours, B)):  # fmt: skip
            assert not attempt(mallory, f"SELECT * FROM pgmnemo.{table}")
            gone = f"WITH gone AS (DELETE FROM pgmnemo.{table} RETURNING 1) SELECT count(*) FROM gone"
            assert attempt(mallory, gone) in (None, [(0,)])
    finally:
        ours.run(f"REVOKE {right} FROM mallory")


def test_default_privileges_of_the_owner_give_nobody_a_table(make_site: Make) -> None:
    given = "ALTER DEFAULT PRIVILEGES FOR ROLE keeper GRANT ALL ON {} TO mallory"
    site = make_site(OURS, *map(given.format, ("TABLES", "FUNCTIONS", "SEQUENCES", "TYPES", "SCHEMAS")))
    held = site.rows(
        "SELECT relname FROM pg_class WHERE relnamespace = 'pgmnemo'::regnamespace AND relkind IN ('r', 'S') "
        "AND (has_table_privilege('mallory', oid, 'SELECT') "
        "OR has_table_privilege('mallory', oid, 'UPDATE')) UNION ALL "
        "SELECT proname FROM pg_proc WHERE pronamespace = 'pgmnemo'::regnamespace "
        "AND proname ~ '^_(enter|store$|acting)' "
        "AND has_function_privilege('mallory', oid, 'EXECUTE') UNION ALL "
        "SELECT typname FROM pg_type WHERE typnamespace = 'pgmnemo'::regnamespace AND typtype = 'c' "
        "AND has_type_privilege('mallory', oid, 'USAGE')"
    )
    assert held == []
    assert site.rows("SELECT has_schema_privilege('mallory', 'pgmnemo', 'CREATE')") == [(False,)]


def test_answers_are_the_same_under_any_setting(ours: Site) -> None:
    question = "what's in the river of May 2023? \\ 'quoted'"
    alice = ours.connect("alice", A)
    ours.store(alice, A, "other", "It's a \\ river in May", occurred_at="2023-05-08")
    recall = "SELECT to_jsonb(r)::text FROM pgmnemo.recall(%s, query_text => %s, as_of => '2025-01-01') r"
    usual = alice.execute(recall, (A, question)).fetchall()
    assert len(usual) == 2
    for setting in (
        "standard_conforming_strings = off", "quote_all_identifiers = on", "transform_null_equals = on",
        "array_nulls = off", "DateStyle = 'SQL, DMY'", "bytea_output = escape",
        "plpgsql.extra_errors = 'all'",
    ):  # fmt: skip
        odd = ours.connect("alice", A)
        odd.execute(f"SET {setting}")
        assert odd.execute(recall, (A, question)).fetchall() == usual, setting


def closed(site: Site, name: str) -> None:
    """An HNSW index is the extension's owner's alone, and its policy names no tenant."""
    about = (
        "SELECT pg_get_userbyid(c.relowner) = pg_get_userbyid(e.extowner), c.relacl, c.relrowsecurity, "
        "c.relforcerowsecurity, has_type_privilege('public', c.reltype, 'USAGE'), count(p.oid), "
        "min(pg_get_expr(p.polqual, p.polrelid)) FROM pg_class c "
        "JOIN pg_extension e ON e.extname = 'pgmnemo' JOIN pg_policy p ON p.polrelid = c.oid "
        "WHERE c.oid = %s::regclass GROUP BY e.oid, c.oid"
    )
    ((owned, rights, *secured, usage, policies, asked),) = site.rows(about, f"pgmnemo.{name}")
    assert (owned, secured, usage, policies) == (True, [True, True], False, 1)
    assert rights is None or all(right.startswith("keeper=") for right in rights)
    assert f"_acting_hnsw_table('{name}'::name)" in asked


@pytest.mark.parametrize("first", [True, False], ids=["extension first", "the dump alone"])
def test_a_restored_hnsw_index_is_closed_whoever_owns_the_extension(
    ours: Site, tmp_path: Path, first: bool
) -> None:
    """PostgreSQL gives everybody the type of a table's rows, and no dump takes it away."""
    dump, listed = str(tmp_path / "memory.dump"), tmp_path / "listed"
    bob = ours.connect("bob", B, **{"pgmnemo.hnsw_min_vectors": 0})
    ours.store(bob, B, "far", "a vector", embedding=vector(0, 1))
    name = hnsw_table(ours, B)
    closed(ours, name)
    ours.server.program("pg_dump", ours.name, "-Fc", "-f", dump)
    ours.server.create("brought", "CREATE SCHEMA mallory AUTHORIZATION mallory")
    if first:
        with ours.server.connect("brought", "keeper") as keeper:
            keeper.execute("CREATE EXTENSION pgmnemo")
    else:
        with ours.server.connect("brought") as root:
            root.execute("DROP SCHEMA mallory")
    entries = ours.server.program("pg_restore", "brought", "-l", dump).splitlines(keepends=True)
    listed.write_text("".join(line for line in entries if not first or " SCHEMA - pgmnemo " not in line))
    ours.server.program("pg_restore", "brought", "-L", str(listed), dump)
    with ExitStack() as stack:
        copy = Site(ours.server, OURS, "brought", stack)
        closed(copy, name)
        copy.run("CREATE SCHEMA IF NOT EXISTS mallory AUTHORIZATION mallory")
        for table in (name, "lesson_vector", "segment_term"):
            with pytest.raises(errors.InsufficientPrivilege):
                copy.connect("mallory").execute(f"CREATE TABLE mallory.x (y pgmnemo.{table})")
        if first:
            root = copy.connect()
            root.execute(f"GRANT USAGE ON TYPE pgmnemo.{name} TO PUBLIC")  # as pg_upgrade leaves it
            copy.connect("keeper").execute("SELECT pgmnemo.maintain()")
            closed(copy, name)
        assert copy.recall(copy.connect("bob", B), B, "river")[0] == "kept"


def test_who_is_bound_by_the_policies_makes_and_takes_no_dump_silently(ours: Site) -> None:
    """Neither half a dump nor half a restore passes for a whole one."""
    text = ours.server.dump(ours.name)
    ours.server.create("bound")
    with ours.server.connect("bound", "keeper") as keeper:
        keeper.execute("CREATE EXTENSION pgmnemo")
    said = ours.server.program("psql", "bound", "-q", "-c", "SET ROLE keeper", "-f", "-", given=text)
    assert 'would be affected by row-level security policy for table "lesson"' in said
    ours.server.conninfo["user"], superuser = "keeper", ours.server.conninfo["user"]
    try:
        said = ours.server.program("pg_dump", ours.name, "-f", "/dev/null")
    finally:
        ours.server.conninfo["user"] = superuser
    assert "would be affected by row-level security" in said


def test_another_owner_takes_all_of_it_over(ours: Site) -> None:
    ours.run("DROP ROLE IF EXISTS steward", "CREATE ROLE steward LOGIN")
    try:
        with pytest.raises(errors.DependentObjectsStillExist):
            ours.run("DROP ROLE keeper")
        ours.run("REASSIGN OWNED BY keeper TO steward")
        assert ours.recall(ours.connect("bob", B), B, "river") == ["kept"]
        ours.connect("steward").execute("SELECT pgmnemo.grant_tenant(%s, 'mallory')", (B,))
        with pytest.raises(errors.InsufficientPrivilege):
            ours.connect("keeper").execute("SELECT pgmnemo.grant_tenant(%s, 'mallory')", (A,))
        ours.run("DROP OWNED BY alice", "DROP OWNED BY bob")  # grants are no objects of theirs
        assert ours.recall(ours.connect("bob", B), B, "river") == ["kept"]
    finally:
        ours.run("REASSIGN OWNED BY steward TO keeper", "DROP ROLE steward")


def test_the_extension_goes_and_comes_back(ours: Site) -> None:
    ours.run("CREATE SCHEMA mallory AUTHORIZATION mallory")
    ours.connect("mallory").execute("CREATE VIEW mallory.v AS SELECT pgmnemo.version()")
    keeper = ours.connect("keeper")
    with pytest.raises(errors.DependentObjectsStillExist):
        keeper.execute("DROP EXTENSION pgmnemo")
    ours.run("DROP EXTENSION pgmnemo CASCADE")
    assert ours.rows("SELECT count(*) FROM pg_namespace WHERE nspname = 'pgmnemo'") == [(1,)]
    keeper.execute("CREATE EXTENSION pgmnemo")
    keeper.execute("DROP EXTENSION pgmnemo")
    keeper.execute("DROP SCHEMA pgmnemo")


def test_a_role_that_no_policy_binds_is_told_so_at_each_call_unless_silenced(ours: Site) -> None:
    root, said = ours.connect(), []
    root.add_notice_handler(lambda notice: said.append(notice.message_primary))
    for _ in range(2):
        root.execute("SELECT * FROM pgmnemo.list_lessons(%s)", (B,))
    assert len(said) == 2
    assert all("no row-level security binds role postgres" in text for text in said)
    root.execute("SET pgmnemo.bypass_notice = off")
    assert root.execute("SELECT count(*) FROM pgmnemo.list_lessons(%s)", (B,)).fetchone() == (1,)
    assert len(said) == 2
    bob = ours.connect("bob")
    bob.add_notice_handler(lambda notice: said.append(notice.message_primary))
    bob.execute("SELECT * FROM pgmnemo.store(%s, %s, 'told', 'nothing')", (B, PROJECT))
    assert len(said) == 2
