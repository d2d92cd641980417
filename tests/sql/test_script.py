"""The install script: built from src/, one object a file, the public ones described; a release is frozen."""

from __future__ import annotations

import re
import subprocess
import tomllib
from hashlib import sha256
from pathlib import Path
from typing import Any

import psycopg
import pytest

from runner.database.scripts import changed
from tests.helping import CURRENT

SQL = Path(__file__).resolve().parents[2] / "sql"
RELEASES = tomllib.loads((SQL / "releases.toml").read_text(encoding="utf-8"))
FILES = sorted((SQL / "src").glob("*.sql"))
OBJECT = re.compile(r"^CREATE (?:UNIQUE )?(FUNCTION|TABLE|TYPE|INDEX|VIEW) (?:pgmnemo\.)?(\w+)", re.MULTILINE)


def test_the_script_is_what_src_makes() -> None:
    done = subprocess.run(
        ["make", "-s", "-C", str(SQL), "check-src"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("version", RELEASES)
def test_the_scripts_of_a_release_are_those_that_are_listed(version: str) -> None:
    """A version that is not listed is still being written, and held to src/ by the test above."""
    found = {
        path.name: sha256(path.read_bytes()).hexdigest()
        for path in SQL.glob("pgmnemo--*.sql")
        if path.stem.split("--")[-1] == version
    }
    release = RELEASES[version]
    listed = {
        f"pgmnemo--{source}--{version}.sql": digest
        for source, digest in release.get("upgrade_sha256", {}).items()
    }
    if "install_sha256" in release:
        listed[f"pgmnemo--{version}.sql"] = release["install_sha256"]
    assert found == listed
    assert changed(SQL, version) is None


def test_every_older_release_has_a_way_to_the_current_version(owner: psycopg.Connection[Any]) -> None:
    ways = owner.execute("SELECT source FROM pg_extension_update_paths('pgmnemo') "
                         "WHERE target = %s AND path IS NOT NULL", (CURRENT,)).fetchall()  # fmt: skip
    assert {source for (source,) in ways} == {version for version in RELEASES if version != CURRENT}


def test_a_released_version_has_its_fingerprint(database: Any) -> None:
    if CURRENT not in RELEASES:
        return
    assert database.facts.fingerprint == RELEASES[CURRENT]["fingerprint"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_source_file_holds_the_object_it_is_named_after(path: Path) -> None:
    made = OBJECT.findall(path.read_text(encoding="utf-8"))
    name = path.stem[3:]
    if name.endswith("_security") or name in ("schema_usage", "dump"):
        assert made == []
    elif name.endswith("_indexes"):
        assert {kind for kind, _ in made} == {"INDEX"}
        assert all(found.startswith(name.removesuffix("indexes")) for _, found in made)
    else:
        assert [found.lstrip("_") for _, found in made] == [name]


def test_every_public_object_is_described(owner: psycopg.Connection[Any]) -> None:
    bare = owner.execute(
        "SELECT proname::text FROM pg_proc WHERE pronamespace = 'pgmnemo'::regnamespace AND proname !~ '^_' "
        "AND obj_description(oid, 'pg_proc') IS NULL UNION ALL "
        "SELECT relname FROM pg_class WHERE relnamespace = 'pgmnemo'::regnamespace AND relkind = 'r' "
        "AND obj_description(oid, 'pg_class') IS NULL UNION ALL "
        "SELECT relname FROM pg_class WHERE relnamespace = 'pgmnemo'::regnamespace AND relkind = 'c' "
        "AND obj_description(reltype, 'pg_type') IS NULL UNION ALL "
        "SELECT attrelid::regclass || '.' || attname FROM pg_attribute JOIN pg_class c ON c.oid = attrelid "
        "WHERE relnamespace = 'pgmnemo'::regnamespace AND relkind = 'r' AND attnum > 0 AND NOT attisdropped "
        "AND col_description(attrelid, attnum) IS NULL"
    ).fetchall()  # fmt: skip
    assert bare == []


def test_functions_that_run_statements_fix_their_search_path(owner: psycopg.Connection[Any]) -> None:
    """All but those in SQL that must be inlined: pure scoring, and the candidate queries."""
    free = {name for (name,) in owner.execute(
        "SELECT proname FROM pg_proc JOIN pg_language l ON l.oid = prolang "
        "WHERE pronamespace = 'pgmnemo'::regnamespace AND proconfig IS NULL "
        "AND (lanname <> 'sql' OR provolatile = 'v' OR proname !~ '^_')")}  # fmt: skip
    assert free == {"version"}
    definer = "SELECT count(*) FROM pg_proc WHERE pronamespace = 'pgmnemo'::regnamespace AND prosecdef"
    assert owner.execute(definer).fetchone() == (0,)


def test_no_statement_is_put_together_from_values() -> None:
    assert [
        path.name for path in FILES if re.search(r"EXECUTE\s+(format|'[^']*'\s*\|\|)", path.read_text())
    ] == []
    assert [path.name for path in FILES if re.search(r"\bWHEN OTHERS\b", path.read_text())] == []
