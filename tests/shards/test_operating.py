"""What an operator does to a cluster that is in use; each command as shards/README.md gives it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event, Thread
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from pgmnemo.paths import CONTROL
from pgmnemo.postgres.extension import install
from pgmnemo.postgres.releases import default_version
from pgmnemo.postgres.server_files import installation
from pgmnemo.postgres.server_process import give_to_server
from pgmnemo_shards import cli, local, moving, upgrading
from pgmnemo_shards.debian import router_home
from pgmnemo_shards.installing import make_database
from runner.paths import ROOT
from tests.helping import until
from tests.shards.conftest import Connection, Site, cluster_of, fill, store, where

README = (ROOT / "shards" / "README.md").read_text(encoding="utf-8")
KEYS = "SELECT external_id FROM pgmnemo.list_lessons(%s) ORDER BY id"
Run = Callable[..., str]


@pytest.fixture(scope="module")
def pair(plproxy: None) -> Iterator[Site]:
    """Two shards."""
    with cluster_of(2) as cluster:
        site = Site(cluster)
        with site.open:
            yield site


@pytest.fixture
def run(pair: Site, capsys: pytest.CaptureFixture[str]) -> Run:
    """A command that the page names, on the cluster; what it prints, on standard error where it fails."""

    def run(*words: str, code: int = 0) -> str:
        assert re.search(rf"\b{words[0]}\b", README)
        assert cli.main([*words, "--folder", str(pair.cluster.folder)]) == code, capsys.readouterr().err
        told = capsys.readouterr()
        return told.err if code else told.out

    return run


def keys(client: Connection, tenant: UUID) -> list[str]:
    return [key for (key,) in client.execute(KEYS, (tenant,)).fetchall()]


@pytest.fixture(scope="module")
def old(pair: Site) -> tuple[str, UUID, UUID]:
    """A database with a login and two tenants, as somebody has it who outgrows one machine."""
    pair.run("shard2", "CREATE DATABASE old TEMPLATE template0")
    words = make_conninfo("", **pair.cluster.conninfo("shard2", "old"))
    first, second = uuid4(), uuid4()
    with psycopg.connect(words, autocommit=True, options="-c pgmnemo.gate_strict=off") as database:
        install(database, default_version())
        database.execute("CREATE ROLE carol LOGIN PASSWORD 'hers'")
        for tenant in (first, second):
            database.execute("SELECT pgmnemo.grant_tenant(%s, 'carol')", (tenant,))
        fill(database, first, 30)
    return words, first, second


def test_a_database_that_has_tenants_becomes_a_shard(
    pair: Site, run: Run, old: tuple[str, UUID, UUID]
) -> None:
    words, first, second = old
    mine = pair.tenant("shard1")
    fill(pair.connect("alice"), mine, 3)
    given = ("old", "--address", words.replace("user=postgres ", ""), "--operator", words)
    assert "pgmnemo-shards import takes it over" in run("add", *given, code=2)
    assert "knows 2 tenants of shard old" in run("import", *given)
    assert where(pair, first) == where(pair, second) == "old"
    assert "names a shard old already" in run("import", *given, code=2)
    carol = pair.connect("carol")
    assert len(keys(carol, first)) == 30
    password = "SELECT rolpassword FROM pg_authid WHERE rolname = 'carol'"
    assert pair.rows("router", password) == pair.rows("shard2", password)
    # ids: those that came stay; new ones are of the shard's own block; and nobody gives one of the old again
    assert store(carol, first, "new") == "inserted"
    run("move", str(first), "shard1")
    for number in range(40):
        assert store(carol, first, f"more{number}") == "inserted"
    ids = [row[0] for row in pair.rows("shard1", "SELECT id FROM pgmnemo.lesson WHERE tenant_id = %s", first)]
    assert len(ids) == len(set(ids)) == 71
    assert {one >> 40 for one in ids} == {0, 2}
    assert carol.execute("SELECT * FROM pgmnemo.check(%s)", (first,)).fetchall() == []


def test_a_tenant_that_a_shard_holds_is_found_there_and_placed_nowhere_else(
    pair: Site, run: Run, old: tuple[str, UUID, UUID]
) -> None:
    unknown = uuid4()
    with psycopg.connect(old[0], autocommit=True) as database:
        database.execute("SELECT pgmnemo.grant_tenant(%s, 'carol')", (unknown,))
    assert "lies on shard old already" in run("grant", str(unknown), "carol", "--shard", "shard1", code=3)
    assert "lies on old" in run("grant", str(unknown), "carol")
    assert "reaches tenant" in run("revoke", str(unknown), "carol")
    assert "has no grant for tenant" in run("revoke", str(unknown), "carol", code=2)


def test_a_lost_directory_is_rebuilt_from_the_shards(
    pair: Site, run: Run, old: tuple[str, UUID, UUID]
) -> None:
    tenant, twice, half = pair.tenant("shard1"), pair.tenant("shard2"), pair.tenant("shard1")
    for one in (tenant, twice, half):
        fill(pair.connect("alice"), one, 3)

    def gone(step: str) -> None:
        if step == "prove the target":
            raise SystemExit

    with pytest.raises(SystemExit):
        moving.move(pair.router, half, "shard2", gone)
    store(pair.connect("alice"), half, "k4")
    with psycopg.connect(**pair.cluster.conninfo(dbname="postgres"), autocommit=True) as server:
        server.execute("DROP DATABASE pgmnemo WITH (FORCE)")
    make_database(pair.cluster.conninfo(dbname="postgres"))
    shards = [word for name in pair.cluster.shards for word in ("--shard", pair.cluster.operator(name))]
    shards += ["--shard", old[0]]
    with pair.connect("postgres", "shard1") as other:  # as a half move of before has left it
        other.execute("INSERT INTO pgmnemo_shard.away VALUES (%s)", (twice,))
        other.execute("SELECT pgmnemo.grant_tenant(%s, 'alice')", (twice,))
    shards += ["--keep", f"{half}=shard2"]
    told = run("rebuild", *shards, code=3)
    assert f"tenant {twice} lies on shard1 (0 lessons, closed there) and on shard2 (3 lessons)" in told
    assert "on 3 shards" in run("rebuild", *shards, "--keep", f"{twice}=shard2")
    told = run("recover")
    assert f"move of {twice} from shard2 to shard1: undone" in told
    assert f"move of {half} from shard1 to shard2: moved" in told  # which proves first that it is all there
    numbers = [number for (number,) in pair.rows("router", "SELECT number FROM directory.shard ORDER BY 1")]
    assert numbers == [0, 1, 2]
    for one, count in ((tenant, 3), (twice, 3), (half, 4)):
        assert len(keys(pair.connect("alice"), one)) == count
    for one in (twice, half):
        assert pair.rows("shard1", "SELECT pgmnemo_shard.holds(%s)", one) == [(False,)]
    assert "only an empty one" in run("rebuild", *shards, code=2)


def test_a_shard_is_drained_and_shards_are_evened_out(pair: Site, run: Run) -> None:
    tenants = [pair.tenant("shard1") for _ in range(4)]
    for number, tenant in enumerate(tenants):
        fill(pair.connect("alice"), tenant, 100 * (number + 1))
    pair.run("router", "UPDATE directory.shard SET open = name <> 'old'")  # on the server of shard2
    table = run("rebalance", "--dry-run")
    assert "shard1" in table
    assert {where(pair, tenant) for tenant in tenants} == {"shard1"}
    assert "1 of" in run("rebalance", "--max-moves", "1")
    assert "--seconds is 0" in run("drain", "shard1", "--seconds", "0", code=2)
    run("drain", "shard1")
    assert pair.rows("router", "SELECT count(*) FROM directory.tenant WHERE shard = 'shard1'") == [(0,)]
    assert where(pair, pair.tenant()) != "shard1"
    assert [len(keys(pair.connect("alice"), tenant)) for tenant in tenants] == [100, 200, 300, 400]
    pair.run("router", "UPDATE directory.shard SET open = true WHERE name = 'shard1'")
    assert "no shard 'shard9'" in run("drain", "shard9", code=2)


def archived(site: Site, archive: Path) -> None:
    """Every server keeps its log in a folder of its own in `archive`."""
    for name in ("router", *site.cluster.shards):
        (archive / name).mkdir(parents=True)
        if os.geteuid() == 0:
            give_to_server(archive / name)
        with (site.cluster.folder / name / "data" / "postgresql.auto.conf").open("a") as file:
            file.write(f"archive_mode = 'on'\narchive_command = 'cp %p {archive}/{name}/%f'\n")
        site.run(name, "CHECKPOINT")  # it commits without waiting for the disk
        local.stop(site.cluster, name)
    for name in ("router", *site.cluster.shards):
        local.start(site.cluster, name)


def backed_up(site: Site, name: str, into: Path) -> None:
    tools = (router_home() if name == "router" else installation(local.POSTGRES)) / "bin"
    words = ["-D", str(into), "-X", "stream", "-c", "fast", "-U", "postgres"]
    place = ["-h", str(site.cluster.sockets), "-p", str(site.cluster.ports[name])]
    subprocess.run([str(tools / "pg_basebackup"), *words, *place], check=True, capture_output=True)


def restored(site: Site, name: str, backup: Path, settings: str) -> None:
    """A server from its backup and its log, by the settings that the page gives."""
    data = site.cluster.folder / name / "data"
    shutil.rmtree(data)
    shutil.copytree(backup, data)
    (data / "recovery.signal").touch()
    with (data / "postgresql.auto.conf").open("a") as file:
        file.write(settings)
    if os.geteuid() == 0:
        for path in (data, *data.rglob("*")):
            give_to_server(path)
    data.chmod(0o700)


def test_backups_of_all_servers_are_restored_to_one_point(pair: Site, run: Run, tmp_path: Path) -> None:
    [settings] = re.findall(r"```ini\n(restore_command.+?)```", README, re.S)
    archive, tenants = pair.cluster.folder / "archive", [pair.tenant("shard1"), pair.tenant("shard2")]
    archived(pair, archive)
    names = ("router", *pair.cluster.shards)
    for name in names:
        backed_up(pair, name, tmp_path / name)
    for tenant in tenants:
        store(pair.connect("alice"), tenant, "before")
    assert "recovery_target_name = 'monday'" in run("mark", "monday")
    for tenant in tenants:
        store(pair.connect("alice"), tenant, "after")
    run("move", str(tenants[0]), "shard2")
    there = "SELECT coalesce(last_archived_wal >= %s, false) FROM pg_stat_archiver"
    for name in names:
        ((last,),) = pair.rows(name, "SELECT pg_walfile_name(pg_switch_wal())")
        until(lambda name=name, last=last: pair.rows(name, there, last) == [(True,)])
    for name in names:
        local.stop(pair.cluster, name)
        told = settings.replace("/archive/shard1", f"{archive}/{name}")
        restored(pair, name, tmp_path / name, told)
    for name in names:
        local.start(pair.cluster, name)
    assert "no move was left" in run("recover")
    assert where(pair, tenants[0]) == "shard1"
    assert [keys(pair.connect("alice"), tenant) for tenant in tenants] == [["before"], ["before"]]


NEXT = r"""
CREATE OR REPLACE FUNCTION pgmnemo.version() RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp AS $$ SELECT '{next}' $$;
DO $do$
DECLARE
    told text := pg_get_functiondef('pgmnemo.recall'::regproc);
BEGIN
    EXECUTE 'DROP FUNCTION ' || 'pgmnemo.recall'::regproc::oid::regprocedure;
    EXECUTE regexp_replace(told, 'caller (pgmnemo\.)?caller DEFAULT', 'more text DEFAULT NULL::text, \&');
END
$do$;
"""


class Writers:
    """Clients that store and recall until told to end; what was acknowledged, and each error."""

    def __init__(self, site: Site, tenants: list[UUID]) -> None:
        self.end, self.stored, self.failed = Event(), dict.fromkeys(tenants, 0), list[str]()
        self.threads = [Thread(target=self.write, args=(site.connect("alice"), one)) for one in tenants]
        for thread in self.threads:
            thread.start()

    def write(self, client: Connection, tenant: UUID) -> None:
        while not self.end.is_set():
            try:
                store(client, tenant, f"w{self.stored[tenant]}")
                self.stored[tenant] += 1
                client.execute("SELECT * FROM pgmnemo.recall(%s, query_text => 'heron')", (tenant,))
            except psycopg.Error as error:
                self.failed.append(f"{error.sqlstate} {error.diag.message_primary}")


def test_shards_and_then_the_router_are_upgraded_while_calls_go_on(pair: Site, run: Run) -> None:
    """To a release that gives a verb another argument."""
    assert "the router calls pgmnemo" in run("upgrade")  # to the same
    following = f"{default_version()}.1"
    script = NEXT.replace("{next}", following)
    for folder in {*pair.cluster.folder.rglob(CONTROL)}:
        (folder.parent / f"pgmnemo--{default_version()}--{following}.sql").write_text(script)
    tenants = [pair.tenant(name) for name in pair.cluster.shards]
    writers, seen = Writers(pair, tenants), list[dict[UUID, int]]()
    try:
        time.sleep(0.5)
        upgrading.upgrade(pair.router, following, lambda line: seen.append(dict(writers.stored)))
        time.sleep(0.5)
    finally:
        writers.end.set()
        for thread in writers.threads:
            thread.join()
    assert writers.failed == []
    first, second = seen[:2]
    assert second[tenants[0]] > first[tenants[0]], "calls on shard1 waited for shard2"
    for tenant in tenants:
        assert writers.stored[tenant] > seen[-1][tenant], "calls did not go on"
        assert len(keys(pair.connect("alice"), tenant)) == writers.stored[tenant]
    functions = """
        SELECT count(*) FROM pg_proc
         WHERE pronamespace = 'pgmnemo_shard'::regnamespace AND proname = 'recall'
    """
    assert [pair.rows(name, functions) for name in pair.cluster.shards] == [[(1,)], [(1,)]]
    recall = "SELECT count(*) FROM pgmnemo.recall(%s, query_text => 'heron', more => 'x')"
    assert pair.connect("alice").execute(recall, (tenants[0],)).fetchall() != [(0,)]
    pair.cluster = local.add(pair.cluster, "shard3")
    versions = pair.rows("router", "SELECT DISTINCT version FROM pgmnemo.list_shards() WHERE shard <> 'old'")
    assert versions == [(following,)]
