"""The archive for PGXN: unpacked, installed by PGXS into an empty tree, and created from there."""

from __future__ import annotations

import json
import subprocess
import zipfile
from pathlib import Path

import psycopg
import pytest

from pgmnemo.postgres.server_files import installation
from tests.helping import CURRENT
from tests.packaging.test_dockerfile import extended_server
from tests.packaging.test_makefile import make

TOP = f"pgmnemo_memory-{CURRENT}"


@pytest.fixture(scope="module")
def archive(root: Path, sql: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not (root / ".git").exists():
        pytest.skip("the archive is made of what git has")
    folder = tmp_path_factory.mktemp("pgxn")
    if subprocess.run(["git", "diff", "--quiet", "HEAD", "--", "."], cwd=sql, check=False).returncode:
        pytest.skip("sql/ has changes that are not committed")
    done = make(sql, "dist", f"DIST={folder}")
    assert done.returncode == 0, done.stderr
    return folder / f"{TOP}.zip"


def test_it_holds_what_an_installation_needs_below_one_folder(archive: Path, sql: Path) -> None:
    with zipfile.ZipFile(archive) as opened:
        names = {name.removeprefix(f"{TOP}/") for name in opened.namelist()} - {""}
        meta = json.loads(opened.read(f"{TOP}/META.json"))
    named = {"LICENSE", "META.json", "META.json.in", "Makefile", "README.md", "question.svg"}
    assert names == {*named, "pgmnemo.control", *(path.name for path in sql.glob("pgmnemo--*.sql"))}
    assert f"{meta['name']}-{meta['version']}" == TOP
    assert {one["file"] for one in meta["provides"].values()} <= names


def test_it_installs_into_an_empty_tree_and_is_created_there(archive: Path, prefix: Path) -> None:
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(prefix)
    program = installation(18) / "bin" / "pg_config"
    done = make(prefix / TOP, "install", f"DESTDIR={prefix / 'root'}", f"PG_CONFIG={program}")
    assert done.returncode == 0, done.stderr
    [control] = (prefix / "root").rglob("pgmnemo.control")
    with extended_server(prefix, control.parent.parent) as dsn, psycopg.connect(dsn) as connection:
        connection.execute("CREATE EXTENSION vector")
        connection.execute("CREATE EXTENSION pgmnemo")
        assert connection.execute("SELECT pgmnemo.version()").fetchone() == (CURRENT,)
