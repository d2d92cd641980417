"""The router answers as one node would, sends each tenant to its shard, and shows nobody another's."""

from __future__ import annotations

from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg import errors

from pgmnemo_shards import moving
from pgmnemo_shards.constants import IDS_PER_SHARD
from pgmnemo_shards.verbs import verbs
from tests.security.verbs import by_argument
from tests.shards.conftest import PROJECT, Site, store

COUNTS = """
SELECT (SELECT count(*) FROM directory.tenant t WHERE t.shard = s.name), s.number, s.name
  FROM directory.shard s
"""
RECALL = "SELECT external_id FROM pgmnemo.recall(%s, query_text => %s) ORDER BY 1"


def vector(*coordinates: float) -> list[float]:
    return [*coordinates, *[0.0] * (1024 - len(coordinates))]


def test_every_verb_with_a_tenant_has_a_function_of_the_same_name_and_arguments(site: Site) -> None:
    known = {
        verb.name: [name for name, _ in verb.arguments] for verb in verbs(site.connect("postgres", "shard1"))
    }
    assert {"store", "store_set", "recall", "explain", "forget", "link", "check", "repair"} <= known.keys()
    routed = dict(
        site.rows(
            "router",
            "SELECT p.proname, array(SELECT quote_ident(a) FROM unnest(p.proargnames[:p.pronargs]) AS a) "
            "FROM pg_proc p "
            "WHERE p.pronamespace = 'pgmnemo'::regnamespace AND NOT starts_with(p.proname, '_') "
            "AND 'settings' = ANY (p.proargnames)",
        )
    )
    staleness = {"recall": ["staleness"]}
    assert routed == {name: [*names, "settings", *staleness.get(name, [])] for name, names in known.items()}


def test_every_verb_works_through_the_router(site: Site) -> None:
    tenant, client = site.tenant(), site.connect("alice")
    assert [store(client, tenant, "a") for _ in range(2)] == ["inserted", "unchanged"]
    numbers = f"'{{{','.join(map(str, vector(1, 2)))}}}'::real[]"
    client.execute(
        f"SELECT pgmnemo.store('{tenant}', '{PROJECT}', 'b', 'An otter by the river.', {numbers}, "
        f"passages => '{{An otter,swims}}', role => 'user', \"position\" => 2, "
        f"passage_embeddings => ARRAY['{vector(1)}', '{vector(2, 3)}']::vector[])"
    )
    recall = f"SELECT lesson_id FROM pgmnemo.recall('{tenant}', {numbers}, query_text => 'heron')"
    (number,) = client.execute(recall).fetchall()[0]
    empty = {"check", "list_edges", "embedder", "reembedding_due"}  # which have nothing to say here
    for call in by_argument(tenant, PROJECT, "a", "b"):
        told = client.execute(f"SELECT * FROM pgmnemo.{call.replace(', 1, ', f', {number}, ')}").fetchall()
        assert told or call.partition("(")[0] in empty, call
    assert client.execute("SELECT * FROM pgmnemo.list_lessons(%s)", (tenant,)).fetchall() == []


def test_the_answer_is_that_of_the_shard_to_the_last_bit(site: Site) -> None:
    tenant, client = site.tenant("shard2"), site.connect("alice")
    for n in range(20):
        store(client, tenant, f"k{n}", f"The heron number {n} stands in the river of {n * n} stones.")
    query = (
        "SELECT * FROM pgmnemo.recall(%s, query_text => 'which heron has 9 stones', as_of => '2026-01-01')"
    )
    assert client.execute(query, (tenant,)).fetchall() == (
        site.connect("alice", "shard2").execute(query, (tenant,)).fetchall()
    )


def test_a_new_tenant_goes_where_the_fewest_are_and_ids_are_of_the_shard(site: Site) -> None:
    tenants, used = [], set()
    while used != {"shard1", "shard2", "shard3"}:  # which shards are behind, the tests before this one decide
        least = min(site.rows("router", COUNTS))
        tenants.append(site.tenant())
        ((taken,),) = site.rows(
            "router", "SELECT shard FROM directory.tenant WHERE tenant_id = %s", tenants[-1]
        )
        assert taken == least[2]
        used.add(taken)
    client = site.connect("alice")
    for tenant in tenants:
        store(client, tenant, "only")
    shards = site.rows("router", "SELECT shard FROM directory.tenant WHERE tenant_id = ANY (%s)", tenants)
    assert {name for (name,) in shards} == {"shard1", "shard2", "shard3"}
    for number, name in enumerate(("shard1", "shard2", "shard3")):
        ids = [
            row[0]
            for row in site.rows(name, "SELECT id FROM pgmnemo.lesson WHERE tenant_id = ANY (%s)", tenants)
        ]
        assert ids
        assert all(number * IDS_PER_SHARD < lesson <= (number + 1) * IDS_PER_SHARD for lesson in ids)


def test_settings_of_the_caller_go_along_and_end_with_the_call(site: Site) -> None:
    tenant, client = site.tenant(), site.connect("alice")
    store(client, tenant, "free")
    client.execute("SET pgmnemo.gate_strict = enforce")
    with pytest.raises(psycopg.Error, match="commit_sha"):
        store(client, tenant, "refused")
    client.execute("SET pgmnemo.gate_strict = off")
    assert store(client, tenant, "free again") == "inserted"
    client.execute("SET pgmnemo.pool_depth = 'many'")
    with pytest.raises(psycopg.Error, match="pool_depth"):
        client.execute(RECALL, (tenant, "heron"))
    client.execute("RESET pgmnemo.pool_depth")
    assert client.execute(RECALL, (tenant, "heron")).fetchall() == [("free",), ("free again",)]


def test_a_role_that_is_set_is_the_one_that_calls(site: Site) -> None:
    tenant = site.tenant(login="alice")
    operator = site.router
    store(site.connect("alice"), tenant, "hers")
    operator.execute("SELECT pgmnemo.create_login('bob')")
    operator.execute("SET ROLE bob")
    with pytest.raises(errors.InsufficientPrivilege, match="role bob has no grant"):
        operator.execute(RECALL, (tenant, "heron"))
    operator.execute("SET ROLE alice")
    assert operator.execute(RECALL, (tenant, "heron")).fetchall() == [("hers",)]


@pytest.mark.parametrize("known", [True, False])
def test_a_tenant_of_others_and_one_that_is_not_are_refused_alike(site: Site, known: bool) -> None:
    tenant = site.tenant("shard1") if known else uuid4()
    site.tenant(login="bob")
    with pytest.raises(errors.InsufficientPrivilege) as caught:
        site.connect("bob").execute(RECALL, (tenant, "heron"))
    told = str(caught.value).replace(str(tenant), "T")
    assert "role bob has no grant for tenant 'T'" in told
    assert "shard" not in told.partition("CONTEXT")[0]


def test_the_directory_and_the_operators_verbs_are_the_operators(site: Site) -> None:
    site.tenant(login="bob")
    client = site.connect("bob")
    for statement in (
        "TABLE directory.tenant",
        "TABLE directory.shard",
        "SELECT pgmnemo.list_shards()",
        "SELECT pgmnemo.list_grants()",
        "SELECT pgmnemo.create_login('eve')",
        f"SELECT pgmnemo.grant_tenant('{UUID(int=7)}', 'bob')",
        f"SELECT pgmnemo.revoke_tenant('{UUID(int=7)}', 'bob')",
        f"SELECT pgmnemo.place_tenant('{UUID(int=7)}')",
        "SELECT pgmnemo.maintain()",
        "SELECT pgmnemo._beat('host=elsewhere')",
        "SELECT pgmnemo._room('host=elsewhere')",
        "SELECT pgmnemo._holds('host=elsewhere', NULL)",
        "CREATE FUNCTION pg_temp.f() RETURNS int LANGUAGE plproxy AS 'CONNECT ''host=x''; SELECT 1;'",
    ):
        with pytest.raises(errors.InsufficientPrivilege):
            client.execute(statement.encode())


def test_the_operators_verbs_ask_every_shard(site: Site) -> None:
    tenants = {site.tenant(name) for name in ("shard1", "shard2", "shard3")}
    operator = site.router
    listed = operator.execute("SELECT shard, version FROM pgmnemo.list_shards()").fetchall()
    assert [name for name, _ in listed] == ["shard1", "shard2", "shard3"]
    assert len({version for _, version in listed}) == 1
    assert tenants <= {row[0] for row in operator.execute("SELECT tenant_id FROM pgmnemo.list_grants()")}
    assert operator.execute("SELECT * FROM pgmnemo.maintain()").fetchall() == [(0,)] * 3


def test_staging_says_what_to_use_instead(site: Site) -> None:
    site.tenant()
    with pytest.raises(errors.FeatureNotSupported, match="store_set"):
        site.connect("alice").execute("SELECT pgmnemo.open_staging()")


def test_a_directory_that_names_no_shard_says_so(site: Site) -> None:
    tenant, operator = site.tenant(), site.router
    with operator.transaction(force_rollback=True):
        operator.execute("DELETE FROM directory.tenant")
        operator.execute("DELETE FROM directory.shard")
        with pytest.raises(errors.UndefinedObject, match="names no shard"), operator.transaction():
            operator.execute(RECALL, (tenant, "heron"))
        with pytest.raises(errors.UndefinedObject, match="names no shard"), operator.transaction():
            operator.execute("SELECT pgmnemo.grant_tenant(%s, 'alice')", (uuid4(),))


def test_what_writes_is_refused_in_a_read_only_transaction(site: Site) -> None:
    tenant, client, operator = site.tenant(), site.connect("alice"), site.router
    store(client, tenant, "kept")
    for session, statement in (
        (client, "SELECT pgmnemo.store(%(t)s, %(t)s, 'lost', 'x')"),
        (client, "SELECT pgmnemo.forget_all(%(t)s)"),
        (operator, "SELECT pgmnemo.grant_tenant(%(t)s, 'alice')"),
        (operator, "SELECT pgmnemo.revoke_tenant(%(t)s, 'alice')"),
        (operator, "SELECT pgmnemo.create_login('eve')"),
    ):
        with session.transaction(force_rollback=True):
            session.execute("SET TRANSACTION READ ONLY")
            assert client.execute(RECALL, (tenant, "heron")).fetchall() == [("kept",)]
            with pytest.raises(errors.ReadOnlySqlTransaction, match="in a read-only transaction"):
                session.execute(statement.encode(), {"t": tenant})
    assert client.execute(RECALL, (tenant, "heron")).fetchall() == [("kept",)]


@pytest.mark.parametrize(
    "call",
    [
        "store('{t}', '{t}', '', 'text')", "recall('{t}', query_text => 'x', k => 0)", "check('{other}')",
        "link('{t}', '{t}', 'a', 'b', 'follows')", "forget_all('{other}')", "forget_all(NULL)",
    ],
)  # fmt: skip
def test_an_error_is_the_shards_own_word_for_word(site: Site, call: str) -> None:
    statement = f"SELECT pgmnemo.{call.format(t=site.tenant('shard1'), other=uuid4())}".encode()
    told = []
    for server in ("router", "shard1"):
        with pytest.raises(psycopg.Error) as caught:
            site.connect("alice", server).execute(statement)
        found = caught.value.diag
        told.append((found.sqlstate, found.message_primary, found.message_detail, found.message_hint))
    assert told[0] == told[1]


def test_a_login_that_reaches_a_shard_directly_gets_not_even_a_lock(site: Site) -> None:
    """And none gets on without it: a grant that comes a moment later would let it write past a move."""
    tenant = site.tenant("shard1")
    site.tenant(login="bob")
    locks = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()"
    enter = "SELECT pgmnemo_shard._enter(%s)"
    client = site.connect("alice", "shard1")
    with client.transaction(force_rollback=True):
        client.execute(enter, (tenant,))
        assert client.execute(locks).fetchall() == [(1,)]
        with pytest.raises(errors.InsufficientPrivilege):
            client.execute("TABLE pgmnemo_shard.identity")
    with pytest.raises(errors.InsufficientPrivilege, match="role bob has no grant for tenant"):
        site.connect("bob", "shard1").execute(enter, (tenant,))
    moving.move(site.router, tenant, "shard2")
    for reader in (enter, "SELECT pgmnemo_shard._here(%s)"):  # sent here before it left, with its grants
        with pytest.raises(errors.SerializationFailure, match="has moved to another shard"):
            client.execute(reader.encode(), (tenant,))
