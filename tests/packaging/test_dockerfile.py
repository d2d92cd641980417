"""The image: its steps carried out without an engine, and the whole of it wherever there is one."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from pgmnemo.postgres import discovery
from pgmnemo.postgres.server_checks import MIN_PGVECTOR
from pgmnemo.postgres.server_files import installation
from pgmnemo.postgres.server_process import SETTINGS, ServerProcess, give_to_server
from tests.helping import CURRENT

SHARE = "/usr/share/postgresql/18"
OWNER = """SELECT r.rolname, r.rolsuper, r.rolbypassrls, r.rolcanlogin
             FROM pg_extension e JOIN pg_roles r ON r.oid = e.extowner WHERE e.extname = 'pgmnemo'"""


@pytest.fixture(scope="module")
def steps(sql: Path) -> list[tuple[str, str]]:
    """The Dockerfile's instructions: keyword and arguments."""
    text = re.sub(r"\\\n", " ", (sql / "Dockerfile").read_text())
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [(line.split(maxsplit=1)[0], line.split(maxsplit=1)[1]) for line in lines]


def build(steps: list[tuple[str, str]], context: Path, root: Path) -> None:
    """Carry out the last stage's COPY and RUN with `root` for /, which has what the base image has.

    `context` is the build context and, with the scripts in it, what the first stage makes of it.
    """
    [last] = [at for at, (keyword, _) in enumerate(steps) if keyword == "FROM"][1:]
    for folder in (f"{SHARE}/extension", "/docker-entrypoint-initdb.d"):
        (root / folder.lstrip("/")).mkdir(parents=True)
    for keyword, arguments in steps[last:]:
        if keyword == "COPY":
            *patterns, target = shlex.split(arguments.removeprefix("--from=scripts "))
            sources = [path for pattern in patterns for path in context.glob(pattern.removeprefix("/sql/"))]
            assert sources, patterns
            for path in sources:
                shutil.copy(path, root / target.lstrip("/"))
        elif keyword == "RUN":
            command = re.sub(r"(?<=\s)/(?=usr|docker)", f"{root}/", arguments)
            subprocess.run(["sh", "-euc", command], check=True)


@contextmanager
def extended_server(prefix: Path, share: Path) -> Iterator[str]:
    """A server below `prefix` that finds extensions in `share`, too."""
    data = prefix / "data"
    data.mkdir(mode=0o700)
    if os.geteuid() == 0:
        give_to_server(data)
    settings = {**SETTINGS, "extension_control_path": f"$system:{share}"}
    process = ServerProcess(installation(18), prefix, data, settings)
    process.initialise()
    with process.running():
        yield f"host={data} user=postgres dbname=postgres"


@pytest.fixture
def server(steps: list[tuple[str, str]], sql: Path, prefix: Path) -> Iterator[str]:
    """A server that finds extensions where the image's steps have put them."""
    image = prefix / "image"
    build(steps, sql, image)
    for folder in image.rglob("*"):
        if folder.is_dir():
            folder.chmod(0o755)
    with extended_server(prefix, image / SHARE.lstrip("/")) as dsn:
        yield dsn


def test_the_steps_install_the_extension_for_an_ordinary_owner(server: str, prefix: Path) -> None:
    scripts = sorted((prefix / "image" / "docker-entrypoint-initdb.d").iterdir())
    with psycopg.connect(server, autocommit=True) as connection:
        for script in scripts:
            connection.execute(script.read_bytes())
        assert connection.execute("SELECT pgmnemo.version()").fetchone() == (CURRENT,)
        owner = connection.execute(OWNER).fetchone()
    assert owner == ("pgmnemo_owner", False, False, False)


def test_the_steps_make_a_private_checkout_readable(
    steps: list[tuple[str, str]], sql: Path, prefix: Path, tmp_path: Path
) -> None:
    for path in (sql / "pgmnemo.control", sql / "docker-init.sql", *sql.glob("pgmnemo--*.sql")):
        shutil.copy(path, tmp_path)
        (tmp_path / path.name).chmod(0o600)
    build(steps, tmp_path, prefix / "image")
    image = prefix / "image"
    first = list((image / "docker-entrypoint-initdb.d").iterdir())
    installed = [*first, *(image / SHARE.lstrip("/") / "extension").iterdir()]
    assert len(first) == 1
    assert len(installed) > 2
    assert all(path.stat().st_mode & 0o777 == 0o644 for path in installed)


def test_the_base_image_is_pinned_and_new_enough(steps: list[tuple[str, str]]) -> None:
    first, second = [arguments for keyword, arguments in steps if keyword == "FROM"]
    assert re.fullmatch(r"python:3\.\d+-slim-\w+ AS scripts", first)
    match = re.fullmatch(r"pgvector/pgvector:(\d+)\.(\d+)\.(\d+)-pg18-\w+", second)
    assert match
    assert tuple(map(int, match.groups())) >= MIN_PGVECTOR
    targets = [arguments.split()[-1] for keyword, arguments in steps if keyword == "COPY"][1:]
    assert {target.rsplit("/", 1)[0] for target in targets} == {
        f"{SHARE}/extension",
        "/docker-entrypoint-initdb.d",
    }


def test_the_image_bears_the_marker_that_the_runner_looks_for(steps: list[tuple[str, str]]) -> None:
    assert f"cluster_name={discovery.COMPOSE_MARKER}" in dict(steps)["CMD"]


def test_the_context_is_enough_to_make_the_scripts(
    steps: list[tuple[str, str]], sql: Path, tmp_path: Path
) -> None:
    allowed = [line[1:] for line in (sql / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    for name in allowed:
        (shutil.copytree if (sql / name).is_dir() else shutil.copy)(sql / name, tmp_path / name)
    assert ("RUN", "python3 /sql/assemble.py write") in steps
    subprocess.run([sys.executable, tmp_path / "assemble.py", "write"], check=True)
    made = {path.name: path.read_bytes() for path in tmp_path.glob("pgmnemo--*.sql")}
    assert made == {path.name: path.read_bytes() for path in sql.glob("pgmnemo--*.sql")}
    copied = [word for keyword, words in steps if keyword == "COPY" for word in words.split()[:-1]]
    assert {"docker-init.sql"} <= {*copied} & {*allowed}
