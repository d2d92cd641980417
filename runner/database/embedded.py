"""A PostgreSQL of our own for the length of one block: on a private socket, in a folder that is deleted.

Nothing survives it: not an exception, not Ctrl-C, and not SIGKILL of the runner (a watchdog shell notices
that the runner's end of its pipe has closed; after a crash of the whole machine the next start sweeps).
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from runner.database.folders import DATA, candidates, leased, open_to_others, sweep
from runner.database.server_files import (
    EXTENSION_FOLDER,
    check_release,
    installation,
    readable_by_server,
    stage_extension,
    stage_server,
)
from runner.errors import DatabaseError

SUPERUSER = "postgres"
SERVER_USER = "nobody"  # PostgreSQL refuses to run as root
SOCKET_PATH_LIMIT = 103  # bytes: 107 on Linux, 103 on macOS
START_LIMIT = 60.0  # seconds

# An ephemeral database needs no durability. Dynamic shared memory lies in files because containers have
# 64 MB of /dev/shm; autovacuum is off so that no statistics change in the middle of a measurement.
SETTINGS: Mapping[str, str] = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "max_wal_size": "4GB",
    "checkpoint_timeout": "1h",
    "shared_buffers": "256MB",
    "work_mem": "64MB",
    "maintenance_work_mem": "512MB",
    "dynamic_shared_memory_type": "mmap",
    "max_connections": "30",
    "autovacuum": "off",
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "lc_messages": "C",
    "listen_addresses": "",
}

WATCHDOG = """
trap '' INT TERM HUP
if read -r _; then exit 0; fi
pid=$(head -n 1 "$1/data/postmaster.pid" 2>/dev/null) && kill -QUIT "$pid" 2>/dev/null
for _ in 1 2 3 4 5 6 7 8 9 10; do kill -0 "$pid" 2>/dev/null || break; sleep 0.2; done
rm -rf "$@"
"""


@contextmanager
def embedded_server(
    sql: Path, version: str, *, postgres: int = 18, settings: Mapping[str, str] | None = None
) -> Iterator[dict[str, str]]:
    """Start PostgreSQL `postgres` with the extension's files from `sql`; yields the superuser's conninfo.

    Raises DatabaseError when it does not start, UsageError for a version that neither side holds.
    """
    check_release(sql, version)
    original = installation(postgres)
    with ExitStack() as stack:
        folder, sockets = _folders(stack)
        stack.enter_context(_watchdog(folder, sockets))
        try:
            home, extra = _stage(original, sql, folder, postgres)
            server = _Server(home, folder, sockets, {**SETTINGS, **extra, **(settings or {})})
            server.initialise()
        except OSError as error:
            raise DatabaseError(
                f"the embedded PostgreSQL cannot be laid out in {folder.parent}: "
                f"{error.strerror}; free some space or set TMPDIR"
            ) from None
        stack.enter_context(server.running())
        yield {"host": str(sockets), "hostaddr": "", "port": "5432", "user": SUPERUSER, "dbname": "postgres"}


def _folders(stack: ExitStack) -> tuple[Path, Path]:
    """The run's folder and the folder of its socket: the data folder, unless its path is too long."""
    stranger = os.geteuid() == 0
    bases = [base for base in candidates() if not stranger or open_to_others(base)]
    if not bases:
        raise DatabaseError(
            "there is no folder for temporary files that the database server can enter; "
            "set TMPDIR to one, or give the address of a server by --dsn"
        )
    for base in bases:
        sweep(base)
    folder = stack.enter_context(leased(bases[0], 0o711 if stranger else 0o700))
    data = folder / DATA
    data.mkdir(mode=0o700)
    if stranger:
        _give_to_server(data)
    if len(os.fsencode(data / ".s.PGSQL.5432")) <= SOCKET_PATH_LIMIT:
        return folder, data
    short = min(bases, key=lambda base: len(os.fsencode(base)))
    sockets = stack.enter_context(leased(short))
    if len(os.fsencode(sockets / ".s.PGSQL.5432")) > SOCKET_PATH_LIMIT:
        raise DatabaseError(f"the path of a socket in {short} is too long; set TMPDIR to a shorter one")
    if stranger:
        _give_to_server(sockets)
    return folder, sockets


def _give_to_server(folder: Path) -> None:
    """Make the server's user the owner of `folder`."""
    entry = pwd.getpwnam(SERVER_USER)
    os.chown(folder, entry.pw_uid, entry.pw_gid)


def _stage(original: Path, sql: Path, folder: Path, postgres: int) -> tuple[Path, dict[str, str]]:
    """Put the extension where the server finds it: the server's installation, and settings it needs.

    PostgreSQL 18 reads any folder (`extension_control_path`); 16 reads its own alone, so it runs from a
    copy. A copy also serves where the server's user cannot read the installation.
    """
    if postgres >= 18 and (os.geteuid() != 0 or readable_by_server(original)):
        stage_extension(sql, folder / "extension")
        return original, {"extension_control_path": f"$system:{folder}"}
    home = stage_server(original, folder / "server")
    for path in (folder / "server").rglob("*"):
        path.chmod(0o755 if path.is_dir() or path.parent.name == "bin" or ".so" in path.name else 0o644)
    (folder / "server").chmod(0o755)
    stage_extension(sql, home / EXTENSION_FOLDER)
    return home, {}


class _Server:
    """The two programs that make and run one data folder."""

    def __init__(self, home: Path, folder: Path, sockets: Path, settings: Mapping[str, str]) -> None:
        self.bin = home / "bin"
        self.data = folder / DATA
        self.log = folder / "server.log"
        self.settings = {**settings, "unix_socket_directories": str(sockets)}

    def initialise(self) -> None:
        """Run initdb and write the settings."""
        arguments = (
            "-D",
            str(self.data),
            "-U",
            SUPERUSER,
            "--auth=trust",
            "--encoding=UTF8",
            "--locale=C",
            "--no-sync",
            "--no-instructions",
        )
        done = subprocess.run(
            [str(self.bin / "initdb"), *arguments],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            **_identity(),
        )
        if done.returncode:
            raise DatabaseError(_sentence("initdb failed", done.stderr, self.data.parents[1]))
        quoted = {name: value.replace("'", "''") for name, value in self.settings.items()}
        with (self.data / "postgresql.auto.conf").open("a", encoding="utf-8") as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in quoted.items())

    @contextmanager
    def running(self) -> Iterator[None]:
        """Inside the block the server answers; in a session of its own, so that Ctrl-C reaches us alone."""
        with self.log.open("wb") as log:
            process = subprocess.Popen(
                [str(self.bin / "postgres"), "-D", str(self.data)],
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
                **_identity(),
            )
        try:
            self._await(process)
            yield
        finally:
            _stop(process)

    def _await(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + START_LIMIT
        while time.monotonic() < deadline and process.poll() is None:
            with suppress(OSError):
                if "ready" in (self.data / "postmaster.pid").read_text():
                    return
            time.sleep(0.01)
        raise DatabaseError(
            _sentence("the server did not start", self.log.read_text(errors="replace"), self.data.parents[1])
        )


def _identity() -> dict[str, Any]:
    """How a program of the server is run: never as root, from a folder that everyone may read."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PG")}
    identity: dict[str, Any] = {"cwd": "/", "env": {**environment, "LC_ALL": "C", "TZ": "UTC"}}
    if os.geteuid() == 0:
        entry = pwd.getpwnam(SERVER_USER)
        identity |= {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
    return identity


def _sentence(what: str, output: str, base: Path) -> str:
    """One sentence from a program's output."""
    if "No space left on device" in output:
        return f"there is no space left in {base} for the embedded PostgreSQL; free some or set TMPDIR"
    telling = [line for line in output.splitlines() if "error" in line.lower() or "FATAL" in line]
    reason = (telling or output.strip().splitlines() or ["it said nothing"])[-1].strip()
    return f"the embedded PostgreSQL is unusable, {what}: {reason}; give the address of a server by --dsn"


def _stop(process: subprocess.Popen[bytes], patience: float = 5.0) -> None:
    """Stop at once, without a checkpoint: the data folder is about to go."""
    process.send_signal(signal.SIGQUIT)
    try:
        process.wait(patience)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@contextmanager
def _watchdog(folder: Path, sockets: Path) -> Iterator[None]:
    """A shell that outlives a killed runner just long enough to stop the server and delete its folders."""
    shell = shutil.which("sh") or "/bin/sh"
    watchdog = subprocess.Popen(
        [shell, "-c", WATCHDOG, "pgmnemo-watchdog", str(folder), str(sockets)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        cwd="/",
    )
    assert watchdog.stdin is not None
    try:
        yield
    finally:
        with suppress(OSError):
            watchdog.stdin.write(b"done\n")
            watchdog.stdin.close()
        watchdog.wait()
