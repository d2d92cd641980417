"""A cluster in a folder and its server: created completely or not at all, started, adopted, stopped.

A running server is detected by `running.lock`, which each of its processes holds, and by the command line of
the process in postmaster.pid. All methods but `address` need the folder's `opening.lock`.
"""

from __future__ import annotations

import os
import platform
import signal
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import psutil

from pgmnemo.errors import DatabaseError, os_errors
from pgmnemo.paths import CONTROL, SQL_FOLDER, release_numbers
from pgmnemo.posix import pwd
from pgmnemo.postgres.embedded.binaries import Binaries
from pgmnemo.postgres.embedded.memory_folder import MemoryFolder, server_owner, sync_folder, write_atomically
from pgmnemo.postgres.embedded.server_processes import (
    STOP_LIMIT,
    is_in_use,
    is_served_in_container,
    orphaned_processes,
    stop_displaced,
    stop_moved,
)
from pgmnemo.postgres.server_files import stage_extension, stage_server
from pgmnemo.postgres.server_process import START_LIMIT, SUPERUSER, ServerProcess, is_ready
from pgmnemo.postgres.servers import serves_in_place
from pgmnemo.postgres.temporary_folders import find_server, read_note

ROLE = "pgmnemo"  # owns the database and the extension, and is no superuser
DATABASE = "memory"
PORT = "5432"  # the name of the socket
GRACE = 1.0  # seconds in which the processes of a dead server end by themselves
TRIES, PAUSE = 5, 0.1  # seconds
LONGEST_LOG = 8 << 20  # bytes

# Durable, and small: an idle server runs beside an agent all day. The log contains no
# statements, because statements contain a user's lessons.
SETTINGS: Mapping[str, str] = {
    "listen_addresses": "",
    "port": PORT,
    "unix_socket_permissions": "0700",
    "max_connections": "100",
    "shared_buffers": "48MB",
    "maintenance_work_mem": "256MB",  # HNSW indexes of 200,000 vectors are built within it
    "huge_pages": "off",
    "dynamic_shared_memory_type": "mmap",  # containers have 64 MB of /dev/shm
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "min_wal_size": "32MB",
    "max_wal_size": "256MB",
    "max_worker_processes": "4",
    "max_parallel_workers": "2",
    "max_parallel_workers_per_gather": "0",
    "max_logical_replication_workers": "0",
    "autovacuum_max_workers": "1",
    "random_page_cost": "1.1",
    "jit": "off",
    "default_text_search_config": "pg_catalog.english",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "lc_messages": "C",
    "log_checkpoints": "off",
    "log_error_verbosity": "terse",
    "log_min_error_statement": "panic",
}
# These override environment variables of libpq that are set for another server (PGCHANNELBINDING, PGOPTIONS).
PLAIN = {
    "client_encoding": "UTF8", "options": "", "target_session_attrs": "any", "require_auth": "",
    "channel_binding": "prefer", "gssencmode": "disable",
}  # fmt: skip
# syncfs writes out a whole file system in one call and reports errors, instead of one call for each of
# a thousand files: a start after kill -9 takes 0.3 s instead of 4 s on a busy disk.
SYNCFS = sys.platform == "linux" and release_numbers(platform.release()) >= (5, 8)
INCLUDING = """# Lines of your own go below and win over mnemo.conf, which is written again at each start.
include = 'mnemo.conf'
"""
# The ctype decides lower() and which characters are letters; order is by code point.
LOCALES = (("--locale=C", "--lc-ctype=C.UTF-8"), ("--locale=C",))


class Cluster:
    """The data folder `data` of a memory's folder, and the server of this data."""

    def __init__(self, folder: MemoryFolder, data: Path, binaries: Binaries) -> None:
        self.folder, self.data, self.binaries = folder, data, binaries

    def address(self, user: str = ROLE, database: str = DATABASE) -> dict[str, str]:
        sockets = str(self.folder.sockets)
        return {**PLAIN, "host": sockets, "hostaddr": "", "port": PORT, "user": user, "dbname": database}

    def create(self) -> None:
        """Create the cluster with initdb in a temporary folder, and move it to its place."""
        stop_displaced(self.data)
        with self.folder.partial_folder("cluster") as partial:
            self.create_in(partial)
            self.install_data(partial / "data")

    def create_in(self, partial: Path, *options: str) -> None:
        """Create the cluster in `partial`/data."""
        self.binaries.check()
        server = self._process({}, partial, "data")
        options = (*options, *self.sync_options())
        try:
            server.initdb("--auth=peer", *LOCALES[0], *options)
        except DatabaseError as error:
            if "locale" not in str(error):
                raise
            server.initdb("--auth=peer", *LOCALES[1], *options)
        write_atomically(partial / "data" / "postgresql.conf", INCLUDING)
        self.configure(partial / "data", {})

    def sync_options(self) -> list[str]:
        """Return the options for initdb and pg_upgrade that sync their files to disk."""
        return ["--sync-method=syncfs"] if SYNCFS and self.binaries.major >= 17 else []

    def install_data(self, made: Path) -> None:
        """Move a complete cluster to its place; rename an unused cluster there."""
        if self.data.exists():  # left by an interrupted upgrade, and never used
            self.data.rename(self.data.with_name(f"{self.data.name}.unused-{time.time_ns()}"))
        made.rename(self.data)
        sync_folder(self.data.parent)

    def configure(self, data: Path, extra: Mapping[str, str]) -> None:
        """Write the settings and the access rules.

        Only this machine's user can connect, as the two roles, over the socket.
        """
        access = {f"{name}_file": f"{data}/mnemo_{name}.conf" for name in ("hba", "ident")}
        users = {pwd.getpwuid(number).pw_name for number in (os.geteuid(), server_owner())}
        lines = [f'mnemo "{user}" {role}\n' for user in sorted(users) for role in (SUPERUSER, ROLE)]
        texts = {
            "mnemo_ident.conf": "".join(lines),
            "mnemo_hba.conf": "local all all peer map=mnemo\n",
            "mnemo.conf": self._process({**access, **extra}).configuration(),
        }
        for name, text in texts.items():
            write_atomically(data / name, text)

    def is_up(self) -> bool:
        """Return whether the server is running and accepts connections, or is about to."""
        process = self.find()
        return process is not None and is_ready(self.data, process.pid)

    def find(self) -> psutil.Process | None:
        """Return the server, if it is alive and was started by this package."""
        process = find_server(self.data)
        with suppress(psutil.Error):
            if process is not None and process.cmdline()[1:] == ["-D", str(self.data)]:
                return process
        return None

    def start(self) -> bool:
        """Start the server or adopt a running server; return whether it was started."""
        began, tries = time.monotonic(), 0
        while not self.is_up():
            living = find_server(self.data)  # also a server started by another program, such as pg_upgrade
            if living is None and (lock := self.folder.server_lock()) is not None:
                tries += 1
                try:
                    self._launch(lock)
                    return True
                except DatabaseError:  # a faulty server, or one killed as it started
                    if tries == TRIES:
                        raise
                    time.sleep(PAUSE * tries)
                    continue
                finally:
                    os.close(lock)
            waited = time.monotonic() - began
            if waited > START_LIMIT:
                raise DatabaseError(
                    f"the server of {self.folder.path} neither starts nor ends; {self.folder.log} tells more"
                )
            if living is None:
                self._stop_orphans(waited)
            time.sleep(0.01)
        return False

    def stop(self) -> None:
        """Stop the server after a checkpoint; a very slow stop continues in the background."""
        if (process := self.find()) is None:
            return
        with suppress(psutil.Error):
            process.send_signal(signal.SIGINT)
            process.wait(STOP_LIMIT)
        with suppress(OSError):
            self.folder.sockets.rmdir()  # it may be in /tmp

    def home(self) -> Path:
        """Return the installation that the server runs from.

        It is a copy if the server cannot read or extend the original.
        """
        original, bundle, major = self.binaries.home, self.binaries.bundle, self.binaries.major
        if serves_in_place(original, major, bundle):
            return original
        status = Path(self.binaries.program("postgres")).stat()
        place = self.folder.path / "server" / f"{major}-{status.st_size}-{status.st_mtime_ns}"
        if not place.exists():
            with self.folder.partial_folder("server", given=False) as partial:
                programs = [path.name for path in (original / "bin").iterdir()]
                stage_server(original, partial / "copy", bundle, programs)
                place.parent.mkdir(exist_ok=True)
                (partial / "copy").rename(place)
        return place / bundle.module / original.name

    def install_extension_files(self) -> dict[str, str]:
        """Copy changed files of the extension to where the server finds them; return the settings
        they need.
        """
        with os_errors(f"the server cannot be laid out in {self.folder.path}: {{why}}", DatabaseError):
            if (home := self.home()) != self.binaries.home:
                _copy_changed_files(home / self.binaries.bundle.extensions)
                return {}
            _copy_changed_files(self.folder.path / "extension")
            return {"extension_control_path": f"$system:{self.folder.path}"}

    def _process(
        self, extra: Mapping[str, str], place: Path | None = None, data: str | None = None
    ) -> ServerProcess:
        newer = {"io_method": "sync"} if self.binaries.major >= 18 else {}
        if SYNCFS:
            newer["recovery_init_sync_method"] = "syncfs"
        settings = {**SETTINGS, **newer, **extra, "cluster_name": self.folder.name}
        return ServerProcess(
            self.home(), place or self.folder.path, self.folder.sockets, settings,
            data=data or self.data.name, mend=f"{self.folder.log} tells more",
        )  # fmt: skip

    def _launch(self, lock: int) -> None:
        """Start the server; no process of an earlier server is alive."""
        self.binaries.check()
        stop_displaced(self.data)
        self._delete_stale_pid_files()
        extra = self.install_extension_files()
        self.folder.server_folder(self.folder.sockets)
        self.configure(self.data, extra)
        server = self._process(extra)
        if server.log.exists() and server.log.stat().st_size > LONGEST_LOG:
            server.log.replace(server.log.with_suffix(".log.old"))
        server.log.touch(mode=0o600)
        server.start(lock)

    def _stop_orphans(self, waited: float) -> None:
        """Stop the orphaned processes of a dead server, or a server that serves the folder from another path.

        Raise DatabaseError if a server runs in a container with a separate process namespace.
        """
        if stop_moved(self.data.stat(), self.data):
            return
        unseen = waited > GRACE and not is_in_use(self.folder)
        if unseen or is_served_in_container(self.folder):
            raise DatabaseError(
                f"the server of {self.folder.path} runs in another container, whose processes cannot be told "
                "from here; use the memory in there, or stop that container"
            )
        if waited > GRACE:
            for process in orphaned_processes(self.folder, self.data):
                with suppress(psutil.Error):
                    process.send_signal(signal.SIGKILL if waited > 5 * GRACE else signal.SIGQUIT)

    def _delete_stale_pid_files(self) -> None:
        """Delete a dead server's pid files if another process has its id now: they would block a start."""
        for note in (self.data / "postmaster.pid", self.folder.sockets / f".s.PGSQL.{PORT}.lock"):
            with suppress(OSError, ValueError, IndexError):
                if psutil.pid_exists(int(read_note(note)[0])):
                    note.unlink()


def _copy_changed_files(folder: Path) -> None:
    """Copy the extension's files into `folder` if any of them is missing or different."""
    for path in (SQL_FOLDER / CONTROL, *SQL_FOLDER.glob("pgmnemo--*.sql")):
        staged = folder / path.name
        if not staged.is_file() or staged.read_bytes() != path.read_bytes():
            stage_extension(SQL_FOLDER, folder)
            return
