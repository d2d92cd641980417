"""A durable PostgreSQL 18 that can be killed, filled up and backed up, and the databases of a server."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil
import psycopg
from psycopg.conninfo import make_conninfo

from pgmnemo.calls import execute, grant_tenant
from pgmnemo.client.naming import tenant_id
from pgmnemo.paths import SQL_FOLDER
from pgmnemo.postgres.server_files import EMBEDDED, installation
from pgmnemo.postgres.server_process import SETTINGS, SUPERUSER, ServerProcess, give_to_server
from pgmnemo.postgres.servers import install_for_server, temporary_server
from pgmnemo.postgres.temporary_folders import find_server

KEEPER, AGENT = "keeper", "agent"  # the owner of the extension, and the role that works in it
MEMORY, KEPT = "memory", "kept"  # the database that suffers the faults, and an empty database to copy
POSTGRES = 18
PATIENCE = 60.0  # seconds
DURABLE = {
    **SETTINGS,
    "fsync": "on", "synchronous_commit": "on", "full_page_writes": "on", "autovacuum": "on",
    "wal_level": "replica", "max_wal_senders": "4", "max_connections": "80", "shared_buffers": "128MB",
    "recovery_init_sync_method": "syncfs",
    "work_mem": "8MB", "maintenance_work_mem": "64MB",
    # frequent checkpoints, so that some faults hit one and the WAL fits on a small disk
    "checkpoint_timeout": "30s", "min_wal_size": "16MB", "max_wal_size": "48MB",
}  # fmt: skip
# A segment is sealed at sixty-four lessons in place of sixteen thousand.
SMALL_PIECES = (
    "CREATE OR REPLACE FUNCTION pgmnemo._segment_size() RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE "
    "AS 'SELECT 64'"
)
Connection = psycopg.Connection[Any]


def bin_folder() -> Path:
    """Return the folder with PostgreSQL's programs."""
    return installation(POSTGRES, EMBEDDED) / "bin"


@dataclass(frozen=True)
class Databases:
    """The databases of one server; `conninfo` connects as its superuser."""

    conninfo: Mapping[str, str]

    def dsn(self, user: str = SUPERUSER, name: str = MEMORY, **more: str) -> str:
        return make_conninfo("", **{**self.conninfo, "dbname": name, "user": user, **more})

    def connect(self, user: str = SUPERUSER, name: str = MEMORY, **more: str) -> Connection:
        return psycopg.connect(self.dsn(user, name, **more), autocommit=True)

    def roles(self) -> None:
        with self.connect(name="postgres") as root:
            for role in (KEEPER, AGENT):
                root.execute(f"CREATE ROLE {role} LOGIN")

    def install(self, name: str, version: str | None = None, space: str = "") -> None:
        """Create a database with the extension, owned by the keeper."""
        with self.connect(name="postgres") as root:
            root.execute(f"CREATE DATABASE {name} OWNER {KEEPER}" + (f" TABLESPACE {space}" if space else ""))
        with self.connect(name=name) as root:
            root.execute("CREATE EXTENSION vector")
        with self.connect(KEEPER, name) as keeper:
            keeper.execute("CREATE EXTENSION pgmnemo" + (f" VERSION '{version}'" if version else ""))

    def copy(self, template: str, name: str) -> None:
        """Replace a database with a copy of another database that is not in use."""
        with self.connect(name="postgres") as root:
            root.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
            root.execute(f"CREATE DATABASE {name} OWNER {KEEPER} TEMPLATE {template} STRATEGY file_copy")

    def grant(self, tenant: str, name: str = MEMORY) -> None:
        with self.connect(KEEPER, name) as keeper:
            execute(keeper, grant_tenant(tenant_id(tenant), AGENT))


@dataclass
class Bed:
    """A server in `folder`, with an environment of its own."""

    folder: Path
    settings: Mapping[str, str] = field(default_factory=lambda: DURABLE)
    environ: Mapping[str, str] = field(default_factory=dict)
    wal: Path | None = None  # another folder for the WAL
    pid: int = 0

    def make(self) -> None:
        home, extra = install_for_server(
            installation(POSTGRES, EMBEDDED), SQL_FOLDER, self.folder, POSTGRES, EMBEDDED
        )
        sockets = self.folder / "s"
        for place in (sockets, self.folder / "data"):
            place.mkdir(mode=0o700)
            own(place)
        self.server = ServerProcess(home, self.folder, sockets, {**self.settings, **extra})
        log = [f"--waldir={self.wal}"] if self.wal else []
        self.server.initdb("--auth=trust", "--locale=C", "--no-sync", "--wal-segsize=1", *log)
        with (self.server.data / "postgresql.auto.conf").open("a", encoding="utf-8") as file:
            file.write(self.server.configuration())
        self.start()
        self.databases.roles()

    @property
    def databases(self) -> Databases:
        return Databases({"host": str(self.folder / "s"), "port": self.server.settings["port"]})

    def start(self) -> None:
        kept = dict(os.environ)
        os.environ.update(self.environ)
        try:
            self.server.start()
        finally:
            os.environ.clear()
            os.environ.update(kept)
        self.pid = int((self.server.data / "postmaster.pid").read_text().split("\n")[0])

    def kill(self) -> None:
        """Kill all processes of the server with SIGKILL, as close together as possible."""
        with suppress(psutil.NoSuchProcess):
            first = psutil.Process(self.pid)
            victims = [first, *first.children(recursive=True)]
            for one in victims:
                with suppress(psutil.NoSuchProcess):
                    one.kill()
            while any(_lives(one) for one in victims):
                time.sleep(0.005)
        self._reap()

    def up(self) -> None:
        """Start the server again if it is down, as a service manager does, and wait until it answers."""
        deadline = time.monotonic() + PATIENCE
        while True:
            if find_server(self.server.data) is None:
                self._reap()
                self.start()
            try:
                self.databases.connect(name="postgres").close()
                return
            except psycopg.OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.02)

    def _reap(self) -> None:
        """Reap the server's process, our child, which would count as running while it is a zombie."""
        with suppress(ChildProcessError):
            os.waitpid(self.pid, os.WNOHANG)


def _lives(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def own(folder: Path) -> None:
    """Give a folder and everything in it to the user that the server runs as."""
    if os.geteuid() == 0:
        for path in (folder, *folder.rglob("*")):
            give_to_server(path)


@contextmanager
def bed(place: str | None = None, **given: Any) -> Iterator[Bed]:
    """Yield a server in a temporary folder of `place`; kill it at the end."""
    with TemporaryDirectory(prefix="pgmnemo-bed-", dir=place) as name:
        Path(name).chmod(0o755)
        made = Bed(Path(name), **given)
        made.make()
        try:
            yield made
        finally:
            made.kill()


@contextmanager
def fresh_server() -> Iterator[Databases]:
    """Yield a second server, which suffers no faults, with an empty memory to copy."""
    with temporary_server(SQL_FOLDER, None, bundle=EMBEDDED) as conninfo:
        made = Databases(conninfo)
        made.roles()
        made.install(KEPT)
        yield made
