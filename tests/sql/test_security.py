"""Tenants cannot see, count, score or alter one another's rows, whatever they set; verbs are the only way."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from psycopg import errors

from tests.security.attacked import BY_ARGUMENT, by_argument, by_setting

WALLED = ("lesson", "lesson_edge", "posting", "passage", "tenant")
TABLES = (*WALLED, "tenant_grant", "caller_key", "vector_graph")
VIEWS = ("lessons", "edges", "postings", "passages")
FIRST = {"caller_key": "key"}
UNUSED = "c0a8f2ee-5f0b-4f0e-9a63-3d7f3a1b9e55"  # a tenant that nobody was granted


@pytest.fixture
def pair(make_tenant: Any, unit: Any) -> tuple[Any, Any]:
    """Two tenants with two linked lessons each under the same keys."""
    tenants = make_tenant(), make_tenant()
    for tenant in tenants:
        tenant.project = tenants[0].project
        tenant.store("a", "the river harbour", embedding=unit(1), passages=["the river", "harbour"])
        tenant.store("b", "a lantern by the river", embedding=unit(0, 1))
        tenant.link("a", "b")
    return tenants


def counts(tenant: Any) -> list[int]:
    return [tenant.value(f"SELECT count(*) FROM pgmnemo.{view}") for view in VIEWS]


@pytest.fixture
def stranger(owner: psycopg.Connection[Any], database: Any) -> Any:
    """An ordinary login with no grant at all."""
    owner.execute("DROP ROLE IF EXISTS stranger")
    owner.execute("CREATE ROLE stranger")
    with database.admin() as connection:
        connection.execute("SET ROLE stranger")
        yield connection
    owner.execute("DROP ROLE stranger")


def test_each_sees_and_counts_its_own_rows(pair: tuple[Any, Any]) -> None:
    assert counts(pair[0]) == counts(pair[1]) == [2, 1, 6, 4]
    own = {row[0] for row in pair[0].rows("SELECT id FROM pgmnemo.lessons")}
    assert not own & {row[0] for row in pair[1].rows("SELECT id FROM pgmnemo.lessons")}


@pytest.mark.parametrize("setting", ["", "no uuid", "00000000-0000-0000-0000-000000000000", UNUSED])
def test_a_setting_that_is_empty_malformed_or_wrong_shows_nothing(
    pair: tuple[Any, Any], setting: str
) -> None:
    pair[0].set(tenant_id=setting)
    assert counts(pair[0]) == [0, 0, 0, 0]
    refused = pytest.raises((errors.InvalidParameterValue, errors.InsufficientPrivilege), match="tenant")
    for verb in ("recall_lessons(query_text => 'river')", "store_lessons('{}')", "forget_tenant()",
                 "compact_postings()", "index_lessons()", "add_passages(1, '{a}')"):  # fmt: skip
        with refused:
            pair[0].rows(f"SELECT * FROM pgmnemo.{verb}")
    with refused:
        pair[0].store_many({"c": "river"})


def test_another_tenants_id_gives_a_stranger_nothing(pair: tuple[Any, Any], stranger: Any) -> None:
    stranger.execute("SELECT set_config('pgmnemo.tenant_id', %s, false)", (str(pair[0].id),))
    for view in VIEWS:
        assert stranger.execute(f"SELECT count(*) FROM pgmnemo.{view}").fetchone() == (0,)
    assert stranger.execute("SELECT * FROM pgmnemo.list_grants()").fetchall() == []
    project = pair[0].project
    for call in (*by_setting(project, "a", "b"), *by_argument(pair[0].id, project, "a", "b")):
        with pytest.raises(errors.InsufficientPrivilege, match="role stranger has no grant for tenant"):
            stranger.execute(f"SELECT * FROM pgmnemo.{call}")


@pytest.mark.parametrize("table", TABLES)
def test_no_role_but_the_owner_reaches_a_table(pair: tuple[Any, Any], stranger: Any, table: str) -> None:
    """Not even its own rows: neither to read nor to write, nor to lock them or to depend on them."""
    for statement in (
        f"SELECT FROM pgmnemo.{table}",
        f"INSERT INTO pgmnemo.{table} DEFAULT VALUES",
        f"UPDATE pgmnemo.{table} SET {FIRST.get(table, 'tenant_id')} = NULL",
        f"DELETE FROM pgmnemo.{table}",
        f"TRUNCATE pgmnemo.{table} CASCADE",
        f"LOCK TABLE pgmnemo.{table} IN ACCESS SHARE MODE",
        f"SELECT FROM pgmnemo.{table} FOR SHARE",
        f"EXPLAIN SELECT FROM pgmnemo.{table}",
        f"COPY pgmnemo.{table} TO STDOUT",
        f"CREATE INDEX ON pgmnemo.{table} ({FIRST.get(table, 'tenant_id')})",
        f"CREATE TRIGGER own AFTER INSERT ON pgmnemo.{table} EXECUTE FUNCTION tsvector_update_trigger()",
        f"ALTER TABLE pgmnemo.{table} DISABLE ROW LEVEL SECURITY",
        f"CREATE TEMPORARY TABLE theirs (whole pgmnemo.{table})",
    ):
        for connection in (pair[0].client, stranger):
            with pytest.raises(errors.InsufficientPrivilege), connection.transaction():
                connection.execute(statement)


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
    forged = "INSERT INTO pgmnemo.posting VALUES (%s, %s, 'river', '{1}', '{1}', '{1}', 1, 1, 1, 1)"
    with pytest.raises(errors.InsufficientPrivilege, match="row-level security"):
        first.alter(forged, second.id, second.project)
    assert counts(second) == before


def test_an_edge_cannot_reach_into_another_tenant(pair: tuple[Any, Any]) -> None:
    first, second = pair
    theirs = second.value("SELECT id FROM pgmnemo.lessons WHERE external_id = 'a'")
    mine = first.value("SELECT id FROM pgmnemo.lessons WHERE external_id = 'a'")
    with pytest.raises(errors.ForeignKeyViolation):
        first.alter("INSERT INTO pgmnemo.lesson_edge VALUES (%s, %s, %s, 'x')", first.id, mine, theirs)


def test_another_tenants_writing_changes_no_score(pair: tuple[Any, Any], unit: Any) -> None:
    first, second = pair
    first.set(recency_weight=0)
    before = first.recall("river lantern", unit(1, 1))
    second.store_many({f"n{n}": "river lantern river" for n in range(200)}, [unit(1, 1)] * 200)
    forged = "INSERT INTO pgmnemo.posting VALUES (%s, %s, 'river', %s, '{1}', '{1}', 999, 999, 999, 1)"
    second.alter(forged, second.id, second.project, [before[0]["lesson_id"]])
    after = first.recall("river lantern", unit(1, 1))
    drop = {"recency"}
    assert [{k: v for k, v in row.items() if k not in drop} for row in before] == [
        {k: v for k, v in row.items() if k not in drop} for row in after
    ]


def test_forgetting_a_tenant_leaves_the_other(pair: tuple[Any, Any]) -> None:
    before = counts(pair[1])
    assert pair[0].value("SELECT pgmnemo.forget_tenant()") == 2
    assert (counts(pair[0]), counts(pair[1])) == ([0, 0, 0, 0], before)


def test_a_grant_ends_at_once_when_it_is_revoked(pair: tuple[Any, Any], owner: Any, database: Any) -> None:
    query = "SELECT pgmnemo.revoke_tenant(%s, %s)"
    assert owner.execute(query, (pair[0].id, database.facts.role)).fetchone() == (True,)
    assert counts(pair[0]) == [0, 0, 0, 0]
    assert owner.execute(query, (pair[0].id, database.facts.role)).fetchone() == (False,)


def test_members_inherit_a_grant_and_the_owner_is_bound_as_well(
    pair: tuple[Any, Any], owner: Any, stranger: Any
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
    owner.execute("SET ROLE pgmnemo_owner")
    try:
        for table in WALLED:
            assert owner.execute(f"SELECT count(*) FROM pgmnemo.{table}").fetchone() == (0,)
    finally:
        owner.execute("RESET ROLE")


def test_a_superuser_works_for_one_tenant_through_the_verbs(pair: tuple[Any, Any], owner: Any) -> None:
    owner.execute("SELECT set_config('pgmnemo.tenant_id', %s, false)", (str(pair[0].id),))
    owner.execute("SET pgmnemo.gate_strict = off")
    rows = owner.execute(
        "SELECT lesson_id FROM pgmnemo.recall_lessons(query_text => 'river', k => 50)"
    ).fetchall()
    assert sorted(rows) == sorted(pair[0].rows("SELECT id FROM pgmnemo.lessons"))
    owner.execute("SELECT pgmnemo.forget_tenant()")
    assert counts(pair[1]) == [2, 1, 6, 4]


def test_a_role_that_does_not_exist_gets_no_grant(owner: Any) -> None:
    with pytest.raises(errors.UndefinedObject, match="there is no role nobody_here"):
        owner.execute("SELECT pgmnemo.grant_tenant(%s, 'nobody_here')", (UNUSED,))


def test_every_verb_with_a_tenant_is_among_the_calls(owner: psycopg.Connection[Any]) -> None:
    definers = "SELECT proname FROM pg_proc WHERE pronamespace = 'pgmnemo'::regnamespace AND prosecdef"
    verbs = {name for (name,) in owner.execute(definers)}
    assert verbs - BY_ARGUMENT.keys() == {"current_tenant", "list_grants"}


@pytest.mark.parametrize("forge", [
    "SELECT ROW('postgres', proof)::pgmnemo.caller FROM pgmnemo.calling",
    "SELECT ROW('{role}', proof)::pgmnemo.caller FROM pgmnemo.calling",
    "SELECT ROW('{role}', sha256('\\x00'))::pgmnemo.caller",
    "SELECT ROW('{role}', NULL)::pgmnemo.caller",
    "SELECT ROW(NULL, NULL)::pgmnemo.caller",
    "SELECT NULL::pgmnemo.caller",
])  # fmt: skip
def test_nobody_calls_in_anothers_name(
    pair: tuple[Any, Any], stranger: Any, database: Any, forge: str
) -> None:
    forged = f"({forge.replace('{role}', database.facts.role)})"
    for call in by_argument(pair[0].id, pair[0].project, "a", "b"):
        call = call.removesuffix(")") + f", caller => {forged})"
        with pytest.raises(errors.InsufficientPrivilege, match="does not prove that role"):
            stranger.execute(f"SELECT * FROM pgmnemo.{call}")
    for call in ("current_tenant", "list_grants"):
        stranger.execute("SELECT set_config('pgmnemo.tenant_id', %s, false)", (str(pair[0].id),))
        with pytest.raises(errors.InsufficientPrivilege, match="does not prove that role"):
            stranger.execute(f"SELECT pgmnemo.{call}({forged})")


@pytest.mark.parametrize("query", [
    "SELECT count(*) FROM pgmnemo.lessons", "SELECT pgmnemo.forget_tenant()",
    "SELECT * FROM pgmnemo.check_index()",
    "SELECT * FROM pgmnemo.recall_lessons(query_text => 'river')",
])  # fmt: skip
def test_the_acting_tenant_of_a_verb_is_no_setting_of_its_callers(pair: tuple[Any, Any], query: str) -> None:
    """What they set is replaced when a verb begins, and nothing of it is left when the verb ends."""
    first, second = pair
    first.set(acting_tenant=second.id)
    before = counts(second)
    with first.client.transaction():
        first.rows(query)
        assert first.value("SELECT current_setting('pgmnemo.acting_tenant')") == ""
    assert counts(second) == before


def test_the_owner_lists_all_grants_and_a_role_those_that_reach_it(
    pair: tuple[Any, Any], owner: Any, stranger: Any
) -> None:
    tenants = {tenant.id for tenant in pair}
    listed = "SELECT tenant_id, grantee FROM pgmnemo.list_grants()"
    assert tenants <= {tenant for tenant, _ in owner.execute(listed)}
    assert {grantee for _, grantee in pair[0].rows(listed)} == {pair[0].database.facts.role}
    assert stranger.execute(listed).fetchall() == []
