"""Shards that are down, replicas that lag, and a cluster that comes and goes; on a cluster of its own."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import psutil
import psycopg
import pytest
from psycopg import errors

from pgmnemo.errors import DatabaseError, PgmnemoError, UsageError
from pgmnemo_shards import cli, local, moving
from pgmnemo_shards.debian import router_home
from pgmnemo_shards.status import shard_rows
from tests.helping import until
from tests.shards.conftest import Site, cluster_of, short_folder, store

REPLICA = "shard1-replica1"
STALENESS_VERB = (
    "SELECT external_id FROM pgmnemo.recall(%s, query_text => 'heron', staleness => %s) ORDER BY 1"
)


@pytest.fixture(scope="module")
def pair(plproxy: None) -> Iterator[Site]:
    """Two shards, the first with a replica."""
    with cluster_of(2) as cluster:
        site = Site(local.add_replica(cluster, "shard1"))
        with site.open:
            yield site


def asked_of_replica(site: Site) -> int:
    """Calls of the function that the replica has answered; its own statistics."""
    query = "SELECT xact_commit FROM pg_stat_database WHERE datname = 'pgmnemo'"
    return int(site.rows(REPLICA, query)[0][0])


@contextmanager
def lagging(site: Site) -> Iterator[None]:
    """While the replica takes nothing over."""
    site.rows(REPLICA, "SELECT pg_wal_replay_pause()::text")
    try:
        yield
    finally:
        site.rows(REPLICA, "SELECT pg_wal_replay_resume()::text")


def wait_until_caught_up(site: Site) -> None:
    """Wait until the replica has what the primary has."""
    ((wanted,),) = site.rows("shard1", "SELECT pg_current_wal_insert_lsn()::text")
    behind = "SELECT pg_last_wal_replay_lsn() < %s::pg_lsn"
    until(lambda: site.rows(REPLICA, behind, wanted) == [(False,)])


def test_a_replica_answers_those_who_allow_some_staleness(pair: Site) -> None:
    tenant, client = pair.tenant("shard1"), pair.connect("alice")
    store(client, tenant, "first")
    wait_until_caught_up(pair)
    before = asked_of_replica(pair)
    for _ in range(20):
        assert client.execute(STALENESS_VERB, (tenant, "10 s")).fetchall() == [("first",)]
    time.sleep(1.2)  # statistics of a backend are told once a second at most
    client.execute(STALENESS_VERB, (tenant, "10 s"))
    assert asked_of_replica(pair) >= before + 20
    pair.tenant(login="bob")
    wait_until_caught_up(pair)  # it has the login too
    with pytest.raises(errors.InsufficientPrivilege, match="role bob has no grant"):
        pair.connect("bob").execute(STALENESS_VERB, (tenant, "10 s"))
    with pytest.raises(errors.InvalidParameterValue, match="must be above 0"):
        client.execute(STALENESS_VERB, (tenant, "0 s"))


def test_a_replica_staler_than_asked_for_says_how_stale(pair: Site) -> None:
    tenant, client = pair.tenant("shard1"), pair.connect("alice")
    store(client, tenant, "seen")
    wait_until_caught_up(pair)
    client.execute(STALENESS_VERB, (tenant, "10 s"))
    with lagging(pair):
        store(client, tenant, "unseen")
        time.sleep(0.3)
        with pytest.raises(errors.ObjectNotInPrerequisiteState) as caught:
            client.execute(STALENESS_VERB, (tenant, "0.2 s"))
        assert "the replica of shard shard1 cannot prove to be less than" in str(caught.value)
        assert client.execute(STALENESS_VERB, (tenant, "1 hour")).fetchall() == [("seen",)]
    assert client.execute(STALENESS_VERB, (tenant, None)).fetchall() == [("seen",), ("unseen",)]


def test_a_tenant_that_just_came_is_read_from_the_primary(pair: Site) -> None:
    tenant, client = pair.tenant("shard2"), pair.connect("alice")
    store(client, tenant, "moved")
    with lagging(pair):
        moving.move(pair.router, tenant, "shard1")
        assert client.execute(STALENESS_VERB, (tenant, "1 hour")).fetchall() == [("moved",)]


def test_a_shard_that_is_down_is_named_and_the_others_serve(
    pair: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    here, there = pair.tenant("shard2"), pair.tenant("shard1")
    client, other = pair.connect("alice"), pair.connect("alice")
    store(client, here, "here")
    store(client, there, "there")
    store(other, there, "there")
    wait_until_caught_up(pair)
    given = ("--folder", str(pair.cluster.folder))
    local.stop(pair.cluster, "shard1")
    try:
        for session in (other, pair.connect("alice")):  # one that was connected, one that was not
            with pytest.raises(psycopg.OperationalError, match="shard shard1") as caught:
                store(session, there, "lost")
            assert caught.value.sqlstate in ("08001", "08006", "57P01")
        assert caught.value.sqlstate == "08001"
        assert "Nothing was done" in str(caught.value.diag.message_hint)
        assert store(client, here, "more") == "inserted"
        assert ("shard1", "down") in [row[:2] for row in shard_rows(pair.router)]
        listed = pair.rows(
            "router", "SELECT shard, version IS NULL, problem IS NULL FROM pgmnemo.list_shards()"
        )
        assert listed == [("shard1", True, False), ("shard2", False, True)]
        assert pair.rows("router", "SELECT count(*) > 0 FROM pgmnemo.list_grants()") == [(True,)]
        assert pair.rows("router", "SELECT * FROM pgmnemo.maintain()") == [(None,), (0,)]
        with pytest.raises(DatabaseError, match="shard shard1 is down"):
            moving.move(pair.router, here, "shard1")
        for words, sentence in (
            ("login dora", "shard shard1 does not answer and lacks the login dora"),
            (f"grant {uuid4()} dora", "may hold tenant"),
            (f"grant {there} dora", "shard shard1 does not answer"),
        ):
            assert cli.main([*words.split(), *given]) == 3
            told = capsys.readouterr().err
            assert sentence in told
            assert "router" not in told
        pair.run("router", "UPDATE directory.tenant SET moved_at = NULL")
        assert pair.connect("alice").execute(STALENESS_VERB, (there, "1 hour")).fetchall() == [("there",)]
    finally:
        local.start(pair.cluster, "shard1")
    assert store(pair.connect("alice"), there, "again") == "inserted"
    assert cli.main(["grant", str(there), "dora", *given]) == 0, capsys.readouterr().err
    assert store(pair.connect("dora"), there, "hers") == "inserted"


def test_a_shard_is_added_with_the_logins_that_there_are(pair: Site) -> None:
    tenant = pair.tenant("shard2")
    store(pair.connect("alice"), tenant, "old")
    pair.cluster = local.add(pair.cluster, "shard3")
    moving.move(pair.router, tenant, "shard3")
    assert store(pair.connect("alice"), tenant, "new") == "inserted"
    assert len(pair.router.execute("SELECT * FROM pgmnemo.list_shards()").fetchall()) == 3
    with pytest.raises(UsageError, match="names a shard shard3 already"):
        local.add(pair.cluster, "shard3")
    with pytest.raises(UsageError, match="there is no shard 'shard9' to make a replica of"):
        local.add_replica(pair.cluster, "shard9")


def test_a_standby_of_the_router_answers_recalls_and_takes_over(
    pair: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    tenant = pair.tenant("shard2")
    store(pair.connect("alice"), tenant, "seen")
    pair.run("router", "INSERT INTO directory.move VALUES (%s, 'shard2', 'shard1')", tenant)
    pair.cluster = local.add_replica(pair.cluster, "router")
    assert cli.main(["status", "--router", pair.cluster.operator("router-replica1")]) == 0
    assert "left to the primary" in capsys.readouterr().out  # who may have decided otherwise since
    pair.run("router", "DELETE FROM directory.move")
    standby = pair.connect("alice", "router-replica1")
    for staleness in (None, "1 hour"):
        assert standby.execute(STALENESS_VERB, (tenant, staleness)).fetchall() == [("seen",)]
    with pytest.raises(errors.ReadOnlySqlTransaction, match="cannot execute") as caught:
        store(standby, tenant, "lost")
    assert "target_session_attrs=read-write" in str(caught.value.diag.message_hint)
    ports = ",".join(str(pair.cluster.ports[name]) for name in ("router", "router-replica1"))
    both = {
        **pair.cluster.conninfo(),
        "host": f"{pair.cluster.sockets},{pair.cluster.sockets}",
        "port": ports,
    }
    local.stop(pair.cluster, "router")
    try:
        assert pair.rows("router-replica1", "SELECT pg_promote()") == [(True,)]
        given = {
            "user": "alice",
            "target_session_attrs": "read-write",
            "options": "-c pgmnemo.gate_strict=off",
        }
        with psycopg.connect(**{**both, **given}, autocommit=True) as client:
            assert store(client, tenant, "after") == "inserted"
    finally:
        local.start(pair.cluster, "router")


def test_a_replica_takes_over_for_a_shard_that_is_lost(
    pair: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    tenant, given = pair.tenant("shard1"), ("--folder", str(pair.cluster.folder))
    store(pair.connect("alice"), tenant, "before")
    wait_until_caught_up(pair)
    assert cli.main(["failover", "shard2", *given]) == 2
    assert "no replica of shard shard2" in capsys.readouterr().err
    assert cli.main(["failover", "shard1", *given]) == 2
    assert "shard shard1 answers" in capsys.readouterr().err
    local.stop(pair.cluster, "shard1")
    assert cli.main(["failover", "shard1", *given]) == 0, capsys.readouterr().err
    assert f"{REPLICA} is shard shard1 now" in capsys.readouterr().out
    client = pair.connect("alice")
    assert store(client, tenant, "after") == "inserted"
    assert client.execute(STALENESS_VERB, (tenant, None)).fetchall() == [("after",), ("before",)]
    moving.move(pair.router, tenant, "shard2")
    assert client.execute(STALENESS_VERB, (tenant, None)).fetchall() == [("after",), ("before",)]


def test_nothing_is_run_from_a_folder_of_somebody_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plproxy: None
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    planted = local.default_folder()
    assert planted == tmp_path / "pgmnemo" / "shards"
    planted.mkdir(parents=True, mode=0o777)
    planted.chmod(0o777)
    (planted / local.FILE).write_text('{"ports": {"router": 5432}}')
    with pytest.raises(UsageError, match="you alone can enter"):
        local.find(planted)
    assert cli.main(["down"]) == 2
    planted.chmod(0o700)
    link = tmp_path / "link"
    link.symlink_to(planted)
    with pytest.raises(UsageError, match="you alone can enter"):
        local.find(link)
    assert local.find(planted).ports == {"router": 5432}


def test_without_plproxy_the_package_is_named(tmp_path: Path) -> None:
    with pytest.raises(DatabaseError, match="apt-get install postgresql-15-plproxy"):
        router_home(tmp_path)


def test_where_no_cluster_can_be(tmp_path: Path, plproxy: None) -> None:
    with pytest.raises(UsageError, match="is there already"):
        local.up(tmp_path, 1)
    with pytest.raises(UsageError, match="would be too long"):
        local.up(tmp_path / ("long" * 30), 1)
    with pytest.raises(UsageError, match="must be from 1 to 64"):
        local.up(tmp_path / "c", 0)
    with pytest.raises(DatabaseError, match="pgmnemo-shards up starts one"):
        local.find(tmp_path)
    (tmp_path / local.FILE).write_text("{")
    with pytest.raises(DatabaseError, match="is damaged"):
        local.find(tmp_path)


def test_the_command_ends_in_a_sentence_and_a_code(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    nowhere = f"--folder {tmp_path / 'none'}"
    for words, code, sentence in (
        ("", 2, "name a command"),
        ("fly", 2, "there is no command 'fly'; see `pgmnemo-shards --help`"),
        ("move x shard1", 2, "invalid value for TENANT"),
        (f"down {nowhere}", 3, "nothing to take down"),
        (f"status {nowhere}", 3, "pgmnemo-shards up starts one"),
        ("status --router nonsense", 2, "cannot be read: write libpq's words"),
        ("status --router host=/nowhere", 3, "cannot be reached"),
        ("chaos --killed 9 --moves 3", 2, "must be from 0 to 3, as there are 3 moves"),
        ("chaos --killed 2 --moves 3 --routers 2", 2, "--routers is 2, but must be from 0 to 1"),
    ):
        assert cli.main(words.split()) == code, words
        told = capsys.readouterr().err
        assert sentence in told
        assert len(told.strip().splitlines()) == 1


def test_up_to_down_by_commands_leaves_nothing(plproxy: None, capsys: pytest.CaptureFixture[str]) -> None:
    folder = short_folder()
    folder.parent.chmod(0o755)
    given = ("--folder", str(folder))
    tenant = "00000000-0000-0000-0000-0000000000a1"
    try:
        assert cli.main(["up", "--shards", "2", "--volatile", *given]) == 0
        servers = {int((path / "postmaster.pid").read_text().split()[0]) for path in folder.glob("*/data")}
        assert len(servers) == 3
        for words in (
            "login alice", f"grant {tenant} alice --shard shard2", f"move {tenant} shard1", "recover",
            "replica shard2", "status",
        ):  # fmt: skip
            assert cli.main([*words.split(), *given]) == 0, capsys.readouterr().err
        told = capsys.readouterr().out
        assert "lies on shard2" in told
        assert "moved from shard2 to shard1" in told
        assert "no move was left" in told
        assert cli.main(["up", *given]) == 2
        assert cli.main(["down", *given]) == 0
    finally:
        if folder.exists():
            local.down(folder)
    assert list(folder.parent.iterdir()) == []
    folder.parent.rmdir()
    assert not any(psutil.pid_exists(server) for server in servers)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root needs another user for the servers")
def test_as_root_a_folder_that_nobody_can_enter_is_refused(plproxy: None) -> None:
    closed = Path("/tmp") / f"pgmnemo-closed-{os.getpid()}"
    closed.mkdir(mode=0o700)
    try:
        with pytest.raises(PgmnemoError, match="the user nobody cannot enter"):
            local.up(closed / "c", 1)
    finally:
        closed.rmdir()
