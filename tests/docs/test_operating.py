"""docs/howto/operating.md as an operator types it, and monitoring/ as its login may ask it."""

from __future__ import annotations

import json
import os
import pwd
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml
from psycopg import errors
from psycopg.conninfo import make_conninfo
from psycopg.rows import dict_row

from pgmnemo.client.naming import tenant_id
from pgmnemo.paths import SQL_FOLDER
from pgmnemo.postgres import server_files
from pgmnemo.postgres.server_files import EMBEDDED, PIXELTABLE, installation, stage_extension, stage_server
from pgmnemo.postgres.server_process import SERVER_USER, SETTINGS, SUPERUSER, ServerProcess, give_to_server
from tests.docs.pages import blocks
from tests.docs.test_pages import Reader
from tests.helping import until
from tests.pgmnemo.postgres.embedded.serving import new_base
from tests.security.attacked import OURS, PROJECT, ROLES, A, B, Server, Site, vector

PAGE = "howto/operating.md"
MONITORING = Path(__file__).resolve().parents[2] / "monitoring"
PROGRAMS = (
    *server_files.PROGRAMS, "createdb", "pg_basebackup", "pg_ctl", "pg_dump", "pg_dumpall", "pg_restore",
    "psql",
)  # fmt: skip
ASKING = {"pgmnemo.gate_strict": "off", "pgmnemo.bypass_notice": "off"}
HELD = """
SELECT l::text FROM pgmnemo.lesson l
 UNION ALL SELECT p::text FROM pgmnemo.passage p
 UNION ALL SELECT concat_ws(' ', v.tenant_id, v.lesson_id, v.number, v.embedding) FROM pgmnemo.lesson_vector v
 UNION ALL SELECT s::text FROM pgmnemo.embedding_space s
 UNION ALL SELECT e::text FROM pgmnemo.lesson_edge e
 UNION ALL SELECT s::text FROM pgmnemo.supersession s
 UNION ALL SELECT concat_ws(' ', g.tenant_id, g.grantee) FROM pgmnemo.tenant_grant g
"""
RECALL = "SELECT r::text FROM pgmnemo.recall(%s, %s::real[], 10, 'the river', as_of => '2026-06-01Z') r"
SUPERSEDE = "SELECT pgmnemo.supersede(%s, %s, 'former', 'kept', at => '2025-01-01Z')"
OWNERS = """
SELECT DISTINCT relowner::regrole::text FROM pg_class WHERE relnamespace = 'pgmnemo'::regnamespace
"""
NUMBERS = """
SELECT sequencename, last_value FROM pg_sequences
 WHERE schemaname = 'pgmnemo' AND sequencename <> 'revocation_seq' ORDER BY 1
"""
UNDO = "SELECT pgmnemo.undo_supersede(%s, %s, 'former')"
REQUIRED = "PGMNEMO_REQUIRE_PROMTOOL"  # set in CI: there a missing promtool is a failure
EXPRESSION = re.compile(r"\b(pgmnemo_\w+)(?:\{([^}]*)\})?")
MATCHER = re.compile(r'(\w+)=(~?)"([^"]*)"')


@dataclass
class Operator(Reader):
    """Whose servers lie in a folder of his, which the page calls /srv."""

    def bash(self, text: str) -> str:
        return super().bash(text.replace("/srv", str(self.folder)))

    @contextmanager
    def started(self, data: str, port: int, postgres: int, **settings: str) -> Iterator[Server]:
        """A server in the folder `data`."""
        told = {**SETTINGS, **settings, "port": str(port)}
        server = ServerProcess(self.home(postgres), self.folder, self.folder, told, data=data)
        server.initialise()
        with server.running():
            conninfo = {"host": str(self.folder), "port": str(port), "user": SUPERUSER, "dbname": "postgres"}
            yield Server(conninfo, postgres)

    def home(self, postgres: int) -> Path:
        """A copy of an installation that the server's user can read, with the extension."""
        bundle = EMBEDDED if postgres == 18 else PIXELTABLE
        folder = self.folder / f"postgresql-{postgres}"
        home = folder / bundle.module / bundle.installations[postgres]
        if not home.exists():
            stage_server(installation(postgres, bundle), folder, bundle, PROGRAMS)
            stage_extension(SQL_FOLDER, home / bundle.extensions)
        return home

    def programs(self) -> Path:
        """The folder of programs for PATH: each runs as the server's user, as `sudo -u postgres` has it."""
        home = self.home(18) / "bin"
        if os.geteuid() != 0:
            return home
        entry, folder = pwd.getpwnam(SERVER_USER), self.folder / "programs"
        folder.mkdir()
        for name in PROGRAMS:
            become = f"setpriv --reuid {entry.pw_uid} --regid {entry.pw_gid} --clear-groups"
            (folder / name).write_text(f'#!/bin/sh\nexec {become} {home / name} "$@"\n')
            (folder / name).chmod(0o755)
        return folder

    def texts(self, tenant: str, port: int = 5432, name: str = "memory") -> set[str]:
        """What a tenant of alice's holds."""
        with self.connect(port, name, "alice") as alice:
            found = alice.execute("SELECT content FROM pgmnemo.list_lessons(%s)", (tenant_id(tenant),))
            return {text for (text,) in found}

    def connect(
        self, port: int = 5432, name: str = "memory", user: str = SUPERUSER
    ) -> psycopg.Connection[Any]:
        options = " ".join(f"-c {name}={value}" for name, value in ASKING.items())
        return psycopg.connect(
            host=str(self.folder), port=port, dbname=name, user=user, options=options, autocommit=True
        )

    def told(self, port: int = 5432, name: str = "memory") -> set[tuple[Any, ...]]:
        """All rows, and what each tenant recalls; of neither anything is wrong."""
        with self.connect(port, name) as root:
            found = set(root.execute(HELD))
            for tenant in (A, B):
                assert root.execute("SELECT * FROM pgmnemo.check(%s)", (tenant,)).fetchall() == []
                recalled = root.execute(RECALL, (tenant, vector(1, 1))).fetchall()
                assert len(recalled) >= 2
                found |= {(tenant, *row) for row in recalled}
            return found


def fill(server: Server) -> None:
    """Rows in every table that a memory has."""
    with server.connect("postgres") as root:
        for role in ROLES:
            root.execute(f"CREATE ROLE {role} LOGIN")
    server.install("memory", OURS)
    with ExitStack() as stack:
        site = Site(server, OURS, "memory", stack)
        for login, tenant in (("alice", A), ("bob", B)):
            client = site.connect(login, tenant)
            if tenant == B:
                client.execute("SET pgmnemo.hnsw_min_vectors = 0")
            for number, key in enumerate(("former", "kept", "other")):
                parts, vectors = [f"the river {key}", "the brook"], [vector(number, 1), vector(1)]
                site.store(
                    client, tenant, key, ". ".join(parts), metadata='{"lang": "de"}', passages=parts,
                    embedding=vector(1, number), passage_embeddings=[str(one) for one in vectors],
                )  # fmt: skip
            client.execute("SELECT pgmnemo.link(%s, %s, 'other', 'kept', 'follows', 0.5)", (tenant, PROJECT))
            client.execute(SUPERSEDE, (tenant, PROJECT))


@pytest.fixture(scope="module")
def operator() -> Iterator[Operator]:
    """At a server with the settings that the page begins with, on port 5432, in the folder `memory`."""
    with new_base() as folder, pytest.MonkeyPatch.context() as patch:
        (folder / "archive").mkdir()
        if os.geteuid() == 0:
            give_to_server(folder)
            give_to_server(folder / "archive")
        typing = Operator(folder)
        [ini] = (one["text"] for one in blocks(PAGE) if one["language"] == "ini")
        lines = (line.split(" = ", 1) for line in ini.replace("/srv", str(folder)).splitlines())
        settings = {name: value.strip("'") for name, value in lines} | {"max_wal_senders": "10"}
        patch.setenv("PATH", f"{typing.programs()}{os.pathsep}{os.environ['PATH']}")
        typing.given = {
            "PGHOST": str(folder), "PGUSER": SUPERUSER, "PGDATABASE": "memory", "PGMNEMO_TENANT": "ada",
            "PGMNEMO_MEMORY": "dbname=memory user=alice", "PGMNEMO_EMBEDDER": "none",
        }  # fmt: skip
        with typing.started("memory", 5432, 18, **settings) as server:
            fill(server)
            with server.connect("memory", "keeper") as keeper:
                keeper.execute("SELECT pgmnemo.grant_tenant(%s, 'alice')", (tenant_id("ada"),))
            typing.bash('mnemo add "I moved to Lisbon in May." --role user')
            try:
                yield typing
            finally:
                for name in ("standby", "recovered"):
                    typing.bash(
                        f"! test -e /srv/{name}/postmaster.pid || pg_ctl stop -m immediate -D /srv/{name}"
                    )


def samples(asker: psycopg.Connection[Any], collector: dict[str, Any]) -> dict[str, list[dict[str, str]]]:
    """By metric the labels of each sample that sql_exporter would make of the queries."""
    queries = {one["query_name"]: one["query"] for one in collector["queries"]}
    found: dict[str, list[dict[str, str]]] = {}
    for metric in collector["metrics"]:
        query = metric.get("query") or queries[metric["query_ref"]]
        labels, [value] = metric.get("key_labels", []), metric["values"]
        with asker.cursor(row_factory=dict_row) as cursor:
            rows = cursor.execute(query).fetchall()
        assert all(isinstance(row[value], float) for row in rows), metric
        assert metric["type"] == ("counter" if metric["metric_name"].endswith("_total") else "gauge")
        found[metric["metric_name"]] = [{name: row[name] for name in labels} for row in rows]
    return found


def unmet(expressions: Iterable[str], found: dict[str, list[dict[str, str]]]) -> list[str]:
    """Selectors for which there is no sample."""
    missing = []
    for name, matchers in (one for text in expressions for one in EXPRESSION.findall(text)):
        wanted = {
            label: re.compile(value if loose else re.escape(value))
            for label, loose, value in MATCHER.findall(matchers) if label != "instance"
        }  # fmt: skip
        if not any(all(form.fullmatch(one[label]) for label, form in wanted.items()) for one in found[name]):
            missing.append(f"{name}{{{matchers}}}")
    return missing


def test_the_monitors_login_may_ask_all_that_dashboard_and_alerts_show(operator: Operator) -> None:
    operator.follow(PAGE, "Upkeep and monitoring")
    with operator.connect(user="bob") as bob:
        bob.execute(RECALL, (B, vector(1)))
    with operator.connect(user="monitor") as monitor:
        found = samples(monitor, yaml.safe_load((MONITORING / "pgmnemo.collector.yml").read_text()))
        with pytest.raises(errors.InsufficientPrivilege):
            monitor.execute("TABLE pgmnemo.lesson")
    board = json.loads((MONITORING / "dashboard.json").read_text())
    shown = [one["expr"] for panel in board["panels"] for one in panel["targets"]]
    [group] = yaml.safe_load((MONITORING / "alerts.yml").read_text())["groups"]
    assert len(group["rules"]) <= 8
    assert all(rule["annotations"].keys() == {"summary", "why", "mend"} for rule in group["rules"])
    assert unmet([*shown, *(rule["expr"] for rule in group["rules"])], found) == []
    assert {name for text in shown for name, _ in EXPRESSION.findall(text)} == {*found}


def test_each_alert_fires_when_it_should_and_only_then() -> None:
    found = shutil.which("promtool")
    if found is None:
        sentence = "no promtool: install Debian's package prometheus"
        if os.environ.get(REQUIRED) == "1":
            pytest.fail(sentence)
        pytest.skip(sentence)
    command = [found, "test", "rules", str(Path(__file__).with_name("alerts_test.yml"))]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stdout + told.stderr


def test_dumps_come_back_whole_whoever_makes_them(operator: Operator) -> None:
    before = operator.told()
    operator.follow(PAGE, "Dumps")
    for name in ("restored", "owned"):
        assert operator.told(name=name) >= before
        with operator.connect(name=name) as root:
            assert root.execute(OWNERS).fetchall() == [("keeper",)]
            with operator.connect() as former:
                numbers = zip(root.execute(NUMBERS), former.execute(NUMBERS), strict=True)
                assert all(new >= old for new, old in numbers)
        with (
            operator.connect(name=name, user="mallory") as mallory,
            pytest.raises(errors.InsufficientPrivilege),
        ):
            mallory.execute(RECALL, (B, vector(1)))
    assert operator.texts("copy", name="restored") == {"I moved to Lisbon in May."}


def test_a_mistake_is_undone_in_a_second_server(operator: Operator) -> None:
    before = operator.told()
    operator.follow(PAGE, "A point in time")
    assert operator.told(5434) == before
    assert operator.texts("ada") == {"I moved to Lisbon in May."}


def test_a_standby_recalls_follows_and_takes_over(operator: Operator) -> None:
    operator.follow(PAGE, "A standby")
    with operator.connect(user="alice") as alice:
        alice.execute("SELECT pgmnemo.store(%s, %s, 'later', 'the river later')", (A, PROJECT))
        before = operator.told()
        until(lambda: operator.told(5433) == before)
        operator.follow(PAGE, "Failover")
    assert operator.told(5433) >= before
    assert operator.texts("ada", 5433) == {"I moved to Lisbon in May.", "I moved to Porto in June."}


def test_a_new_major_version_follows_the_old_one_and_takes_over(operator: Operator) -> None:
    logical = {"wal_level": "logical", "max_wal_senders": "10"}
    with (
        operator.started("old", 5416, 16, **logical) as old,
        operator.started("new", 5418, 18, **logical) as new,
    ):
        fill(old)
        for name, server in (("OLD", old), ("NEW", new)):
            operator.given[name] = make_conninfo(**{**server.conninfo, "dbname": "memory"})
        operator.follow(PAGE, "A new major version")
        with operator.connect(5416, user="alice") as alice:
            alice.execute("SELECT pgmnemo.store(%s, %s, 'later', 'the river later')", (A, PROJECT))
            alice.execute("SELECT pgmnemo.forget(%s, %s, 'other')", (A, PROJECT))
            alice.execute(UNDO, (A, PROJECT))
            alice.execute(SUPERSEDE, (A, PROJECT))
        before = operator.told(5416)
        operator.follow(PAGE, "The switch")
        assert operator.told(5418) == before
        with operator.connect(5418, user="alice") as alice:  # new numbers come after those that came along
            alice.execute(UNDO, (A, PROJECT))
            alice.execute(SUPERSEDE, (A, PROJECT))
            alice.execute("SELECT pgmnemo.store(%s, %s, 'newest', 'the river newest')", (A, PROJECT))
        operator.told(5418)
