"""The ways by which a memory comes to a server, each beside a database that held the notes from the start."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from pgmnemo.paths import SQL_FOLDER, release_numbers
from pgmnemo.postgres.embedded import EmbeddedServer, binaries, upgrade
from pgmnemo.postgres.install import install_into_database
from pgmnemo.postgres.install.statements import plain_statements
from pgmnemo.postgres.releases import scripts
from pgmnemo.postgres.server_process import SUPERUSER
from pgmnemo.probe import PLAIN_SQL
from tests.helping import until
from tests.servers.asserting import wrong
from tests.servers.bench import LOCALES, MAJORS, OWNER, TENANT, Bench, Database, package_installation
from tests.servers.notes import CODECS, NOTES, WIDTH

Pair = tuple[Database, Database]
"""A database that came by a way, and the one that was loaded from the start."""
OPERATING = Path(__file__).resolve().parents[2] / "docs/howto/operating.md"
PUBLICATION, SWITCH, GIVEN_BACK = (
    re.compile(pattern, re.M | re.S)
    for pattern in (
        r"-c '(CREATE PUBLICATION [^']+)'",
        r"<<'END'\n(SELECT.*?)^END",
        r"<<'END'\n(BEGIN.*?)^END",
    )
)
READY = "SELECT bool_and(srsubstate = 'r') FROM pg_subscription_rel"
CAUGHT_UP = "SELECT confirmed_flush_lsn >= $1::pg_lsn FROM pg_replication_slots WHERE slot_name = 'upgrade'"


@dataclass(frozen=True)
class Cell:
    """A row of the table: how a memory comes to a server, and what it is there."""

    way: str
    what: str
    make: Callable[[Bench], Pair]

    def __str__(self) -> str:
        return f"{self.way}: {self.what}"


def page(pattern: re.Pattern[str]) -> list[str]:
    """Return the statements of docs/howto/operating.md that a pattern finds."""
    found = pattern.search(OPERATING.read_text(encoding="utf-8"))
    assert found is not None, pattern.pattern
    return [one for one in found[1].split(";\n") if one.strip()]


def anew(bench: Bench, major: int, **options: str) -> Database:
    """Load the notes into a new database of a server."""
    return bench.server(major).installed("from_the_start", **options).load()


def loaded(major: int, language: str = "", **options: str) -> Callable[[Bench], Pair]:
    """Load a database, and one of the other major version: scores do not depend on it."""

    def make(bench: Bench) -> Pair:
        given = {**options, "ctype": bench.locale(language)} if language else options
        other = next(one for one in MAJORS if one != major)
        return bench.server(major).installed("loaded", **given).load(), anew(bench, other, **given)

    return make


def builtin(name: str) -> Callable[[Bench], Pair]:
    """Load a database whose locale is PostgreSQL's own, and one of the C library's."""
    return lambda bench: (bench.server(18).installed("builtin", builtin=name).load(), anew(bench, 18))


def elsewhere(bench: Bench) -> Pair:
    """Load a database with pgvector in a schema of its own."""
    return bench.server(18).installed("elsewhere", vector="extensions").load(), anew(bench, 18)


def plain_sql(encoding: str) -> Callable[[Bench], Pair]:
    """Install plain SQL, dump it, and restore the dump as it is."""

    def make(bench: Bench) -> Pair:
        server = bench.server(18)
        made, copy = (server.database(name, encoding) for name in ("plain", "plain_restored"))
        made.run(f"GRANT CREATE ON DATABASE plain TO {OWNER}", user=SUPERUSER)
        install_into_database({**made.place, "user": OWNER}, way=PLAIN_SQL, tenants=[TENANT])
        made.load()
        dump = bench.program(18, "pg_dump", "-Fc", "-d", made.dsn())
        bench.program(18, "pg_restore", "-1", "-d", copy.dsn(), given=dump)
        return copy.holding(made), anew(bench, 18, encoding=encoding)

    return make


def plain_updated(version: str, encoding: str) -> Callable[[Bench], Pair]:
    """Load an older release that is plain SQL, and update it as `mnemo init --dsn` does."""

    def make(bench: Bench) -> Pair:
        made = bench.server(18).database("plain_updated", encoding)
        with made.connect() as connection, connection.transaction():
            connection.execute("CREATE SCHEMA pgmnemo")
            for path in scripts(SQL_FOLDER, version):
                connection.execute(plain_statements(path.read_text(encoding="utf-8"), "public").encode())
        made.load()
        install_into_database({**made.place, "user": OWNER})
        return made, anew(bench, 18, encoding=encoding)

    return make


def dumped(
    form: str, source: int, target: int, *, of: str = "UTF8", to: str = "UTF8", ctype: str = ""
) -> Callable[[Bench], Pair]:
    """Dump a database and restore it as docs/howto/operating.md has it."""

    def make(bench: Bench) -> Pair:
        options = {"encoding": to, **({"ctype": ctype} if ctype else {})}
        old = bench.server(source).installed("dumped", encoding=of).load()
        new = bench.server(target).installed("restored", **options).holding(old)
        if form == "plain":
            text = bench.program(target, "pg_dump", "-d", old.dsn())
            given = text.replace(b"\nCREATE SCHEMA pgmnemo;\n", b"\n", 1)
            bench.program(target, "psql", "-qX", "-v", "ON_ERROR_STOP=1", "-d", new.dsn(), given=given)
        else:
            dump = bench.folder / "memory.dump"
            dump.unlink(missing_ok=True)
            bench.program(target, "pg_dump", "-Fc", "-f", str(dump), "-d", old.dsn())
            listed = bench.program(target, "pg_restore", "-l", str(dump)).decode()
            kept = bench.folder / "listed"
            kept.write_text(
                "".join(one for one in listed.splitlines(True) if " SCHEMA - pgmnemo " not in one)
            )
            bench.program(target, "pg_restore", "-e", "-L", str(kept), "-d", new.dsn(), str(dump))
        start = bench.server(target).installed("from_the_start", **options).holding(old)
        return new, start.load()

    return make


def replicated(bench: Bench) -> Pair:
    """Follow a server of 16 by logical replication and switch, as docs/howto/operating.md has it."""
    old = bench.server(16).installed("followed").load()
    new = bench.server(18).installed("following").holding(old)
    place = old.dsn().replace("'", "''")
    old.ask("SELECT pgmnemo.set_language($1, 'auto:en')", TENANT)
    old.run(*page(PUBLICATION), user=SUPERUSER)
    new.run(
        f"CREATE SUBSCRIPTION upgrade CONNECTION '{place}' PUBLICATION upgrade WITH (run_as_owner = true)",
        user=SUPERUSER,
    )
    until(lambda: new.ask(READY, user=SUPERUSER) == [(True,)])
    [(end,)] = old.ask("SELECT pg_current_wal_lsn()::text", user=SUPERUSER)
    until(lambda: old.ask(CAUGHT_UP, end, user=SUPERUSER) == [(True,)])
    new.run("DROP SUBSCRIPTION upgrade", user=SUPERUSER)
    for statement in page(SWITCH):
        new.run(*(line for (line,) in old.ask(statement, user=SUPERUSER)), user=SUPERUSER)
    assert new.ask("SELECT pgmnemo.language($1)", TENANT) == [("auto:english",)]
    return new, anew(bench, 18)


def upgraded(bench: Bench) -> Pair:
    """Bring a cluster of 16 to 18 by pg_upgrade, and give the extension back, as the page has it."""
    old, former = bench.cluster(16)
    bench.program(16, "pg_ctl", "start", "-w", "-D", str(old.data), "-l", "/dev/null")
    try:
        Database(former.place, ()).run(f"CREATE ROLE {OWNER} LOGIN", user=SUPERUSER)
        made = former.installed("memory").load()
    finally:
        bench.program(16, "pg_ctl", "stop", "-m", "fast", "-D", str(old.data))
    new, server = bench.cluster(18, "--no-data-checksums")
    bench.program(
        18, "pg_upgrade", "-U", SUPERUSER, "--socketdir", str(bench.folder),
        "-d", str(old.data), "-D", str(new.data), "-b", str(bench.home(16) / "bin"),
        "-B", str(bench.home(18) / "bin"),
    )  # fmt: skip
    bench.stack.enter_context(new.running())
    found = Database({**server.place, "dbname": "memory"}, made.notes)
    assert "owner" in wrong(found)
    found.run(*page(GIVEN_BACK), user=SUPERUSER)
    return found, anew(bench, 18)


def folder(bench: Bench, name: str) -> Database:
    """Open a memory folder, which stays open."""
    server = EmbeddedServer.open(bench.folder / name)
    bench.stack.enter_context(closing(server))
    return Database(server.conninfo, NOTES, owner="pgmnemo")


def folder_upgraded(bench: Bench) -> Pair:
    """Bring a memory folder from 16 to 18 by `mnemo upgrade`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(binaries.VARIABLE, str(package_installation(16) / "bin/pg_config"))
        with closing(EmbeddedServer.open(bench.folder / "older")) as server:
            Database(server.conninfo, NOTES, owner="pgmnemo").load()
    upgrade(bench.folder / "older")
    return folder(bench, "older"), folder(bench, "newer").load()


def updated(version: str, encoding: str) -> Callable[[Bench], Pair]:
    """Load an older release, and update it."""

    def make(bench: Bench) -> Pair:
        width = 1024 if release_numbers(version) < (0, 5, 0) else WIDTH
        made = bench.server(18).installed("updated", version, encoding=encoding).load(width)
        made.run("ALTER EXTENSION pgmnemo UPDATE")
        return made, anew(bench, 18, encoding=encoding)

    return make


CELLS = (
    *(Cell("loaded", f"{major}, {encoding}", loaded(major, encoding=encoding))
      for major in MAJORS for encoding in CODECS),
    *(Cell("loaded", f"{major}, locale C", loaded(major, ctype="C")) for major in MAJORS),
    *(Cell("loaded", f"{major}, locale {language}", loaded(major, language))
      for major in MAJORS for language in LOCALES),
    *(Cell("loaded", f"18, builtin locale {name}", builtin(name)) for name in ("C.UTF-8", "PG_UNICODE_FAST")),
    Cell("pgvector", "in another schema", elsewhere),
    *(Cell("plain SQL", f"dumped and restored, {encoding}", plain_sql(encoding)) for encoding in CODECS),
    *(Cell("plain SQL", f"from 0.6.1, {encoding}", plain_updated("0.6.1", encoding)) for encoding in CODECS),
    *(Cell("dump", f"{form}, {source} to {target}", dumped(form, source, target))
      for form in ("custom", "plain") for source, target in ((16, 16), (18, 18), (16, 18))),
    Cell("dump", "UTF8 to locale C", dumped("custom", 18, 18, ctype="C")),
    Cell("dump", "LATIN1 to UTF8", dumped("custom", 16, 18, of="LATIN1")),
    Cell("dump", "EUC_JP to UTF8", dumped("plain", 18, 18, of="EUC_JP")),
    *(Cell("update", f"from 0.6.1, {encoding}", updated("0.6.1", encoding)) for encoding in CODECS),
    Cell("pg_upgrade", "16 to 18", upgraded),
    Cell("folder", "16 to 18", folder_upgraded),
    Cell("replication", "16 to 18", replicated),
)  # fmt: skip
