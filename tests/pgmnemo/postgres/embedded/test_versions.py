"""Older extensions and older PostgreSQLs: brought up to date with their data, which is kept beside."""

from __future__ import annotations

import subprocess
from contextlib import closing
from pathlib import Path

import pytest
from psycopg.conninfo import make_conninfo

from pgmnemo.errors import DatabaseError, UsageError
from pgmnemo.postgres.embedded import EmbeddedServer, binaries, pg_upgrade, upgrade
from pgmnemo.postgres.embedded.memory_folder import MemoryFolder
from pgmnemo.postgres.embedded.server_processes import folder_processes
from pgmnemo.postgres.releases import default_version
from tests.helping import Listener
from tests.pgmnemo.postgres.embedded.serving import TENANT, connected, kill, known, store, value

OWNER = "SELECT extowner::regrole::text FROM pg_extension WHERE extname = 'pgmnemo'"
OWNERS = """SELECT string_agg(DISTINCT proowner::regrole::text, ' ') FROM pg_proc
            WHERE pronamespace = 'pgmnemo'::regnamespace"""


def test_an_older_extension_is_updated_after_a_dump(base: Path) -> None:
    with closing(EmbeddedServer.open(base / "memory", wanted="0.6.1")) as server:
        store(server, "first", "second")
        assert value(server, "SELECT pgmnemo.version()") == "0.6.1"
        heard = Listener()
        # while another has it open
        with closing(EmbeddedServer.open(base / "memory", progress=heard)) as newer:
            assert value(newer, "SELECT pgmnemo.version()") == default_version()
            assert known(newer, "first", "second") == ["first", "second"]
            assert value(newer, OWNERS) == "pgmnemo"
    (dump,) = (base / "memory").glob(f"before-{default_version()}-*.dump")
    assert heard.lines == [
        f"{base}/memory: pgmnemo 0.6.1 is now {default_version()}; what was there before is kept in {dump}"
    ]
    assert dump.stat().st_mode & 0o077 == 0
    with pytest.raises(DatabaseError, match=f"{default_version()}, which is newer than 0.6.1: install"):
        EmbeddedServer.open(base / "memory", wanted="0.6.1")
    _restores(dump, base / "restored")


def _restores(dump: Path, folder: Path) -> None:
    """The dump holds what was stored: a memory of the version that it was made of takes it."""
    with closing(EmbeddedServer.open(folder, wanted="0.6.1")) as server:
        address = make_conninfo("", **{**server.conninfo, "user": "postgres"})
        command = [binaries.newest().program("pg_restore"), "--data-only", "-d", address, str(dump)]
        subprocess.run(command, check=True, capture_output=True)
        assert value(server, "SELECT count(*) FROM pgmnemo.lesson", user="postgres") == 2


def test_a_version_that_there_is_not_is_named(memory: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no release '9.9.9' of pgmnemo"):
        EmbeddedServer.open(memory, wanted="9.9.9")


@pytest.fixture
def older(base: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A memory of PostgreSQL 16, whose server was killed."""
    monkeypatch.setenv(binaries.VARIABLE, binaries.of_major(16).program("pg_config"))
    server = EmbeddedServer.open(base / "memory")
    store(server, "first", "second")
    kill(folder_processes(MemoryFolder(base / "memory")))
    server.close()
    monkeypatch.delenv(binaries.VARIABLE)
    return base / "memory"


def test_an_older_postgresql_is_upgraded_with_its_data(older: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DatabaseError, match=f"of PostgreSQL 16, and 18 is installed: mnemo upgrade {older}"):
        EmbeddedServer.open(older)
    with monkeypatch.context() as patched:  # cut short when the new data lies in its place
        patched.setattr(pg_upgrade, "finish_upgrade", lambda _: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            upgrade(older)
    with pytest.raises(DatabaseError, match="data of PostgreSQL 16, and 18 is installed"):
        EmbeddedServer.open(older)
    heard = Listener()
    upgrade(older, heard)
    assert heard.lines[-1] == f"{older} is of PostgreSQL 18 now; remove {older}/pg16 when all is well"
    assert (older / "pg16" / "PG_VERSION").read_text() == "16\n"
    with closing(EmbeddedServer.open(older)) as server:
        assert known(server, "first", "second") == ["first", "second"]
        assert value(server, "SHOW server_version_num") == "180006"
        assert value(server, "SHOW data_checksums") == "on"
        assert value(server, OWNER) == "pgmnemo"
        assert value(server, OWNERS) == "pgmnemo"
        with pytest.raises(UsageError, match="is in use; close the programs that have it open, then upgrade"):
            upgrade(older)
    upgrade(older, heard)
    assert heard.lines[-1] == f"{older} holds data of PostgreSQL 18 already, the newest there is"


def test_an_upgrade_repairs_what_another_postgresql_has_cut(memory: Path) -> None:
    with closing(EmbeddedServer.open(memory)) as server:
        store(server, "first", "second")
        with connected(server, user="postgres") as root:
            root.execute("SET session_replication_role = replica")  # no trigger cuts the words again
            root.execute("UPDATE pgmnemo.lesson SET lexemes = 'of:1 another:2'")
    heard = Listener()
    upgrade(memory, heard)
    assert heard.lines[1:] == [f"repairing what the lessons of the tenant {TENANT} are found by"]
    with closing(EmbeddedServer.open(memory)) as server:
        assert value(server, f"SELECT count(*) FROM pgmnemo.check('{TENANT}')") == 0
    upgrade(memory, heard)
    assert len(heard.lines) == 3


def test_there_must_be_something_to_upgrade(base: Path) -> None:
    with pytest.raises(UsageError, match="holds no memory that could be upgraded"):
        upgrade(base / "memory")
