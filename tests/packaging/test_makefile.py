"""`make`: what it installs; `make -C sql`: install by PGXS, and the current script out of its sources."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from hashlib import sha256
from pathlib import Path

import pytest

from pgmnemo.postgres.server_files import installation
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
    form = Path("pgmnemo", "postgres", "install", "statements.py")  # how a script is written as statements
    (tmp_path / form).parent.mkdir(parents=True)
    shutil.copy(sql.parent / form, tmp_path / form)
    (folder / "releases.toml").write_text("")
    (folder / "src" / "LAYERS").write_text("late   what comes first\nearly  what comes next\n")
    (folder / "src" / "early" / "c.sql").write_text("SELECT 3;\n")
    (folder / "src" / "late" / "b.sql").write_text("SELECT 2;\n")
    (folder / "src" / "late" / "a.sql").write_text("SELECT '@version@';\n")
    return folder


@pytest.mark.parametrize("target", ["bench", "test"])
def test_torch_alone_comes_from_its_own_index_and_the_rest_by_hash(
    root: Path, tmp_path: Path, target: str
) -> None:
    """A Python that writes down what it is asked stands in for that of the virtual environment."""
    (fake := tmp_path / "bin" / "python").parent.mkdir()
    fake.write_text(f'#!/bin/sh\necho "$@" >>{tmp_path}/asked\n')
    fake.chmod(0o755)
    ready = tmp_path / f".{target}-ready"
    asked: dict[str, list[str]] = {}
    for torch in ("cpu", ""):
        ready.unlink(missing_ok=True)
        done = make(root, str(ready), f"VENV={tmp_path}", f"TORCH={torch}")
        assert done.returncode == 0, done.stderr
        asked[torch] = (tmp_path / "asked").read_text().splitlines()
        (tmp_path / "asked").unlink()
    first, *rest = asked["cpu"]
    assert first.endswith(
        "-c constraints.txt --no-deps --index-url https://download.pytorch.org/whl/cpu torch"
    )
    assert rest == asked[""]
    locked, own = rest
    assert re.search(r" --no-deps --require-hashes -r locks/\w+\.txt$", locked)
    assert "-c constraints.txt --no-build-isolation -e " in own
    assert "index" not in locked + own


def test_the_dry_run_of_the_guide_is_of_the_run_that_follows_it(root: Path) -> None:
    guide = (root / "docs" / "howto" / "measure.md").read_text(encoding="utf-8")
    commands = re.findall(r"^\$ (.+)$", guide, re.MULTILINE)
    [place] = [at for at, one in enumerate(commands) if one.endswith("--dry-run")]
    run = make(root, "-n", "--no-print-directory", *commands[place + 1].split()[1:]).stdout.splitlines()[-1]
    assert [*run.split(), "--dry-run"] == commands[place].split()


def test_install_copies_control_file_and_scripts(sql: Path, tmp_path: Path) -> None:
    home = installation(18)
    done = make(sql, "install", f"DESTDIR={tmp_path}", f"PG_CONFIG={home / 'bin' / 'pg_config'}")
    assert done.returncode == 0, done.stderr
    installed = {path.name for path in tmp_path.rglob("*") if path.is_file()}
    assert installed == {"pgmnemo.control", *(path.name for path in sql.glob("pgmnemo--*.sql"))}
    assert all(str(home / "share") in str(path) for path in tmp_path.rglob("pgmnemo.control"))


@pytest.mark.parametrize("version", ["15.14 (Debian 15.14-0+deb12u1)", ""])
def test_an_older_server_is_refused_before_anything_is_copied(
    sql: Path, tmp_path: Path, version: str
) -> None:
    fake, real = tmp_path / "pg_config", installation(18) / "bin" / "pg_config"
    fake.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo "PostgreSQL {version}" || exec {real} "$@"\n')
    fake.chmod(0o755)
    done = make(sql, "install", f"DESTDIR={tmp_path / 'root'}", f"PG_CONFIG={fake}")
    assert done.returncode != 0
    assert (
        f"{fake} is of PostgreSQL {version.partition('.')[0]}, and pgmnemo needs 16 or later" in done.stderr
    )
    assert not (tmp_path / "root").exists()


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
    (copy / "src" / "late" / "b.sql").write_text("SELECT 4;\n")
    assert make(copy, "script").returncode == 0
    assert "SELECT 4;" in (copy / f"pgmnemo--{CURRENT}.sql").read_text()


def test_the_script_of_a_release_is_written_from_its_own_sources_alone(copy: Path) -> None:
    script = copy / f"pgmnemo--{CURRENT}.sql"
    assert make(copy, "script").returncode == 0
    made = script.read_text()
    (copy / "releases.toml").write_text(
        f'["{CURRENT}"]\ninstall_sha256 = "{sha256(made.encode()).hexdigest()}"\nupgrade_sha256 = {{}}\n'
    )
    script.unlink()
    assert make(copy, "script").returncode == 0
    assert script.read_text() == made
    (copy / "src" / "late" / "b.sql").write_text("SELECT 4;\n")
    done = make(copy, "script")
    assert done.returncode != 0
    assert f"{CURRENT} is released, and src/ or upgrade/ make other scripts than" in done.stderr
    assert script.read_text() == made
