"""A server that somebody else runs: one database per version is made on it, and nothing else is touched."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from pgmnemo.errors import DatabaseError
from pgmnemo.server import Database, open_database
from pgmnemo.server.plain import NAME as PEERS
from pgmnemo.server.plain import open_plain
from pgmnemo.server.server_checks import check_pgvector, check_server

NAME = "pgmnemo_bench_0_2_1"


def open_on(dsn: str, stub: Path) -> AbstractContextManager[Database]:
    return open_database("0.2.1", dsn=dsn, environ={}, sql=stub)


def sentence(dsn: str, stub: Path, version: str = "0.2.1", check_only: bool = False) -> str:
    """What the user is told; always one line, never with the password."""
    with (
        pytest.raises(DatabaseError) as caught,
        open_database(version, dsn=dsn, environ={}, sql=stub, check_only=check_only),
    ):
        pass
    assert "\n" not in str(caught.value)
    assert "secret" not in str(caught.value)
    return str(caught.value)


def test_a_database_is_made_and_found_again(server: Any, stub: Path) -> None:
    with open_on(server.dsn("boss"), stub) as database:
        first = database.facts
        assert (first.origin, first.database) == ("--dsn", NAME)
        with database.connect() as connection:
            assert connection.execute("SELECT current_user").fetchone() == ("pgmnemo_runner",)
        with database.admin() as connection:
            connection.execute("INSERT INTO pgmnemo.lesson VALUES (1)")
    with open_on(server.dsn("boss"), stub) as database, database.admin() as connection:
        assert database.facts == first
        assert connection.execute("SELECT count(*) FROM pgmnemo.lesson").fetchone() == (1,)


def test_the_options_of_the_dsn_stay(server: Any, stub: Path) -> None:
    dsn = server.dsn("boss") + "?options=-c%20work_mem%3D7MB"
    with open_on(dsn, stub) as database, database.connect() as connection:
        row = connection.execute("SELECT current_setting('work_mem'), current_user").fetchone()
        assert row == ("7MB", "pgmnemo_runner")


def test_an_ordinary_owner_can_make_it_where_pgvector_is_there(
    server: Any, make_role: Any, stub: Path
) -> None:
    dsn = make_role("owner", "CREATEDB CREATEROLE")
    server.run(f"CREATE DATABASE {NAME} OWNER owner")
    server.run("CREATE EXTENSION vector", database=NAME)
    with open_on(dsn, stub) as database, database.connect() as connection:
        assert connection.execute("SELECT current_user").fetchone() == ("pgmnemo_runner",)
        row = connection.execute("SELECT r.rolname FROM pg_extension e JOIN pg_roles r ON r.oid = extowner "
                                 "WHERE extname = 'pgmnemo'").fetchone()  # fmt: skip
        assert row == ("owner",)


def test_two_runs_at_once_make_one_database(server: Any, stub: Path) -> None:
    facts, failures = [], []

    def run() -> None:
        try:
            with open_on(server.dsn("boss"), stub) as database:
                facts.append(database.facts)
        except DatabaseError as error:
            failures.append(error)

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert len(facts) == 3
    assert len(set(facts)) == 1


def test_two_runs_at_once_make_the_extensions_of_peers_once(server: Any) -> None:
    server.run(f"CREATE DATABASE {PEERS}")

    def run() -> Mapping[str, str]:
        with open_plain(server.dsn("boss"), {}) as database:
            return database.extensions

    with ThreadPoolExecutor(1) as pool, server.admin(PEERS) as other, server.admin() as watching:
        with other.transaction():
            other.execute("CREATE EXTENSION vector")
            late = pool.submit(run)
            while not watching.execute("SELECT FROM pg_locks WHERE NOT granted").fetchall():
                assert not late.done()
        assert late.result().keys() == {"vector"}


def test_what_an_interrupted_making_left_is_completed(server: Any, stub: Path) -> None:
    server.run(f"CREATE DATABASE {NAME}")
    with open_on(server.dsn("boss"), stub) as database:
        assert database.facts.pgmnemo == "0.2.1"


def test_a_making_that_fails_leaves_no_database(server: Any, make_role: Any, stub: Path) -> None:
    dsn = make_role("creator", "CREATEDB CREATEROLE")
    told = sentence(dsn, stub)
    assert "role creator" in told
    assert "may not create the extensions" in told
    assert f"run CREATE DATABASE {NAME} OWNER creator" in told
    assert NAME not in server.names()["pg_database"]


@pytest.mark.parametrize("check_only", [False, True])
class TestSentences:
    """Each shortfall of a given server, in a run and in a dry run."""

    def test_unreachable(self, stub: Path, nowhere: dict[str, str], check_only: bool) -> None:
        dsn = f"postgresql://u:secret@127.0.0.1:{nowhere['PGMNEMO_PORT']}/d"
        assert "cannot be reached" in sentence(dsn, stub, check_only=check_only)

    def test_wrong_password(self, server: Any, stub: Path, check_only: bool) -> None:
        dsn = server.dsn("boss", password="secretly-wrong")
        assert "the password is wrong for user 'boss'" in sentence(dsn, stub, check_only=check_only)

    def test_no_password(self, server: Any, stub: Path, check_only: bool) -> None:
        dsn = f"postgresql://boss@127.0.0.1:{server.port}/postgres"
        assert "wants a password" in sentence(dsn, stub, check_only=check_only)

    def test_no_such_database(self, server: Any, stub: Path, check_only: bool) -> None:
        assert "no database 'gone'" in sentence(server.dsn("boss", "gone"), stub, check_only=check_only)

    def test_no_such_role(self, server: Any, stub: Path, check_only: bool) -> None:
        told = sentence(server.dsn("ghost"), stub, check_only=check_only)
        assert "ghost" in told

    def test_read_only(self, make_role: Any, stub: Path, check_only: bool) -> None:
        dsn = make_role("reader", "SUPERUSER", "default_transaction_read_only = on")
        assert "read-only: default_transaction_read_only" in sentence(dsn, stub, check_only=check_only)

    def test_no_right_to_make_a_database(self, make_role: Any, stub: Path, check_only: bool) -> None:
        dsn = make_role("plain", "CREATEROLE")
        assert f"may not create the database {NAME}" in sentence(dsn, stub, check_only=check_only)

    def test_no_right_to_make_the_role(self, make_role: Any, stub: Path, check_only: bool) -> None:
        dsn = make_role("plain", "CREATEDB")
        told = sentence(dsn, stub, check_only=check_only)
        assert "may not create the role pgmnemo_runner" in told
        assert "ALTER ROLE plain CREATEROLE" in told

    def test_no_member_of_the_role(self, server: Any, make_role: Any, stub: Path, check_only: bool) -> None:
        dsn = make_role("plain", "CREATEDB CREATEROLE")
        server.run("CREATE ROLE pgmnemo_runner")
        assert "GRANT pgmnemo_runner TO plain" in sentence(dsn, stub, check_only=check_only)

    def test_a_role_that_passes_the_policies(self, server: Any, stub: Path, check_only: bool) -> None:
        server.run("CREATE ROLE pgmnemo_runner BYPASSRLS")
        assert "passes row-level security" in sentence(server.dsn("boss"), stub, check_only=check_only)

    def test_no_pgvector(self, make_role: Any, stub: Path, check_only: bool) -> None:
        dsn = make_role("bare", "SUPERUSER", "extension_control_path = '/nowhere'")
        assert "has no pgvector" in sentence(dsn, stub, check_only=check_only)

    def test_an_old_pgvector(
        self, make_role: Any, stub: Path, readable_folder: Path, check_only: bool
    ) -> None:
        folder = readable_folder / "old" / "extension"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "vector.control").write_text("default_version = '0.8.3'\n")
        dsn = make_role("late", "SUPERUSER", f"extension_control_path = '{folder.parent}:$system'")
        told = sentence(dsn, stub, check_only=check_only)
        assert "has pgvector 0.8.3; pgmnemo needs 0.8.4 or newer" in told

    def test_no_such_release_on_the_server(self, server: Any, stub: Path, check_only: bool) -> None:
        told = sentence(server.dsn("boss"), stub, "9.9.9", check_only=check_only)
        assert "does not offer pgmnemo 9.9.9 (only 0.2.1)" in told
        assert "make -C sql install" in told
        assert str(stub) in told

    def test_another_version_in_the_database(self, server: Any, stub: Path, check_only: bool) -> None:
        server.run(f"CREATE DATABASE {NAME}")
        server.run("CREATE EXTENSION pgmnemo CASCADE", database=NAME)
        server.run("UPDATE pg_extension SET extversion = '0.1' WHERE extname = 'pgmnemo'", database=NAME)
        told = sentence(server.dsn("boss"), stub, check_only=check_only)
        assert "holds pgmnemo 0.1 instead of 0.2.1" in told

    def test_something_else_in_the_database(self, server: Any, stub: Path, check_only: bool) -> None:
        server.run(f"CREATE DATABASE {NAME}")
        server.run("CREATE TABLE mine ()", database=NAME)
        told = sentence(server.dsn("boss"), stub, check_only=check_only)
        assert "holds something else than pgmnemo" in told

    def test_a_patched_copy(self, server: Any, stub: Path, tmp_path: Path, check_only: bool) -> None:
        with open_on(server.dsn("boss"), stub) as database:
            release = database.facts.fingerprint
        for path in stub.iterdir():
            (tmp_path / path.name).write_bytes(path.read_bytes())
        (tmp_path / "releases.toml").write_text(f'["0.2.1"]\nfingerprint = "{release}"\n')
        with open_on(server.dsn("boss"), tmp_path):
            pass
        server.run("CREATE FUNCTION pgmnemo.more() RETURNS int LANGUAGE sql AS 'SELECT 1'", database=NAME)
        told = sentence(server.dsn("boss"), tmp_path, check_only=check_only)
        assert re.search(r"another extension named pgmnemo, or a patched copy of 0\.2\.1", told)


def test_files_of_another_extension_make_no_database(server: Any, stub: Path, tmp_path: Path) -> None:
    for path in stub.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "releases.toml").write_text(f'["0.2.1"]\nfingerprint = "{"0" * 64}"\n')
    assert "another extension named pgmnemo" in sentence(server.dsn("boss"), tmp_path)
    assert NAME not in server.names()["pg_database"]


def test_a_list_of_releases_that_cannot_be_read_is_one_sentence(
    server: Any, stub: Path, tmp_path: Path
) -> None:
    (tmp_path / "releases.toml").write_text("[")
    assert "releases.toml cannot be read" in sentence(server.dsn("boss"), tmp_path)


class OldServer:
    """What `check_server` asks of a connection, as PostgreSQL 15 answers it."""

    class info:
        server_version = 150_020

    def execute(self, query: str, _: object) -> OldServer:
        return self

    def fetchone(self) -> tuple[str]:
        return ("15.20 (Debian)",)


def test_an_old_server_is_refused() -> None:
    with pytest.raises(DatabaseError, match=r"runs PostgreSQL 15\.20; pgmnemo needs 16 or newer"):
        check_server(OldServer(), "the server")  # type: ignore[arg-type]


@pytest.mark.parametrize(("version", "fine"), [("0.8.3", False), ("0.8.4", True), ("0.8.10", True),
                                               ("0.9", True), ("1.0.0", True), ("0.7.4", False)])  # fmt: skip
def test_pgvector_is_compared_by_numbers(version: str, fine: bool) -> None:
    if fine:
        check_pgvector(version, "the server")
    else:
        with pytest.raises(DatabaseError):
            check_pgvector(version, "the server")
