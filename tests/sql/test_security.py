"""Tenants cannot see, count, score or alter one another's rows, whatever they set."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from psycopg import errors

TABLES = ("lesson", "lesson_edge", "posting", "passage")
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
    return [tenant.value(f"SELECT count(*) FROM pgmnemo.{table}") for table in TABLES]


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
    own = {row[0] for row in pair[0].rows("SELECT id FROM pgmnemo.lesson")}
    assert not own & {row[0] for row in pair[1].rows("SELECT id FROM pgmnemo.lesson")}


@pytest.mark.parametrize("setting", ["", "no uuid", "00000000-0000-0000-0000-000000000000", UNUSED])
def test_a_setting_that_is_empty_malformed_or_wrong_shows_nothing(
    pair: tuple[Any, Any], setting: str
) -> None:
    pair[0].set(tenant_id=setting)
    assert counts(pair[0]) == [0, 0, 0, 0]
    for verb in ("recall_lessons(query_text => 'river')", "store_lessons('{}')", "forget_tenant()",
                 "store_staged()", "compact_postings()", "index_lessons()",
                 "add_passages(1, '{a}')"):  # fmt: skip
        with pytest.raises((errors.InvalidParameterValue, errors.InsufficientPrivilege)) as caught:
            pair[0].rows(f"SELECT * FROM pgmnemo.{verb}")
        assert "tenant" in str(caught.value)


def test_another_tenants_id_gives_a_stranger_nothing(pair: tuple[Any, Any], stranger: Any) -> None:
    stranger.execute("SELECT set_config('pgmnemo.tenant_id', %s, false)", (str(pair[0].id),))
    for table in (*TABLES, "tenant_grant"):
        assert stranger.execute(f"SELECT count(*) FROM pgmnemo.{table}").fetchone() == (0,)
    with pytest.raises(errors.InsufficientPrivilege, match="role stranger has no grant for tenant"):
        stranger.execute("SELECT * FROM pgmnemo.recall_lessons(query_text => 'river')")
    with pytest.raises(errors.InsufficientPrivilege):
        stranger.execute("SELECT pgmnemo.store_lesson(%s, 'x', 'y')", (pair[0].project,))
    with pytest.raises(errors.InsufficientPrivilege, match="row-level security"):
        stranger.execute("INSERT INTO pgmnemo.lesson (tenant_id, project_id, external_id, content) "
                         "VALUES (%s, %s, 'x', 'y')", (pair[0].id, pair[0].project))  # fmt: skip


def test_a_role_cannot_grant_itself_a_tenant(stranger: Any) -> None:
    for statement in (
        f"SELECT pgmnemo.grant_tenant('{UNUSED}', 'stranger')",
        f"SELECT pgmnemo.revoke_tenant('{UNUSED}', 'stranger')",
        f"INSERT INTO pgmnemo.tenant_grant VALUES ('{UNUSED}', 'stranger')",
        "DELETE FROM pgmnemo.tenant_grant",
        "TRUNCATE pgmnemo.lesson",
        "TRUNCATE pgmnemo.posting",
        "ALTER TABLE pgmnemo.lesson NO FORCE ROW LEVEL SECURITY",
        "SET session_replication_role = replica",
    ):
        with pytest.raises(errors.InsufficientPrivilege):
            stranger.execute(statement)


def test_a_role_granted_both_writes_only_the_one_that_is_set(pair: tuple[Any, Any]) -> None:
    first, second = pair
    for table in TABLES:
        moved = first.client.execute(
            f"UPDATE pgmnemo.{table} SET tenant_id = tenant_id WHERE tenant_id = %s", (second.id,)
        )
        assert moved.rowcount == 0
        assert (
            first.client.execute(f"DELETE FROM pgmnemo.{table} WHERE tenant_id = %s", (second.id,)).rowcount
            == 0
        )
    before = counts(second)
    for table in ("lesson", "posting", "passage"):
        with pytest.raises(errors.InsufficientPrivilege, match="row-level security"):
            first.client.execute(f"UPDATE pgmnemo.{table} SET tenant_id = %s", (second.id,))
    forged = "INSERT INTO pgmnemo.posting VALUES (%s, %s, 'river', '{1}', '{1}', '{1}', 1, 1, 1, 1)"
    with pytest.raises(errors.InsufficientPrivilege, match="row-level security"):
        first.client.execute(forged, (second.id, second.project))  # fmt: skip
    assert counts(second) == before


def test_an_edge_cannot_reach_into_another_tenant(pair: tuple[Any, Any]) -> None:
    first, second = pair
    theirs = second.value("SELECT id FROM pgmnemo.lesson WHERE external_id = 'a'")
    mine = first.value("SELECT id FROM pgmnemo.lesson WHERE external_id = 'a'")
    with pytest.raises(errors.ForeignKeyViolation):
        first.client.execute(
            "INSERT INTO pgmnemo.lesson_edge VALUES (%s, %s, %s, 'x')", (first.id, mine, theirs)
        )


def test_another_tenants_writing_changes_no_score(pair: tuple[Any, Any], unit: Any) -> None:
    first, second = pair
    first.set(recency_weight=0)
    before = first.recall("river lantern", unit(1, 1))
    second.store_many({f"n{n}": "river lantern river" for n in range(200)}, [unit(1, 1)] * 200)
    forged = "INSERT INTO pgmnemo.posting VALUES (%s, %s, 'river', %s, '{1}', '{1}', 999, 999, 999, 1)"
    second.client.execute(forged, (second.id, second.project, [before[0]["lesson_id"]]))  # fmt: skip
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
        assert stranger.execute("SELECT count(*) FROM pgmnemo.lesson").fetchone() == (2,)
        owner.execute("SELECT pgmnemo.revoke_tenant(%s, 'crew')", (pair[0].id,))
    finally:
        owner.execute("DROP ROLE crew")
    forced = (
        "SELECT bool_and(relforcerowsecurity) FROM pg_class "
        "WHERE relkind = 'r' AND relnamespace = 'pgmnemo'::regnamespace"
    )
    assert owner.execute(forced).fetchone() == (True,)


def test_a_superuser_works_for_one_tenant_through_the_verbs(pair: tuple[Any, Any], owner: Any) -> None:
    owner.execute("SELECT set_config('pgmnemo.tenant_id', %s, false)", (str(pair[0].id),))
    owner.execute("SET pgmnemo.gate_strict = off")
    rows = owner.execute(
        "SELECT lesson_id FROM pgmnemo.recall_lessons(query_text => 'river', k => 50)"
    ).fetchall()
    assert sorted(rows) == sorted(pair[0].rows("SELECT id FROM pgmnemo.lesson"))
    owner.execute("SELECT pgmnemo.forget_tenant()")
    assert counts(pair[1]) == [2, 1, 6, 4]


def test_a_role_that_does_not_exist_gets_no_grant(owner: Any) -> None:
    with pytest.raises(errors.UndefinedObject, match="there is no role nobody_here"):
        owner.execute("SELECT pgmnemo.grant_tenant(%s, 'nobody_here')", (UNUSED,))
