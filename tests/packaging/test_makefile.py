"""`make -C sql`: install by PGXS, and the current script out of its sources."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from runner.database.server_files import installation
from tests.helping import CURRENT

HEADER = '\\echo Use "CREATE EXTENSION pgmnemo" to load this file. \\quit\n'

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="no make on this machine")


def make(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}
    return subprocess.run(["make", "-C", str(folder), *arguments], capture_output=True, text=True,
                          check=False, env=environment)  # fmt: skip


@pytest.fixture
def copy(sql: Path, tmp_path: Path) -> Path:
    """A copy of sql/ with three sources in two layers and without releases."""
    folder = tmp_path / "sql"
    for layer in ("early", "late"):
        (folder / "src" / layer).mkdir(parents=True)
    for name in ("Makefile", "assemble.py", "META.json.in", "pgmnemo.control"):
        shutil.copy(sql / name, folder)
    (folder / "releases.toml").write_text("")
    (folder / "src" / "LAYERS").write_text("late   what comes first\nearly  what comes next\n")
    (folder / "src" / "early" / "c.sql").write_text("SELECT 3;\n")
    (folder / "src" / "late" / "b.sql").write_text("SELECT 2;\n")
    (folder / "src" / "late" / "a.sql").write_text("SELECT '@version@';\n")
    return folder


def test_install_copies_control_file_and_scripts(sql: Path, tmp_path: Path) -> None:
    home = installation(18)
    done = make(sql, "install", f"DESTDIR={tmp_path}", f"PG_CONFIG={home / 'bin' / 'pg_config'}")
    assert done.returncode == 0, done.stderr
    installed = {path.name for path in tmp_path.rglob("*") if path.is_file()}
    assert installed == {"pgmnemo.control", *(path.name for path in sql.glob("pgmnemo--*.sql"))}
    assert all(str(home / "share") in str(path) for path in tmp_path.rglob("pgmnemo.control"))


def test_without_pgxs_it_says_what_to_install(sql: Path) -> None:
    done = make(sql, "install", "PG_CONFIG=/nowhere/pg_config")
    assert done.returncode != 0
    assert "leads to no PGXS: install postgresql-server-dev-<major>" in done.stderr


def test_the_script_is_its_sources_by_layer_and_name(copy: Path) -> None:
    assert make(copy, "script").returncode == 0
    script = f"SELECT '{CURRENT}';\nSELECT 2;\nSELECT 3;\n"
    assert (copy / f"pgmnemo--{CURRENT}.sql").read_text() == HEADER + script
    assert make(copy, "managed").returncode == 0
    assert script in (copy / "managed" / f"pgmnemo--{CURRENT}.sql").read_text()
    assert make(copy, "check-src").returncode == 0
    (copy / "src" / "late" / "b.sql").write_text("SELECT 4;\n")
    assert make(copy, "check-src").returncode != 0


def test_a_released_script_is_not_written_again(copy: Path) -> None:
    (copy / "releases.toml").write_text(f'["{CURRENT}"]\n')
    (copy / f"pgmnemo--{CURRENT}.sql").write_text("frozen")
    done = make(copy, "script")
    assert done.returncode != 0
    assert f"{CURRENT} is released and frozen" in done.stderr
    assert (copy / f"pgmnemo--{CURRENT}.sql").read_text() == "frozen"


def test_the_committed_script_is_its_committed_sources(sql: Path) -> None:
    done = make(sql, "check-src")
    assert done.returncode == 0, done.stdout + done.stderr
