"""A real PgBouncer, from Debian's package pgbouncer, in front of a real PostgreSQL."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pgmnemo.postgres.server_process import SERVER_USER, give_to_server

REQUIRED = "PGMNEMO_REQUIRE_PGBOUNCER"  # set in CI: there a missing PgBouncer is a failure
INI = """[databases]
{databases}
[pgbouncer]
unix_socket_dir = {folder}
listen_port = 6432
auth_type = trust
auth_file = {folder}/logins
query_wait_timeout = 30
{settings}
"""


@pytest.fixture(scope="session")
def bouncer() -> str:
    """Return the path of PgBouncer; skip without it, or fail if CI demands it."""
    found = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if found is None:
        sentence = "no PgBouncer: install Debian's package pgbouncer"
        if os.environ.get(REQUIRED) == "1":
            pytest.fail(sentence)
        pytest.skip(sentence)
    return found


@dataclass
class Pool:
    """A PgBouncer with named databases."""

    folder: Path
    open: ExitStack

    @classmethod
    def start(
        cls,
        program: str,
        stack: ExitStack,
        server: Mapping[str, str],
        databases: Mapping[str, Mapping[str, str]],
        logins: Iterable[str],
        settings: Mapping[str, object],
    ) -> Pool:
        """Start PgBouncer in front of `server`; each database name has its own further parameters, such as
        another user.
        """
        folder = Path(tempfile.mkdtemp(prefix="pgmnemo-pool-"))
        stack.callback(shutil.rmtree, folder)
        place = {name: server[name] for name in ("host", "port", "dbname")}
        lines = [f"{name} = {_told({**place, **more})}" for name, more in databases.items()]
        told = "\n".join(f"{name} = {value}" for name, value in settings.items())
        (folder / "ini").write_text(INI.format(databases="\n".join(lines), folder=folder, settings=told))
        (folder / "logins").write_text("".join(f'"{login}" ""\n' for login in logins))
        if os.geteuid() == 0:  # PgBouncer refuses to run as root
            folder.chmod(0o755)
            give_to_server(folder)
        _run(program, folder, stack)
        return cls(folder, stack)

    def conninfo(self, login: str, database: str = "own") -> dict[str, Any]:
        return {"host": str(self.folder), "port": "6432", "dbname": database, "user": login}

    def connect(
        self, login: str, database: str = "own", prepare: int | None = None
    ) -> psycopg.Connection[Any]:
        place = self.conninfo(login, database)
        opened = psycopg.connect(**place, autocommit=True, prepare_threshold=prepare)
        return self.open.enter_context(opened)


def _told(place: Mapping[str, str]) -> str:
    return " ".join(f"{name}='{value}'" for name, value in place.items())


def _run(program: str, folder: Path, stack: ExitStack) -> None:
    more: dict[str, Any] = {"user": SERVER_USER, "extra_groups": []} if os.geteuid() == 0 else {}
    with (folder / "log").open("wb") as log:
        more |= {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log}
        command = [program, str(folder / "ini")]
        process = subprocess.Popen(command, cwd="/", start_new_session=True, **more)
    stack.callback(_stop, process)
    deadline = time.monotonic() + 30
    while not _answers(folder / ".s.PGSQL.6432"):
        assert process.poll() is None, (folder / "log").read_text()
        assert time.monotonic() < deadline, (folder / "log").read_text()
        time.sleep(0.01)


def _answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(str(path)) == 0


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        process.wait(5)
    process.kill()
    process.wait()
