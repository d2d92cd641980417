"""What docker-compose.scale.yml would start, without its engine: the router's script, shards with passwords.

Every login has the router's secret for its password on the shards, and its own on the router.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest

from pgmnemo.postgres.server_process import give_to_server, identity
from pgmnemo.postgres.temporary_folders import stop_server
from pgmnemo_shards import cli
from pgmnemo_shards.debian import router_home
from pgmnemo_shards.local import Local
from runner.paths import ROOT
from tests.shards.conftest import cluster_of, short_folder, store

SECRET, OUTER = "inner-secret", "outer-secret"


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the servers' user: by its password file one shard reaches another, as a move needs."""
    file = short_folder().parent / ".pgpass"
    file.parent.chmod(0o755)
    file.write_text(f"*:*:other:pgmnemo:{SECRET}\n")
    file.chmod(0o600)
    if os.geteuid() == 0:
        give_to_server(file)
    monkeypatch.setenv("HOME", str(file.parent))


@pytest.fixture
def cluster(plproxy: None, home: None) -> Iterator[Local]:
    """Two servers; the databases `other` on them are to be the shards of a router elsewhere."""
    with cluster_of(2) as made:
        for name in ("shard1", "shard2"):
            with psycopg.connect(**made.conninfo(name, "postgres"), autocommit=True) as server:
                server.execute(f"CREATE ROLE pgmnemo SUPERUSER LOGIN PASSWORD '{SECRET}'")
                server.execute("CREATE DATABASE other TEMPLATE template0")
                rules = made.folder / name / "data" / "pg_hba.conf"
                rules.write_text("local other all scram-sha-256\n" + rules.read_text())
                server.execute("ALTER SYSTEM SET log_statement = 'all'")
                server.execute("SELECT pg_reload_conf()")
        yield made


@pytest.fixture
def router(cluster: Local) -> Iterator[str]:
    """The router that the image would start; how the operator reaches it."""
    home = cluster.folder / "elsewhere"
    home.mkdir(mode=0o700)
    if os.geteuid() == 0:
        give_to_server(home)
    script = (ROOT / "shards" / "router-start.sh").read_text()
    for given, here in {
        "/var/lib/postgresql": str(home),
        "/var/run/postgresql": str(home),
        "listen_addresses=''": f"listen_addresses='' -k {home}",
        "listen_addresses='*'": f"listen_addresses='' -k {home}",
    }.items():
        assert given in script
        script = script.replace(given, here)
    told = identity()
    path = f"{router_home() / 'bin'}:{os.environ['PATH']}"
    told["env"] |= {"PATH": path, "PGMNEMO_PASSWORD": OUTER, "PGMNEMO_SHARD_SECRET": SECRET}
    with (cluster.folder / "elsewhere.log").open("wb") as log:
        process = subprocess.Popen(
            ["sh", "-c", script], stdout=log, stderr=log, start_new_session=True, **told
        )
    address = f"host={home} port=5432 dbname=pgmnemo user=pgmnemo password={OUTER}"
    try:
        for _ in range(600):
            with suppress(psycopg.OperationalError), psycopg.connect(address) as probe:
                # not the one that the script starts first, to make the database
                if probe.execute("SHOW cluster_name").fetchone() == ("pgmnemo_router",):
                    break
            assert process.poll() is None, (cluster.folder / "elsewhere.log").read_text()
            time.sleep(0.1)
        yield address
    finally:
        stop_server(home / "router")
        process.wait()


@pytest.fixture
def passfile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the operator has his passwords."""
    file = tmp_path / "pass"
    file.write_text(f"*:*:other:pgmnemo:{SECRET}\n*:*:pgmnemo:pgmnemo:{OUTER}\n")
    file.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(file))


def test_a_router_elsewhere_with_shards_that_ask_for_passwords(
    cluster: Local, router: str, passfile: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(*arguments: str, code: int = 0, at: str = router.partition(" password")[0]) -> str:
        assert cli.main([*arguments, "--router", at]) == code, capsys.readouterr().err
        told = capsys.readouterr()
        return told.err if code else told.out

    places = {
        name: f"host={cluster.sockets} port={cluster.ports[name]} dbname=other"
        for name in ("shard1", "shard2")
    }
    secret = tmp_path / "secret"
    secret.write_text(f"{SECRET}\n")
    for name, place in places.items():
        operator = f"{place} user=pgmnemo"
        given = ("add", name, "--address", place, "--operator", operator)
        secret.chmod(0o644)
        assert "can be read by others" in run(*given, "--secret-file", str(secret), code=2)
        secret.chmod(0o600)
        assert "--secret-file" in run(*given, "--secret", SECRET, code=2)
        with_password = (*given[:-1], f"{operator} password={SECRET}")
        for told in (run(*with_password, code=2), run(*given, code=2, at=router)):
            assert "has a password in it" in told
            assert "passfile" in told
            assert SECRET not in told
            assert OUTER not in told
        run(*given, "--secret-file", str(secret))
    tenant = uuid4()
    run("login", "alice")
    assert "lies on shard1" in run("grant", str(tenant), "alice")
    with psycopg.connect(router, autocommit=True) as operator_session:
        operator_session.execute("ALTER ROLE alice PASSWORD 'hers'")
    hers = router.replace("user=pgmnemo", "user=alice").replace(OUTER, "hers")
    with psycopg.connect(hers, autocommit=True) as alice:
        alice.execute("SET pgmnemo.gate_strict = off")
        assert store(alice, tenant, "first") == "inserted"
        run("move", str(tenant), "shard2")
        assert store(alice, tenant, "second") == "inserted"
        held = alice.execute(
            "SELECT external_id FROM pgmnemo.list_lessons(%s) ORDER BY id", (tenant,)
        ).fetchall()
    assert held == [("first",), ("second",)]
    assert "shard2" in run("status")
    for name, place in places.items():
        with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
            psycopg.connect(f"{place} user=alice password=hers")
        assert SECRET.encode() not in (cluster.folder / name / "server.log").read_bytes()
        with psycopg.connect(f"{place} user=pgmnemo", autocommit=True) as shard:
            kept = shard.execute("SELECT i::text FROM pgmnemo_shard.identity i").fetchall()
            assert SECRET not in str(kept)
            assert "SCRAM-SHA-256$" in str(kept)
