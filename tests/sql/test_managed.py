"""The script for managed servers hands pg_tle an extension that is the same as the one from files."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

from pgmnemo.paths import SQL_FOLDER
from pgmnemo.postgres import fingerprint
from pgmnemo.postgres.releases import scripts
from pgmnemo.postgres.servers import temporary_server
from tests.helping import CURRENT
from tests.sql.assembling import assemble

Connection = psycopg.Connection[Any]
MADE = {path.name: text for path, text in assemble().managed(CURRENT)}
SCRIPT = MADE.pop(f"pgmnemo--{CURRENT}.sql")
UPDATES = {name.split("--")[1]: text for name, text in MADE.items()}
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


@contextmanager
def handed(owner: Connection, database: Any, script: str) -> Iterator[Connection]:
    """A database in which the script has told the stub of pg_tle all that it has to say."""
    owner.execute("CREATE DATABASE managed")
    with psycopg.connect(**{**database.conninfo, "dbname": "managed"}, autocommit=True) as connection:
        connection.execute(STUB)
        connection.execute(script.encode())
        yield connection
    owner.execute("DROP DATABASE managed WITH (FORCE)")


@contextmanager
def kept(folder: Path, version: str, database: Any) -> Iterator[Connection]:
    """An ordinary role where pg_tle would have made the extension's files that are in the folder."""
    control = {"default_version": version, "relocatable": "false", "superuser": "false", "requires": "vector"}
    lines = "".join(f"{key} = '{value}'\n" for key, value in control.items())
    (folder / "pgmnemo.control").write_text(lines, encoding="utf-8")
    major = int(database.facts.postgresql.split(".")[0])
    with (
        temporary_server(folder, version, postgres=major) as conninfo,
        psycopg.connect(**conninfo, autocommit=True) as connection,
    ):
        connection.execute("CREATE EXTENSION vector SCHEMA public")
        connection.execute("CREATE ROLE keeper")
        where = sql.Identifier(connection.info.dbname)
        connection.execute(sql.SQL("GRANT CREATE ON DATABASE {} TO keeper").format(where))
        connection.execute("SET ROLE keeper")
        yield connection


def orders(script: str, verb: str) -> list[str]:
    """The statements that its first lines say to run."""
    return re.findall(rf"^-- +({verb} .+);$", script.partition("SELECT")[0], re.MULTILINE)


def only_what_pg_tle_knows(script: str) -> bool:
    return set(re.findall(r"@\w[^@\s]*@", script)) <= {"@extschema@", "@extowner@"} and "\\echo" not in script


def test_it_hands_over_this_release_which_its_first_lines_make_the_same(
    owner: Connection, database: Any, tmp_path: Path
) -> None:
    with handed(owner, database, SCRIPT) as told:
        [(name, version, description, script, requires)] = told.execute(
            "SELECT * FROM pgtle.given"
        ).fetchall()
    assert (name, version, requires) == ("pgmnemo", CURRENT, ["vector"])
    assert f"comment = '{description}'" in (SQL_FOLDER / "pgmnemo.control").read_text(encoding="utf-8")
    assert only_what_pg_tle_knows(script)
    (tmp_path / f"{name}--{version}.sql").write_text(script, encoding="utf-8")
    with kept(tmp_path, version, database) as managed:
        vector, extension = orders(SCRIPT, "CREATE")
        managed.execute(vector)
        managed.execute(extension)
        assert fingerprint(managed) == database.facts.fingerprint
        keeper = (
            "SELECT extversion, extowner::regrole::text, extnamespace::regnamespace::text FROM pg_extension"
        )
        assert (CURRENT, "keeper", "pgmnemo") in managed.execute(keeper).fetchall()
        stored = managed.execute(
            "SELECT pgmnemo.grant_tenant(n, current_user), "
            "pgmnemo.store(n, n, 'a', 'river', commit_sha => 'c0ffee') "
            "FROM gen_random_uuid() AS n"
        ).fetchone()
        assert stored == ("", "inserted")


@pytest.mark.parametrize("former", UPDATES)
def test_a_managed_extension_is_updated_to_the_same_one(
    owner: Connection, database: Any, tmp_path: Path, former: str
) -> None:
    with handed(owner, database, UPDATES[former]) as told:
        [(name, source, target, way)] = told.execute("SELECT * FROM pgtle.paths").fetchall()
        assert told.execute("SELECT * FROM pgtle.defaults").fetchall() == [(name, CURRENT)]
    assert (source, target) == (former, CURRENT)
    assert only_what_pg_tle_knows(way)
    for path in scripts(SQL_FOLDER, former):
        shutil.copy(path, tmp_path)
    (tmp_path / f"{name}--{former}--{CURRENT}.sql").write_text(way, encoding="utf-8")
    with kept(tmp_path, former, database) as managed:
        managed.execute("CREATE SCHEMA pgmnemo")
        managed.execute("CREATE EXTENSION pgmnemo SCHEMA pgmnemo")
        (statement,) = orders(UPDATES[former], "ALTER")
        managed.execute(statement)
        assert fingerprint(managed) == database.facts.fingerprint
        assert managed.execute("SELECT pgmnemo.version()").fetchone() == (CURRENT,)
