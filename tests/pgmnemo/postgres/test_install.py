"""pgmnemo comes into a database in the way that its server permits, the same in each."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import errors
from psycopg.conninfo import make_conninfo

from pgmnemo import Memory
from pgmnemo.errors import DatabaseError, UsageError
from pgmnemo.paths import SQL_FOLDER
from pgmnemo.postgres import fingerprint
from pgmnemo.postgres.discovery import given_server
from pgmnemo.postgres.install import PG_TLE, InstallResult, install_into_database
from pgmnemo.postgres.install.methods import create
from pgmnemo.postgres.install.target import InstallTarget
from pgmnemo.postgres.releases import release_fingerprint
from pgmnemo.probe import EXTENSION, PLAIN_SQL
from tests.helping import Listener
from tests.pgmnemo.postgres.conftest import GivenServer
from tests.pgmnemo.postgres.memories import POSTGRES
from tests.pooling import Pool
from tests.security.attacked import OURS, PROJECT, A, B, Server
from tests.security.test_findings import MARKS, plant
from tests.sql.test_managed import STUB
from tests.sql.test_upgrade import catalogue

OF_AN_EXTENSION = {"members", "dumped", "first rights"}
FORMER = "0.6.1"
KEPT = (
    "CREATE SCHEMA kept", "ALTER EXTENSION vector SET SCHEMA kept", "GRANT USAGE ON SCHEMA kept TO PUBLIC",
)  # fmt: skip
STORE = "SELECT pgmnemo.store(%s, %s, %s, 'The heron by the river', commit_sha => 'c0ffee', metadata => %s)"
RECALL = "SELECT external_id FROM pgmnemo.recall(%s, query_text => 'heron')"


@pytest.fixture
def memory(servers: dict[int, Server]) -> Server:
    return servers[18]


def into(memory: Server, name: str, user: str = "keeper", **options: Any) -> InstallResult:
    return install_into_database({**memory.conninfo, "dbname": name, "user": user}, **options)


def objects(memory: Server, name: str) -> dict[str, list[str]]:
    with memory.connect(name) as root:
        return {part: found for part, found in catalogue(root).items() if part not in OF_AN_EXTENSION}


def former(memory: Server, name: str) -> None:
    """An older version as plain SQL, which holds a lesson."""
    memory.create(name)
    with memory.connect(name, "keeper") as owner:
        target = InstallTarget(owner, name, FORMER)
        with target.transaction():
            target.execute("CREATE SCHEMA pgmnemo")
            create(target, PLAIN_SQL)
        owner.execute("SELECT pgmnemo.grant_tenant(%s, 'alice')", (A,))
    with memory.connect(name, "alice") as alice:
        alice.execute(STORE, (A, PROJECT, "k", '{"lang": "de"}'))


def refusal(call: Callable[[], object]) -> str:
    with pytest.raises(DatabaseError) as caught:
        call()
    return str(caught.value)


@pytest.mark.parametrize("postgres", POSTGRES)
def test_plain_sql_makes_what_the_extension_makes_new_or_updated(
    servers: dict[int, Server], postgres: int
) -> None:
    memory = servers[postgres]
    for name, way in (("one", None), ("two", PLAIN_SQL)):
        memory.create(name)
        told = into(memory, name, way=way, tenants=[A], role="alice")
        assert told == InstallResult(way or EXTENSION, OURS, None, "keeper", "alice", (A,), "off")
        again = into(memory, name, tenants=[A], role="alice")
        assert (again.way, again.former, again.changed) == (way or EXTENSION, OURS, False)
    former(memory, "three")
    told = into(memory, "three")
    assert (told.way, told.version, told.former, told.changed) == (PLAIN_SQL, OURS, FORMER, True)
    extension = objects(memory, "one")
    for name in ("two", "three"):
        assert objects(memory, name) == extension, name
        with memory.connect(name) as root:
            assert release_fingerprint(SQL_FOLDER, OURS) in (fingerprint(root), None)  # None: in development
            assert root.execute("SELECT pgmnemo.version()").fetchone() == (OURS,)
    with memory.connect("three", "alice") as alice:
        found = alice.execute(
            'SELECT external_id FROM pgmnemo.list(%s, filter => \'{"metadata": {"lang": "de"}}\')', (A,)
        )
        assert found.fetchall() == [("k",)]
        assert alice.execute("SELECT * FROM pgmnemo.check(%s)", (A,)).fetchall() == []


def test_plain_sql_keeps_tenants_apart(memory: Server) -> None:
    memory.create("one")
    into(memory, "one", way=PLAIN_SQL, tenants=[A], role="alice")
    into(memory, "one", tenants=[B], role="bob")
    with memory.connect("one", "alice") as alice, memory.connect("one", "bob") as bob:
        alice.execute(STORE, (A, PROJECT, "k", "{}"))
        assert alice.execute(RECALL, (A,)).fetchall() == [("k",)]
        assert bob.execute(RECALL, (B,)).fetchall() == []
        for query in (
            RECALL,
            "SELECT pgmnemo.grant_tenant(%s, 'bob')",
            "SELECT * FROM pgmnemo.lesson WHERE tenant_id = %s",
        ):
            with pytest.raises(errors.InsufficientPrivilege):
                bob.execute(query, (A,))
    with memory.connect("one", "keeper") as owner:  # policies bind whom all else belongs to
        assert owner.execute("SELECT count(*) FROM pgmnemo.lesson").fetchone() == (0,)


def test_a_plain_installation_goes_into_a_dump_as_a_whole_and_comes_back(
    memory: Server, tmp_path: Path
) -> None:
    memory.create("one")
    into(memory, "one", way=PLAIN_SQL, tenants=[A], role="alice")
    with memory.connect("one", "alice") as alice:
        alice.execute(STORE, (A, PROJECT, "k", "{}"))
    dump = str(tmp_path / "dump")
    assert memory.program("pg_dump", "one", "-Fc", "-f", dump) == ""
    memory._copy("two", "template0")
    assert memory.program("pg_restore", "two", "-1", dump) == ""
    assert not into(memory, "two").changed
    with memory.connect("two", "alice") as alice:
        assert alice.execute(RECALL, (A,)).fetchall() == [("k",)]


@pytest.mark.parametrize("way", [EXTENSION, PLAIN_SQL])
def test_pgvector_may_be_in_a_schema_of_its_own(memory: Server, way: str) -> None:
    memory.create("one", *KEPT)
    # whose fingerprint was looked at
    assert into(memory, "one", way=way, tenants=[A], role="alice").version == OURS
    place = make_conninfo(**{**memory.conninfo, "dbname": "one", "user": "alice"})
    with Memory.open(place, embedder="hash") as opened:
        scope = opened.tenant(A).project("p")
        scope.add("A heron. An otter.", passages=["A heron.", "An otter."])
        assert scope.recall("otter", mode="vector")[0].passage == "An otter."


@pytest.mark.parametrize("way", [EXTENSION, PLAIN_SQL])
@pytest.mark.parametrize("user", ["keeper", "postgres"])
def test_nothing_planted_runs_in_the_installers_place(memory: Server, way: str, user: str) -> None:
    memory.create("one", *MARKS)
    with memory.connect("one", "mallory") as mallory:
        for text in plant("public"):
            with suppress(errors.InsufficientPrivilege, errors.InvalidSchemaName):
                mallory.execute(text.encode())
    into(memory, "one", user, way=way, tenants=[A], role="alice")
    with memory.connect("one") as root:
        assert root.execute("TABLE public.marks").fetchall() == []


def test_a_superuser_installs_for_an_ordinary_owner_and_makes_pgvector(memory: Server) -> None:
    memory._copy("one", "template0")
    told = into(memory, "one", "postgres", tenants=[A], role="alice")
    assert (told.owner, told.role, told.granted) == ("pgmnemo_owner", "alice", (A,))
    with memory.connect("one", "alice") as alice:
        assert alice.execute(RECALL, (A,)).fetchall() == []


def test_the_login_is_granted_its_tenants_or_told_who_grants_them(memory: Server) -> None:
    memory.create("one")
    assert into(memory, "one", tenants=[A]).role == "keeper"
    told = refusal(lambda: into(memory, "one", "alice", tenants=[B]))
    assert told.endswith(f"have keeper run SELECT pgmnemo.grant_tenant('{B}', 'alice')")
    into(memory, "one", tenants=[B], role="alice")
    assert into(memory, "one", "alice", tenants=[B]).granted == (B,)
    assert "there is no role 'nobody'" in refusal(lambda: into(memory, "one", tenants=[A], role="nobody"))


def test_a_pooler_in_transaction_mode_may_be_between(bouncer: str, memory: Server) -> None:
    memory.create("one")
    with ExitStack() as stack:
        place = {**memory.conninfo, "dbname": "one"}
        pool = Pool.start(bouncer, stack, place, {"own": {}}, ["keeper"], {"pool_mode": "transaction"})
        told = install_into_database(pool.conninfo("keeper"), way=PLAIN_SQL, tenants=[A], role="alice")
        assert (told.way, told.version) == (PLAIN_SQL, OURS)
        assert pool.connect("keeper").execute("SHOW search_path").fetchone() == ('"$user", public',)
        assert "there is no database 'none'" in refusal(
            lambda: install_into_database(pool.conninfo("keeper", "none"))
        )


VERSION = "CREATE FUNCTION pgmnemo.version() RETURNS text LANGUAGE sql AS $$SELECT '{}'$$"
VERB = "CREATE FUNCTION pgmnemo.recall_lessons() RETURNS int LANGUAGE sql AS 'SELECT 1'"
THERE = {
    "a schema of somebody": (
        ("CREATE SCHEMA pgmnemo",),
        "has a schema pgmnemo of role postgres, which stays",
    ),
    "a schema of ours with something in it": (
        ("CREATE SCHEMA pgmnemo AUTHORIZATION keeper CREATE TABLE kept (n int)",),
        "has a schema pgmnemo of role keeper, which stays",
    ),
    "a newer version": (
        ("CREATE SCHEMA pgmnemo", VERSION.format("99.0.0"), VERB),
        "has pgmnemo 99.0.0, which is newer than this package",
    ),
    "no right to create": (
        ("ALTER DATABASE one OWNER TO postgres",),
        "run GRANT CREATE ON DATABASE one TO keeper",
    ),
    "no pgvector": (("DROP EXTENSION vector",), "role keeper may not create pgvector in"),
    "no right on pgvector": (KEPT[:2], "GRANT USAGE ON SCHEMA kept TO keeper"),
    "an old pgvector": (
        ("UPDATE pg_extension SET extversion = '0.7.4' WHERE extname = 'vector'",),
        "has pgvector 0.7.4, and pgmnemo needs",
    ),
    "no writing": (("ALTER ROLE keeper SET default_transaction_read_only = on",), "is read-only"),
}


if release_fingerprint(SQL_FOLDER, OURS):  # of a version in development no fingerprint is known
    THERE["something of the same name and version"] = (
        ("CREATE SCHEMA pgmnemo", VERSION.format(OURS), VERB),
        f"a patched copy of {OURS}; nothing was changed there",
    )


@pytest.mark.parametrize("what", THERE)
def test_what_is_there_stays_and_is_said_in_one_sentence(what: str, memory: Server) -> None:
    before, sentence = THERE[what]
    memory.create("one", *before)
    try:
        found = objects(memory, "one") if "schema" in what else {}
        told = refusal(lambda: into(memory, "one"))
        assert sentence in told
        assert found == (objects(memory, "one") if "schema" in what else {})
    finally:
        with memory.connect("postgres") as root:
            root.execute("ALTER ROLE keeper RESET default_transaction_read_only")


def test_another_extension_of_the_name_stays(server: GivenServer, listener: Listener) -> None:
    """The stub is on this server in the place of ours."""
    server.run("CREATE DATABASE stubbed", "CREATE DATABASE plain")
    for database in ("stubbed", "plain"):
        server.run("CREATE EXTENSION vector", database=database)
    server.run("CREATE EXTENSION pgmnemo", database="stubbed")
    boss = {database: conninfo(server.dsn("boss", database)) for database in ("stubbed", "plain")}
    assert "another extension named pgmnemo (0.2.1)" in refusal(
        lambda: install_into_database(boss["stubbed"])
    )
    told = refusal(lambda: install_into_database(boss["plain"], way=EXTENSION))
    assert f"does not offer pgmnemo {OURS} as an extension" in told
    assert "has no pg_tle" in refusal(lambda: install_into_database(boss["plain"], way=PG_TLE))
    assert install_into_database(boss["plain"], progress=listener).way == PLAIN_SQL
    assert listener.lines[-1].endswith("(plain SQL)")


def test_who_cannot_come_in_is_told_why(server: GivenServer, make_role: Callable[..., str]) -> None:
    dsn = make_role("guest")
    for wrong, sentence in (
        (dsn.replace("secret", "guessed"), "the password is wrong for user 'guest'"),
        (dsn.replace("/postgres", "/nowhere"), "there is no database 'nowhere'"),
        ("postgresql://guest@127.0.0.1:1/x", "cannot be reached"),
    ):
        assert sentence in refusal(lambda wrong=wrong: install_into_database(conninfo(wrong)))
    with pytest.raises(UsageError, match="choose one of: extension, pg_tle, plain SQL"):
        install_into_database(conninfo(dsn), way="magic")


def conninfo(dsn: str) -> dict[str, Any]:
    given = given_server(dsn, {})
    return dict(given.conninfo)


def test_only_the_owner_updates(memory: Server) -> None:
    former(memory, "one")
    told = refusal(lambda: into(memory, "one", "alice"))
    assert told.endswith("have its owner keeper run mnemo init --dsn")
    memory.install("one", FORMER)
    told = into(memory, "one", "postgres")
    assert (told.way, told.version, told.former, told.owner) == (EXTENSION, OURS, FORMER, "keeper")


def test_an_update_that_others_hold_up_gives_up_and_changes_nothing(
    memory: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pgmnemo.postgres.install.install.LOCKS", "SET LOCAL lock_timeout = '50ms'")
    former(memory, "one")
    with memory.connect("one") as root:
        with root.transaction():
            root.execute("LOCK pgmnemo.tenant_grant IN ACCESS SHARE MODE")
            assert "took too long: canceling statement due to lock timeout" in refusal(
                lambda: into(memory, "one")
            )
        assert root.execute("SELECT pgmnemo.version()").fetchone() == (FORMER,)
    assert into(memory, "one").former == FORMER


TLE = f"""{STUB};
CREATE FUNCTION pgtle.available_extension_versions() RETURNS TABLE (name name, version name)
LANGUAGE sql SECURITY DEFINER AS $$
SELECT g.name, g.version FROM pgtle.given g UNION SELECT p.name, p.tovers FROM pgtle.paths p $$;
GRANT USAGE ON SCHEMA pgtle TO PUBLIC
"""


def pg_tle(root: psycopg.Connection[Any]) -> None:
    """What stands for pg_tle: it keeps what it is told, and the extension's files are those of the server."""
    row = root.execute("SHOW extension_control_path").fetchone()
    folder = Path(row[0].split(":")[1]) / "extension"
    (folder / "pg_tle.control").write_text("default_version = '1.5.2'\n")
    (folder / "pg_tle--1.5.2.sql").write_text(TLE)
    root.execute("CREATE EXTENSION pg_tle")
    root.execute("DROP ROLE IF EXISTS pgtle_admin; CREATE ROLE pgtle_admin")


def test_pg_tle_is_handed_the_script_or_what_it_lacks(memory: Server) -> None:
    memory.create("one")
    with memory.connect("one") as root:
        pg_tle(root)
        assert into(memory, "one", "postgres", way=PG_TLE).way == PG_TLE
        given = root.execute("SELECT name, version, requires FROM pgtle.given").fetchall()
        assert given == [("pgmnemo", OURS, ["vector"])]
        assert not into(memory, "one", "postgres").changed
        root.execute(
            f"DROP EXTENSION pgmnemo; DROP SCHEMA pgmnemo; CREATE EXTENSION pgmnemo VERSION '{FORMER}'"
        )
        root.execute("UPDATE pgtle.given SET version = %s", (FORMER,))
        told = into(memory, "one", "postgres")
        assert (told.way, told.former, told.version) == (PG_TLE, FORMER, OURS)
        paths = root.execute("SELECT fromvers, tovers FROM pgtle.paths").fetchall()
        assert paths == [(FORMER, OURS)]


def test_who_may_tell_pg_tle_nothing_installs_plain_sql(memory: Server) -> None:
    memory.create("one")
    with memory.connect("one") as root:
        pg_tle(root)
    told = refusal(lambda: into(memory, "one", way=PG_TLE))
    assert told.endswith("have an administrator run GRANT pgtle_admin TO keeper")
