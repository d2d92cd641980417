"""Tenants cannot see, count, score or alter one another's rows, whatever they set; verbs are the only way."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import psycopg
import pytest
from psycopg import errors, sql

from tests.security.verbs import OF_NO_TENANT, VERBS, by_argument, by_setting

WALLED = ("lesson", "lesson_edge", "posting", "passage", "lesson_vector", "embedding_space", "tenant")
TABLES = (*WALLED, "tenant_grant", "caller_key", "maintenance_run", "hnsw_index")
VIEWS = ("lessons", "edges", "postings", "passages", "vectors")
UNUSED = "c0a8f2ee-5f0b-4f0e-9a63-3d7f3a1b9e55"  # a tenant that nobody was granted
Connection = psycopg.Connection[Any]


@pytest.fixture
def pair(make_tenant: Any, unit: Any) -> tuple[Any, Any]:
    """Two tenants with two linked lessons each under the same keys; the second's have a word of their own."""
    tenants = make_tenant(), make_tenant()
    for tenant, word in zip(tenants, ("heron", "otter"), strict=True):
        tenant.project = tenants[0].project
        tenant.store("a", f"the river {word}", embedding=unit(1), passages=["the river", word])
        tenant.store("b", f"a {word} by the river", embedding=unit(0, 1))
        tenant.link("a", "b")
    return tenants


def calls(tenant: Any) -> list[str]:
    """Each verb for the tenant, in each of its spellings."""
    return by_argument(tenant.id, tenant.project, "a", "b") + by_setting(tenant.project, "a", "b")


def counts(tenant: Any) -> list[int]:
    return [tenant.value(f"SELECT count(*) FROM pgmnemo.{view}") for view in VIEWS]


def refused(connection: Connection, called: Iterable[str], sentence: str) -> None:
    """Every call is refused with the sentence."""
    for call in called:
        with pytest.raises(errors.InsufficientPrivilege, match=sentence), connection.transaction():
            connection.execute(f"SELECT * FROM pgmnemo.{call}")


@pytest.fixture
def stranger(owner: Connection, database: Any) -> Any:
    """An ordinary login with no grant at all."""
    owner.execute("DROP ROLE IF EXISTS stranger")
    owner.execute("CREATE ROLE stranger")
    with database.admin() as connection:
        connection.execute("SET ROLE stranger")
        yield connection
    owner.execute("DROP ROLE stranger")


def test_every_public_function_is_a_row_of_the_verbs_or_of_no_tenant(owner: Connection) -> None:
    public = "SELECT proname FROM pg_proc WHERE pronamespace = 'pgmnemo'::regnamespace AND proname !~ '^_'"
    rows = {verb.name for verb in VERBS}
    assert {name for (name,) in owner.execute(public)} == rows | OF_NO_TENANT
    definers = {name for (name,) in owner.execute(f"{public} AND prosecdef")}
    assert definers == rows | {"current_tenant", "list_grants"}


def test_each_sees_and_counts_its_own_rows(pair: tuple[Any, Any]) -> None:
    assert counts(pair[0]) == counts(pair[1]) == [2, 1, 6, 2, 2]
    own = {row[0] for row in pair[0].rows("SELECT id FROM pgmnemo.lessons")}
    assert not own & {row[0] for row in pair[1].rows("SELECT id FROM pgmnemo.lessons")}


def test_no_verb_for_one_tenant_tells_or_changes_what_is_anothers(pair: tuple[Any, Any]) -> None:
    """Not even if its caller sets the tenant that a verb acts for, and nothing of that is left afterwards."""
    first, second = pair
    held = "SELECT r::text FROM pgmnemo.{} r ORDER BY 1"
    before = {view: second.rows(held.format(view)) for view in VIEWS}
    for call in calls(first):
        with first.client.transaction(force_rollback=True):
            first.set(acting_tenant=second.id)
            try:
                with first.client.transaction():
                    told = first.rows(f"SELECT r::text FROM pgmnemo.{call} r")
            except (errors.NoDataFound, errors.ObjectNotInPrerequisiteState):
                continue
            assert "otter" not in str(told), call
            assert first.value("SELECT current_setting('pgmnemo.acting_tenant')") == "", call
            first.set(tenant_id=second.id)  # its role holds both
            assert {view: first.rows(held.format(view)) for view in VIEWS} == before, call


@pytest.mark.parametrize("setting", ["", "no uuid", "00000000-0000-0000-0000-000000000000", UNUSED])
def test_a_setting_that_is_empty_malformed_or_wrong_shows_nothing(
    pair: tuple[Any, Any], setting: str
) -> None:
    tenant = pair[0]
    tenant.set(tenant_id=setting)
    assert counts(tenant) == [0, 0, 0, 0, 0]
    kinds = (errors.InvalidParameterValue, errors.InsufficientPrivilege)
    for call in by_setting(tenant.project, "a", "b"):
        with pytest.raises(kinds, match="tenant"):
            tenant.rows(f"SELECT * FROM pgmnemo.{call}")
    with pytest.raises(kinds, match="tenant"):
        tenant.store_many({"c": "river"})


def test_a_login_without_a_grant_is_refused_every_verb(pair: tuple[Any, Any], stranger: Connection) -> None:
    stranger.execute("SELECT set_config('pgmnemo.tenant_id', %s, false)", (str(pair[0].id),))
    for view in VIEWS:
        assert stranger.execute(f"SELECT count(*) FROM pgmnemo.{view}").fetchone() == (0,)
    assert stranger.execute("SELECT * FROM pgmnemo.list_grants()").fetchall() == []
    refused(stranger, calls(pair[0]), "role stranger has no grant for tenant")


def test_a_grant_that_is_revoked_ends_every_verb_at_once(
    pair: tuple[Any, Any], owner: Connection, database: Any
) -> None:
    query = "SELECT pgmnemo.revoke_tenant(%s, %s)"
    assert owner.execute(query, (pair[0].id, database.facts.role)).fetchone() == (True,)
    assert counts(pair[0]) == [0, 0, 0, 0, 0]
    refused(pair[0].client, calls(pair[0]), "has no grant for tenant")
    assert owner.execute(query, (pair[0].id, database.facts.role)).fetchone() == (False,)


@pytest.fixture
def writing(owner: Connection) -> set[str]:
    """The verbs that may change something, as PostgreSQL knows them."""
    volatile = (
        "SELECT proname FROM pg_proc WHERE pronamespace = 'pgmnemo'::regnamespace AND provolatile = 'v'"
    )
    return {name for (name,) in owner.execute(volatile)}


def test_a_grant_to_read_serves_every_verb_that_reads_and_none_that_writes(
    pair: tuple[Any, Any], stranger: Connection, owner: Connection, writing: set[str]
) -> None:
    """By the argument and by the setting; no lesson changes, and another tenant stays out of reach."""
    first, second = pair
    owner.execute("SELECT pgmnemo.grant_tenant(%s, 'stranger', 'read')", (first.id,))
    stranger.execute("SELECT set_config('pgmnemo.tenant_id', %s, false)", (str(first.id),))
    before = [first.rows(f"SELECT r::text FROM pgmnemo.{view} r ORDER BY 1") for view in VIEWS]
    reading = [call for call in calls(first) if call.partition("(")[0] not in writing]
    assert len(reading) > 30
    for call in reading:
        assert "otter" not in str(stranger.execute(f"SELECT r::text FROM pgmnemo.{call} r").fetchall()), call
    refused(stranger, (call for call in calls(first) if call not in reading), "role stranger may only read")
    refused(stranger, by_argument(second.id, second.project, "a", "b"), "has no grant for tenant")
    assert before == [first.rows(f"SELECT r::text FROM pgmnemo.{view} r ORDER BY 1") for view in VIEWS]


def test_a_grant_that_is_cut_down_to_read_ends_every_write_at_once_in_old_snapshots_too(
    pair: tuple[Any, Any], owner: Connection, database: Any
) -> None:
    first, grant = pair[0], "SELECT pgmnemo.grant_tenant(%s, %s, %s)"
    store = "SELECT pgmnemo.store(NULL, %s, 'c', 'a ford')"
    first.client.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
    assert first.rows("SELECT FROM pgmnemo.lessons")
    owner.execute(grant, (first.id, database.facts.role, "read"))
    with pytest.raises(errors.SerializationFailure):
        first.value(store, first.project)
    first.client.execute("ROLLBACK")
    with pytest.raises(errors.InsufficientPrivilege, match="may only read"):
        first.value(store, first.project)
    listed = "SELECT access FROM pgmnemo.list_grants() WHERE tenant_id = %s"
    assert first.rows(listed, first.id) == [("read",)]
    owner.execute(grant, (first.id, database.facts.role, "write"))
    assert first.value(store, first.project) == "inserted"


def test_a_role_has_the_most_that_its_grants_give_it(
    pair: tuple[Any, Any], stranger: Connection, owner: Connection, database: Any
) -> None:
    first, store = pair[0], "SELECT pgmnemo.store(%s, %s, 'c', 'a ford')"
    owner.execute("SELECT pgmnemo.grant_tenant(%s, 'stranger', 'read')", (first.id,))
    owner.execute(f"GRANT {database.facts.role} TO stranger")
    assert stranger.execute(store, (first.id, first.project)).fetchone() == ("inserted",)
    for access in ("", "owner", None):
        with pytest.raises(errors.InvalidParameterValue, match=r"access is .* must be read or write"):
            owner.execute("SELECT pgmnemo.grant_tenant(%s, 'stranger', %s)", (first.id, access))


@pytest.mark.parametrize("forge", [
    "SELECT ROW('postgres', proof)::pgmnemo.caller FROM pgmnemo.calling",
    "SELECT ROW('{role}', proof)::pgmnemo.caller FROM pgmnemo.calling",
    "SELECT ROW('{role}', sha256('\\x00'))::pgmnemo.caller",
    "SELECT ROW('{role}', NULL)::pgmnemo.caller",
    "SELECT ROW(NULL, NULL)::pgmnemo.caller",
    "SELECT NULL::pgmnemo.caller",
])  # fmt: skip
def test_nobody_calls_in_anothers_name(
    pair: tuple[Any, Any], stranger: Connection, database: Any, forge: str
) -> None:
    forged = f"({forge.replace('{role}', database.facts.role)})"
    named = by_argument(pair[0].id, pair[0].project, "a", "b")
    stranger.execute("SELECT set_config('pgmnemo.tenant_id', %s, false)", (str(pair[0].id),))
    others = [f"{verb}({forged})" for verb in ("current_tenant", "list_grants")]
    called = [f"{call.removesuffix(')')}, caller => {forged})" for call in named]
    refused(stranger, called + others, "does not prove that role")


def test_a_verb_that_erred_would_still_reach_no_other_tenant(pair: tuple[Any, Any]) -> None:
    """The second wall: policies hold the extension's owner to the tenant that the verb is for."""
    first, second = pair
    for table in WALLED:
        assert first.look(f"SELECT FROM pgmnemo.{table} WHERE tenant_id = %s", second.id) == []
        for change in (f"UPDATE pgmnemo.{table} SET tenant_id = tenant_id", f"DELETE FROM pgmnemo.{table}"):
            assert first.alter(f"{change} WHERE tenant_id = %s", second.id) == 0
    before = counts(second)
    for table in ("lesson", "posting", "passage"):
        with pytest.raises(errors.InsufficientPrivilege, match="row-level security"):
            first.alter(f"UPDATE pgmnemo.{table} SET tenant_id = %s", second.id)
    forged = "INSERT INTO pgmnemo.posting VALUES (%s, %s, 'river', '{1}', '{1}', '{1}', 1, 1, 1, 1, 1)"
    with pytest.raises(errors.InsufficientPrivilege, match="row-level security"):
        first.alter(forged, second.id, second.project)
    mine, theirs = (one.value("SELECT min(id) FROM pgmnemo.lessons") for one in pair)
    with pytest.raises(errors.ForeignKeyViolation):  # nor does an edge reach into another tenant
        first.alter("INSERT INTO pgmnemo.lesson_edge VALUES (%s, %s, %s, 'x')", first.id, mine, theirs)
    assert counts(second) == before


def test_another_tenants_writing_changes_no_score(pair: tuple[Any, Any], unit: Any) -> None:
    first, second = pair
    question = {"text": "river lantern", "vector": unit(1, 1), "as_of": "2100-01-01"}
    before = first.recall(**question)
    second.store_many({f"n{n}": "river lantern river" for n in range(200)}, [unit(1, 1)] * 200)
    forged = "INSERT INTO pgmnemo.posting VALUES (%s, %s, 'river', %s, '{1}', '{1}', 999, 999, 999, 1, 1)"
    second.alter(forged, second.id, second.project, [before[0]["lesson_id"]])
    assert first.recall(**question) == before


def test_members_inherit_a_grant_and_the_owner_is_bound_as_well(
    pair: tuple[Any, Any], owner: Connection, stranger: Connection
) -> None:
    owner.execute("CREATE ROLE crew")
    try:
        owner.execute("GRANT crew TO stranger")
        owner.execute("SELECT pgmnemo.grant_tenant(%s, 'crew')", (pair[0].id,))
        stranger.execute("SELECT set_config('pgmnemo.tenant_id', %s, false)", (str(pair[0].id),))
        assert stranger.execute("SELECT count(*) FROM pgmnemo.lessons").fetchone() == (2,)
        owner.execute("SELECT pgmnemo.revoke_tenant(%s, 'crew')", (pair[0].id,))
    finally:
        owner.execute("DROP ROLE crew")
    free = (
        "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'pgmnemo'::regnamespace "
        "AND NOT (relrowsecurity AND relforcerowsecurity)"
    )
    assert {name for (name,) in owner.execute(free)} == set(TABLES) - set(WALLED)
    with owner.transaction():
        owner.execute("SET LOCAL ROLE pgmnemo_owner")
        for table in WALLED:
            assert owner.execute(f"SELECT count(*) FROM pgmnemo.{table}").fetchone() == (0,)


def test_a_superuser_works_for_one_tenant_through_the_verbs(pair: tuple[Any, Any], owner: Connection) -> None:
    owner.execute("SELECT set_config('pgmnemo.tenant_id', %s, false)", (str(pair[0].id),))
    owner.execute("SET pgmnemo.gate_strict = off")
    recalled = "SELECT lesson_id FROM pgmnemo.recall_lessons(query_text => 'river', k => 50)"
    found = sorted(owner.execute(recalled).fetchall())
    assert found == sorted(pair[0].rows("SELECT id FROM pgmnemo.lessons"))
    owner.execute("SELECT pgmnemo.forget_all(NULL)")
    assert counts(pair[1]) == [2, 1, 6, 2, 2]


def test_a_role_that_does_not_exist_gets_no_grant(owner: Connection) -> None:
    with pytest.raises(errors.UndefinedObject, match="there is no role nobody_here"):
        owner.execute("SELECT pgmnemo.grant_tenant(%s, 'nobody_here')", (UNUSED,))


def test_the_owner_lists_all_grants_and_a_role_those_that_reach_it(
    pair: tuple[Any, Any], owner: Connection, stranger: Connection
) -> None:
    tenants = {tenant.id for tenant in pair}
    listed = "SELECT tenant_id, grantee FROM pgmnemo.list_grants()"
    assert tenants <= {tenant for tenant, _ in owner.execute(listed)}
    assert {grantee for _, grantee in pair[0].rows(listed)} == {pair[0].database.facts.role}
    assert stranger.execute(listed).fetchall() == []


@pytest.mark.parametrize("name", ["Alice", 'it\'s "me"', "a-b@c", "plain"])
def test_a_listed_grantee_is_what_a_grant_and_a_revocation_take(owner: Connection, name: str) -> None:
    with owner.transaction(force_rollback=True):
        owner.execute(sql.SQL("CREATE ROLE {}").format(sql.Identifier(name)))
        owner.execute("SELECT pgmnemo.grant_tenant(%s, %s)", (UNUSED, name))
        listed = "FROM pgmnemo.list_grants() WHERE tenant_id = %s"
        assert owner.execute(f"SELECT grantee {listed}", (UNUSED,)).fetchall() == [(name,)]
        revoked = owner.execute(f"SELECT pgmnemo.revoke_tenant(tenant_id, grantee) {listed}", (UNUSED,))
        assert revoked.fetchall() == [(True,)]


def test_a_copy_of_the_key_is_worth_nothing_once_there_is_a_new_one(tenant: Any, owner: Any) -> None:
    """A copy of the files or a database made from a template holds the key, and its owner reads it."""
    tenant.store("a", "river")
    (copied,) = owner.execute("SELECT key FROM pgmnemo.caller_key").fetchone()
    forged = (
        "SELECT FROM pgmnemo.get(%s, %s, 'a', ROW('postgres', sha256(%s || int4send(pg_backend_pid()) "
        "|| timestamptz_send(now()) || convert_to('postgres', 'UTF8')))::pgmnemo.caller)"
    )
    assert len(tenant.rows(forged, tenant.id, tenant.project, copied)) == 1
    with pytest.raises(errors.InsufficientPrivilege):
        tenant.value("SELECT pgmnemo.renew_caller_key()")
    owner.execute("SELECT pgmnemo.renew_caller_key()")
    with pytest.raises(errors.InsufficientPrivilege, match="does not prove"):
        tenant.rows(forged, tenant.id, tenant.project, copied)
    assert tenant.ids("river") == ["a"]
