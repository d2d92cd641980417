"""The script for managed servers hands pg_tle an extension that is the same as the one from files."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

from pgmnemo.places import SQL_FOLDER
from pgmnemo.server import fingerprint
from pgmnemo.server.embedded import embedded_server
from pgmnemo.server.scripts import scripts
from tests.helping import CURRENT
from tests.sql.assembling import assemble

Connection = psycopg.Connection[Any]
MADE = {path.name: text for path, text in assemble().managed(CURRENT)}
SCRIPT = MADE.pop(f"pgmnemo--{CURRENT}.sql")
((UPDATE_NAME, UPDATE),) = MADE.items()
FORMER = UPDATE_NAME.split("--")[1]
STUB = """
CREATE SCHEMA pgtle;
CREATE TABLE pgtle.given (name text, version text, description text, ext text, requires text[]);
CREATE FUNCTION pgtle.install_extension(name text, version text, description text, ext text,
                                        requires text[] DEFAULT NULL) RETURNS boolean
LANGUAGE sql AS $$ INSERT INTO pgtle.given SELECT name, version, description, ext, requires RETURNING true $$;
CREATE TABLE pgtle.paths (name text, fromvers text, tovers text, ext text);
CREATE FUNCTION pgtle.install_update_path(name text, fromvers text, tovers text, ext text) RETURNS boolean
LANGUAGE sql AS $$ INSERT INTO pgtle.paths SELECT name, fromvers, tovers, ext RETURNING true $$;
CREATE TABLE pgtle.defaults (name text, version text);
CREATE FUNCTION pgtle.set_default_version(name text, version text) RETURNS boolean
LANGUAGE sql AS $$ INSERT INTO pgtle.defaults SELECT name, version RETURNING true $$
"""


@pytest.fixture
def given(owner: Connection, database: Any) -> Iterator[tuple[Any, ...]]:
    """What the script hands over: name, version, description, script and what it requires."""
    owner.execute("CREATE DATABASE managed")
    with psycopg.connect(**{**database.conninfo, "dbname": "managed"}, autocommit=True) as connection:
        connection.execute(STUB)
        connection.execute(SCRIPT.encode())
        (row,) = connection.execute("SELECT * FROM pgtle.given").fetchall()
    yield row
    owner.execute("DROP DATABASE managed WITH (FORCE)")


@pytest.fixture
def managed(given: tuple[Any, ...], database: Any, tmp_path: Path) -> Iterator[Connection]:
    """An ordinary role, in a database where pg_tle would have made the extension's files as they are here."""
    name, version, description, script, requires = given
    control = {"default_version": version, "comment": description, "relocatable": "false",
               "superuser": "false", "requires": ", ".join(requires)}  # fmt: skip
    lines = "".join(f"{key} = '{value}'\n" for key, value in control.items())
    (tmp_path / f"{name}.control").write_text(lines, encoding="utf-8")
    (tmp_path / f"{name}--{version}.sql").write_text(script, encoding="utf-8")
    major = int(database.facts.postgresql.split(".")[0])
    with (
        embedded_server(tmp_path, version, postgres=major) as conninfo,
        psycopg.connect(**conninfo, autocommit=True) as connection,
    ):
        connection.execute("CREATE EXTENSION vector SCHEMA public")
        connection.execute("CREATE ROLE keeper")
        where = sql.Identifier(connection.info.dbname)
        connection.execute(sql.SQL("GRANT CREATE ON DATABASE {} TO keeper").format(where))
        connection.execute("SET ROLE keeper")
        yield connection


def test_it_hands_over_this_release_with_nothing_that_pg_tle_does_not_know(given: tuple[Any, ...]) -> None:
    name, version, description, script, requires = given
    control = (SQL_FOLDER / "pgmnemo.control").read_text(encoding="utf-8")
    assert (name, version, requires) == ("pgmnemo", CURRENT, ["vector"])
    assert f"comment = '{description}'" in control
    assert set(re.findall(r"@\w[^@\s]*@", script)) <= {"@extschema@", "@extowner@"}
    assert "\\echo" not in script


def test_what_its_first_lines_say_makes_the_same_extension(managed: Connection, database: Any) -> None:
    head = SCRIPT.partition("SELECT")[0]
    statements = re.findall(r"^-- +(CREATE .+);$", head, re.MULTILINE)
    assert len(statements) == 2
    for statement in statements:
        managed.execute(statement)
    assert fingerprint(managed) == database.facts.fingerprint
    keeper = "SELECT extversion, extowner::regrole::text, extnamespace::regnamespace::text FROM pg_extension"
    assert (CURRENT, "keeper", "pgmnemo") in managed.execute(keeper).fetchall()
    stored = managed.execute(
        "SELECT pgmnemo.grant_tenant(n, current_user), "
        "pgmnemo.store(n, n, 'a', 'river', commit_sha => 'c0ffee') "
        "FROM gen_random_uuid() AS n"
    ).fetchone()
    assert stored == ("", "inserted")


@pytest.fixture
def updated(owner: Connection, database: Any, tmp_path: Path) -> Iterator[Connection]:
    """An ordinary role's extension of the version before, in a database that has the way to this one."""
    owner.execute("CREATE DATABASE managed")
    with psycopg.connect(**{**database.conninfo, "dbname": "managed"}, autocommit=True) as connection:
        connection.execute(STUB)
        connection.execute(UPDATE.encode())
        [(name, source, target, way)] = connection.execute("SELECT * FROM pgtle.paths").fetchall()
        assert connection.execute("SELECT * FROM pgtle.defaults").fetchall() == [(name, CURRENT)]
    owner.execute("DROP DATABASE managed WITH (FORCE)")
    assert (source, target) == (FORMER, CURRENT)
    assert "\\echo" not in way
    assert set(re.findall(r"@\w[^@\s]*@", way)) <= {"@extschema@", "@extowner@"}
    control = f"default_version = '{FORMER}'\nrelocatable = false\nsuperuser = false\nrequires = 'vector'\n"
    (tmp_path / f"{name}.control").write_text(control, encoding="utf-8")
    for path in scripts(SQL_FOLDER, FORMER):
        shutil.copy(path, tmp_path)
    (tmp_path / f"{name}--{FORMER}--{CURRENT}.sql").write_text(way, encoding="utf-8")
    major = int(database.facts.postgresql.split(".")[0])
    with (
        embedded_server(tmp_path, FORMER, postgres=major) as conninfo,
        psycopg.connect(**conninfo, autocommit=True) as connection,
    ):
        connection.execute("CREATE EXTENSION vector SCHEMA public")
        connection.execute("CREATE ROLE keeper")
        where = sql.Identifier(connection.info.dbname)
        connection.execute(sql.SQL("GRANT CREATE ON DATABASE {} TO keeper").format(where))
        connection.execute("SET ROLE keeper")
        connection.execute("CREATE SCHEMA pgmnemo")
        connection.execute("CREATE EXTENSION pgmnemo SCHEMA pgmnemo")
        yield connection


def test_a_managed_extension_is_updated_to_the_same_one(updated: Connection, database: Any) -> None:
    head = UPDATE.partition("SELECT")[0]
    (statement,) = re.findall(r"^-- +(ALTER .+);$", head, re.MULTILINE)
    updated.execute(statement)
    assert fingerprint(updated) == database.facts.fingerprint
    assert updated.execute("SELECT pgmnemo.version()").fetchone() == (CURRENT,)
