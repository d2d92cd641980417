"""The programs initdb and postgres for one data folder, and the system user that runs them.

SETTINGS are for a temporary server. A permanent server is durable (fsync, synchronous_commit) and sized by
the machine's memory according to PostgreSQL's documentation: a quarter for shared_buffers, an eighth for
building an index.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil

from pgmnemo.errors import DatabaseError
from pgmnemo.posix import pwd
from pgmnemo.postgres.temporary_folders import DATA, read_note

SUPERUSER = "postgres"
SERVER_USER = "nobody"  # PostgreSQL refuses to run as root
START_LIMIT = 60.0  # seconds
MEND = "give the address of a server by --dsn"  # the remedy if a run fails

# An ephemeral database needs no durability. Dynamic shared memory is in files because containers have
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
    "port": "5432",  # the name of the socket
}


class ServerProcess:
    """The programs initdb and postgres for one data folder; `mend` is the remedy in their error messages."""

    def __init__(
        self, home: Path, folder: Path, sockets: Path, settings: Mapping[str, str],
        *, data: str = DATA, mend: str = MEND,
    ) -> None:  # fmt: skip
        self.bin = home / "bin"
        self.data = folder / data
        self.log = folder / "server.log"
        quoted = str(sockets).replace('"', '""')
        self.settings = {**settings, "unix_socket_directories": f'"{quoted}"'}
        self.mend = mend

    def initialise(self) -> None:
        """Run initdb and write the settings."""
        self.initdb("--auth=trust", "--locale=C", "--no-sync")
        settings = os.open(self.data / "postgresql.auto.conf", os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW)
        with os.fdopen(settings, "w", encoding="utf-8") as file:
            file.write(self.configuration())

    def initdb(self, *options: str) -> None:
        """Create the data folder; an existing folder must be empty."""
        always = ("-D", str(self.data), "-U", SUPERUSER, "--encoding=UTF8", "--no-instructions")
        done = subprocess.run(
            [str(self.bin / "initdb"), *always, *options],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            **identity(),
        )
        if done.returncode:
            raise self._unusable("initdb failed", done.stderr)

    def configuration(self) -> str:
        """Return the settings as lines of a file that the server reads."""
        quoted = {
            name: value.replace("\\", "\\\\").replace("'", "''") for name, value in self.settings.items()
        }
        return "".join(f"{name} = '{value}'\n" for name, value in quoted.items())

    @contextmanager
    def running(self) -> Iterator[None]:
        """Run the server for the block; it has its own session, so that Ctrl-C reaches only this process."""
        process = self._launch()
        try:
            self._await(process)
            yield
        finally:
            _stop(process)

    def start(self, *inherited: int) -> None:
        """Start the server and return once it answers; `temporary_folders.stop_server` stops it.

        All processes of the server inherit the file descriptors `inherited`, so a lock on such a file is free
        once all of them have ended.
        """
        process = self._launch(inherited)
        try:
            self._await(process)
        except BaseException:
            _stop(process)
            raise
        process.returncode = 0  # the server outlives this process: do not wait for it

    def _launch(self, inherited: Sequence[int] = ()) -> subprocess.Popen[bytes]:
        with self.log.open("ab") as log:
            self._said = log.tell()
            return subprocess.Popen(
                [str(self.bin / "postgres"), "-D", str(self.data)],
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
                pass_fds=inherited,
                **identity(),
            )

    def _await(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + START_LIMIT
        while time.monotonic() < deadline and process.poll() is None:
            if is_ready(self.data, process.pid):
                return
            time.sleep(0.01)
        raise self._unusable(
            "the server did not start", self.log.read_bytes()[self._said :].decode(errors="replace")
        )

    def _unusable(self, what: str, output: str) -> DatabaseError:
        """Return an error with the most informative line of a program's output."""
        if "No space left on device" in output:
            elsewhere = " or set TMPDIR" if self.mend == MEND else ""
            return DatabaseError(
                f"there is no space left in {self.data.parents[1]} for the embedded PostgreSQL; "
                f"free some{elsewhere}"
            )
        telling = [line for line in output.splitlines() if "error" in line.lower() or "FATAL" in line]
        reason = (telling or output.strip().splitlines() or ["it said nothing"])[-1].strip()
        return DatabaseError(f"the embedded PostgreSQL is unusable, {what}: {reason}; {self.mend}")


def is_ready(data: Path, pid: int) -> bool:
    """Return whether the server `pid` of a data folder accepts connections."""
    with suppress(OSError):
        lines = read_note(data / "postmaster.pid")
        return lines[0] == str(pid) and lines[-2].strip() == "ready"
    return False


def identity() -> dict[str, Any]:
    """Return the arguments that run a program of the server: not as root, and in a folder that all
    may read.
    """
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PG")}
    identity: dict[str, Any] = {"cwd": "/", "env": {**environment, "LC_ALL": "C", "TZ": "UTC"}}
    if os.geteuid() == 0:
        entry = pwd.getpwnam(SERVER_USER)
        identity |= {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
    return identity


def _stop(process: subprocess.Popen[bytes], patience: float = 5.0) -> None:
    """Stop the server at once, without a checkpoint, because its data folder is deleted next."""
    process.send_signal(signal.SIGQUIT)
    try:
        process.wait(patience)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def give_to_server(folder: Path) -> None:
    """Make the server's user the owner of `folder`."""
    try:
        entry = pwd.getpwnam(SERVER_USER)
        os.chown(folder, entry.pw_uid, entry.pw_gid, follow_symlinks=False)
    except (KeyError, OSError):
        raise DatabaseError(
            f"PostgreSQL does not run as root, and this root cannot hand a folder to the user {SERVER_USER}; "
            "run as an ordinary user, or give the address of a server by --dsn"
        ) from None


MEGABYTE = 1 << 20
SHARED_MEMORY = Path("/dev/shm")


def durable_settings() -> dict[str, str]:
    """Return the settings of a durable server, which replace those of SETTINGS."""
    memory = psutil.virtual_memory().total // MEGABYTE
    build = min(max(memory // 8, 64), 8192)
    return {
        "fsync": "on",
        "synchronous_commit": "on",
        "full_page_writes": "on",
        "shared_buffers": f"{min(max(memory // 4, 128), 16384)}MB",
        "effective_cache_size": f"{memory * 5 // 8}MB",
        "maintenance_work_mem": f"{build}MB",
        "max_parallel_maintenance_workers": "2",
        "work_mem": "64MB",
        "max_wal_size": "16GB",
        "checkpoint_timeout": "1h",
        "max_connections": "40",
        "random_page_cost": "1.1",
        "dynamic_shared_memory_type": "posix" if _holds(2 * build * MEGABYTE) else "mmap",
    }


def _holds(amount: int) -> bool:
    """Return whether shared memory has room for a parallel index build."""
    with suppress(OSError):
        return shutil.disk_usage(SHARED_MEMORY).free > amount
    return False
