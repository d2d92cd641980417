"""A server that somebody else runs: one database per version is made on it, and nothing else is touched."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pgmnemo.errors import DatabaseError
from pgmnemo.postgres import Database, open_database
from pgmnemo.postgres.connections import connect, connect_error
from pgmnemo.postgres.pgvector_only import NAME as PEERS
from pgmnemo.postgres.pgvector_only import open_pgvector_database
from pgmnemo.postgres.server_checks import check_pgvector, check_server
from pgmnemo.records import DatabaseFacts

NAME = "pgmnemo_bench_0_2_1"


AT = 'connection to server at "db" (::1), port 5432 failed: '


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (f"connection failed: {AT}Connection refused\n\tIs it running there?", "Connection refused"),
        (
            f"connection failed: {AT}server closed the connection unexpectedly\n\tThis probably means\n\t"
            "before or while processing the request.",
            "server closed the connection unexpectedly",
        ),
        (
            'connection is bad: connection to server on socket "/x/.s" failed: No such file\n\tIs it there?',
            "No such file",
        ),
        (f"connection failed: {AT}FATAL:  shutting down", "shutting down"),
        ("failed to resolve host 'db': [Errno -2] Name or service not known", None),
        ("connection timeout expired", None),
        (
            f"connection failed: {AT}timeout expired\nMultiple connection attempts failed:\n- host",
            "timeout expired",
        ),
        ("", "no answer"),
    ],
)
def test_the_reason_is_what_libpq_says_first(message: str, reason: str | None) -> None:
    told = str(connect_error(psycopg.OperationalError(message), {"host": "db"}, "start it"))
    assert told == f"the database at db:5432/ cannot be reached ({reason or message}); start it"


def test_a_port_without_a_server_refuses_the_connection() -> None:
    with pytest.raises(
        DatabaseError, match=r"127.0.0.1:1/x cannot be reached \(Connection refused\); start it"
    ):
        connect({"host": "127.0.0.1", "port": 1, "dbname": "x"})


def open_on(dsn: str, stub: Path) -> AbstractContextManager[Database]:
    return open_database("0.2.1", dsn=dsn, environ={}, sql=stub)


def sentence(dsn: str, stub: Path, version: str = "0.2.1", check_only: bool = False) -> str:
    """What the user is told; always one line, never with the password."""
    with (
        pytest.raises(DatabaseError) as caught,
        open_database(version, dsn=dsn, environ={}, sql=stub, check_only=check_only),
    ):
        pass
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
    def run(_: int) -> DatabaseFacts:
        with open_on(server.dsn("boss"), stub) as database:
            return database.facts

    with ThreadPoolExecutor(3) as pool:
        assert len(set(pool.map(run, range(3)))) == 1


def test_two_runs_at_once_make_the_extensions_of_peers_once(server: Any) -> None:
    server.run(f"CREATE DATABASE {PEERS}")

    def run() -> Mapping[str, str]:
        with open_pgvector_database(server.dsn("boss"), {}) as database:
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


@dataclass(frozen=True)
class Short:
    """A server that falls short of something: who logs in, what was done on it before, and what is said."""

    told: str
    login: Mapping[str, str] = field(default_factory=lambda: {"user": "boss"})
    role: tuple[str, ...] = ()  # that of the login, if it is to be made: attributes, and settings
    before: tuple[str, ...] = ()
    inside: tuple[str, ...] = ()  # in the database of the runner
    version: str = "0.2.1"


OTHER = "UPDATE pg_extension SET extversion = '0.1' WHERE extname = 'pgmnemo'"
SHORT = {
    "wrong password": Short("the password is wrong for user 'boss'", {"user": "boss", "password": "secret2"}),
    "no password": Short("wants a password", {"user": "boss", "password": ""}),
    "no such database": Short("no database 'gone'", {"user": "boss", "database": "gone"}),
    "no such role": Short("ghost", {"user": "ghost"}),
    "read-only": Short("read-only: default_transaction_read_only",
                       role=("SUPERUSER", "default_transaction_read_only = on")),
    "no right to make a database": Short(f"may not create the database {NAME}", role=("CREATEROLE",)),
    "no right to make the role": Short(
        "may not create the role pgmnemo_runner.* ALTER ROLE plain CREATEROLE", role=("CREATEDB",)),
    "no member of the role": Short("GRANT pgmnemo_runner TO plain", role=("CREATEDB CREATEROLE",),
                                   before=("CREATE ROLE pgmnemo_runner",)),
    "a role that passes the policies": Short("passes row-level security",
                                             before=("CREATE ROLE pgmnemo_runner BYPASSRLS",)),
    "no pgvector": Short("has no pgvector", role=("SUPERUSER", "extension_control_path = '/nowhere'")),
    "an old pgvector": Short("has pgvector 0.8.3; pgmnemo needs 0.8.4 or newer",
                             role=("SUPERUSER", "extension_control_path = '{old}:$system'")),
    "no such release": Short(r"does not offer pgmnemo 9.9.9 \(only 0.2.1\).*make -C sql install.*{stub}",
                             version="9.9.9"),
    "another version": Short("holds pgmnemo 0.1 instead of 0.2.1",
                             inside=("CREATE EXTENSION pgmnemo CASCADE", OTHER)),
    "something else": Short("holds something else than pgmnemo", inside=("CREATE TABLE mine ()",)),
}  # fmt: skip
both_ways = pytest.mark.parametrize("check_only", [False, True], ids=["run", "dry run"])


@both_ways
@pytest.mark.parametrize("case", SHORT)
def test_what_a_server_falls_short_of_is_one_sentence(
    server: Any, make_role: Any, stub: Path, readable_folder: Path, case: str, check_only: bool
) -> None:
    short, old = SHORT[case], readable_folder / "old"
    (old / "extension").mkdir(parents=True, exist_ok=True)
    (old / "extension" / "vector.control").write_text("default_version = '0.8.3'\n")
    dsn = server.dsn(**short.login)
    if short.role:
        dsn = make_role("plain", *(part.format(old=old) for part in short.role))
    server.run(*short.before)
    if short.inside:
        server.run(f"CREATE DATABASE {NAME}")
        server.run(*short.inside, database=NAME)
    told = short.told.replace("{stub}", str(stub))
    assert re.search(told, sentence(dsn, stub, short.version, check_only))


@both_ways
def test_a_patched_copy_is_said(server: Any, stub: Path, tmp_path: Path, check_only: bool) -> None:
    with open_on(server.dsn("boss"), stub) as database:
        release = database.facts.fingerprint
    listed(stub, tmp_path, release)
    with open_on(server.dsn("boss"), tmp_path):
        pass
    server.run("CREATE FUNCTION pgmnemo.more() RETURNS int LANGUAGE sql AS 'SELECT 1'", database=NAME)
    told = sentence(server.dsn("boss"), tmp_path, check_only=check_only)
    assert re.search(r"another extension named pgmnemo, or a patched copy of 0\.2\.1", told)


def listed(stub: Path, folder: Path, fingerprint: str) -> None:
    """The files of the stub in `folder`, with a release of that fingerprint."""
    shutil.copytree(stub, folder, dirs_exist_ok=True)
    (folder / "releases.toml").write_text(f'["0.2.1"]\nfingerprint = "{fingerprint}"\n')


def test_files_of_another_extension_make_no_database(server: Any, stub: Path, tmp_path: Path) -> None:
    listed(stub, tmp_path, "0" * 64)
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
