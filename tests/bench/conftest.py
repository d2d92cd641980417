"""The extension's files with a list of releases that matches them, a server, the command line in a test.

`sql/releases.toml` is frozen with a release; between two releases the files change. So the tests list, for
the current version, what its files are now.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from pgmnemo.paths import SQL_FOLDER
from pgmnemo.postgres import open_database
from pgmnemo.postgres.servers import temporary_server
from runner.cli import main
from tests.helping import CURRENT, free_port, short_base

ROOT = Path(__file__).parents[2]
DRIVER = Path(__file__).with_name("driver.py")


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def sentence(self) -> str:
        """The last line of standard error."""
        return self.err.strip().splitlines()[-1] if self.err.strip() else ""


@dataclass(frozen=True)
class Server:
    """A living PostgreSQL on a private socket."""

    conninfo: dict[str, str]

    def dsn(self, **changes: str) -> str:
        return make_conninfo(**{**self.conninfo, **changes})

    def execute(self, statement: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        with psycopg.connect(self.dsn(dbname=database), autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    with temporary_server(SQL_FOLDER, CURRENT) as conninfo:
        yield Server({name: value for name, value in conninfo.items() if value})


@pytest.fixture(scope="session")
def sql(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of sql/ whose releases.toml lists what is there; makes the bench database of `server`.

    Other versions than the current one are listed as they are.
    """
    folder = tmp_path_factory.mktemp("release") / "sql"
    shutil.copytree(SQL_FOLDER, folder)
    path = folder / "releases.toml"
    others = re.sub(rf'\["{re.escape(CURRENT)}"\]\n(.+\n)*', "", path.read_text(encoding="utf-8"))
    path.unlink()
    with open_database(CURRENT, dsn=server.dsn(), environ={}, sql=folder) as database:
        found = database.facts.fingerprint
    digest = sha256((folder / f"pgmnemo--{CURRENT}.sql").read_bytes()).hexdigest()
    path.write_text(f'{others}["{CURRENT}"]\nfingerprint = "{found}"\ninstall_sha256 = "{digest}"\n')
    return folder


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No compose service, no given database, and the user's own folders inside the test's."""
    monkeypatch.setenv("PYTHONHASHSEED", "42")
    monkeypatch.setenv("PGMNEMO_PORT", str(free_port()))
    for variable in ("XDG_CACHE_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(variable, str(tmp_path / variable.lower()))
    for variable in ("PGMNEMO_DSN", "PGMNEMO_CACHE_DIR", "LOCOMO_DATA_DIR", "LONGMEMEVAL_DATA_DIR"):
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], sql: Path) -> Callable[..., Ended]:
    """Run a command in this process; a traceback or a second line of complaint is a fault."""

    def run(*arguments: object, sql: Path = sql) -> Ended:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments], sql=sql)
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        return Ended(code, out, err)

    return run


@pytest.fixture
def bench(cli: Callable[..., Ended], server: Server, tmp_path: Path) -> Callable[..., Ended]:
    """Run the sample with the embedder `hash` on the living server; results go to `tmp_path / "results"`."""

    def run(*arguments: object, **keywords: Any) -> Ended:
        usual = {"--dsn": server.dsn(), "--embedder": "hash", "--output": tmp_path / "results"}
        added = {option: value for option, value in usual.items() if option not in arguments}
        words = [word for pair in added.items() for word in pair]
        return cli("sample", "--quiet", *words, *arguments, **keywords)

    return run


@pytest.fixture
def altered(tmp_path: Path) -> Callable[[Callable[[list[dict[str, Any]]], None]], Path]:
    """A copy of the sample, changed by a function."""

    def copy(change: Callable[[list[dict[str, Any]]], None]) -> Path:
        path = ROOT / "benchmarks" / "sample" / "sample.json"
        projects = json.loads(path.read_text(encoding="utf-8"))
        change(projects)
        place = tmp_path / "altered.json"
        place.write_text(json.dumps(projects), encoding="utf-8")
        return place

    return copy


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder for temporary files that a server of another user can enter, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp(prefix="pgmnemo-test-", dir=short_base()))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def start(sql: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start the command line as a process of its own, which stops and waits where `pause` says."""
    started: list[subprocess.Popen[str]] = []

    def run(
        *arguments: object, pause: str = "", wait: int = 300, temporary: Path | None = None
    ) -> subprocess.Popen[str]:
        environ = {**os.environ, "PAUSE": pause, "WAIT": str(wait), "PYTHONPATH": str(ROOT)}
        environ |= {"TMPDIR": str(temporary)} if temporary else {}
        words = [sys.executable, str(DRIVER), str(sql), *map(str, arguments)]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        process = subprocess.Popen(words, env=environ, text=True, **pipes)
        started.append(process)
        if pause:
            assert process.stdout is not None
            assert process.stdout.readline() == "paused\n", process.stderr and process.stderr.read()
        return process

    yield run
    for process in started:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.communicate()
