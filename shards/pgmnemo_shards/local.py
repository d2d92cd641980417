"""A router, shards and replicas on this machine, without Docker and without root.

Each is a server with a subfolder of one folder and a private socket; it runs until `down`. If root starts
them, the servers run as another user, because PostgreSQL refuses to run as root.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from psycopg.conninfo import make_conninfo

from pgmnemo.errors import DatabaseError, UsageError, os_errors
from pgmnemo.paths import SQL_FOLDER
from pgmnemo.postgres.releases import default_version
from pgmnemo.postgres.server_files import PIXELTABLE, installation, stage_extension
from pgmnemo.postgres.server_process import SUPERUSER, ServerProcess, give_to_server
from pgmnemo.postgres.servers import SOCKET_PATH_LIMIT, install_for_server
from pgmnemo.postgres.temporary_folders import open_to_others, stop_server
from pgmnemo_shards.constants import DATABASE
from pgmnemo_shards.debian import router_home
from pgmnemo_shards.installing import (
    NewShard,
    add_shard,
    check_new,
    install_router,
    install_shard,
    make_database,
    next_number,
    open_operator,
    register,
)
from pgmnemo_shards.installing import add_replica as register_replica

POSTGRES = 18
FILE = "cluster.json"
FIRST_PORT = 5432
SETTINGS: Mapping[str, str] = {
    "wal_level": "logical",  # needed by moves
    "max_wal_senders": "20",
    "max_replication_slots": "20",
    "max_logical_replication_workers": "12",
    "max_worker_processes": "24",
    "max_connections": "200",
    "shared_buffers": "128MB",
    "dynamic_shared_memory_type": "mmap",  # containers have 64 MB of /dev/shm
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "lc_messages": "C",
    "listen_addresses": "",
}
VOLATILE = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


@dataclass(frozen=True, slots=True)
class Local:
    """A cluster in `folder`.

    `ports` maps the name of each server, the router first, to its port, which names its socket.
    """

    folder: Path
    ports: dict[str, int]

    @property
    def sockets(self) -> Path:
        return self.folder / "sockets"

    def conninfo(self, name: str = "router", dbname: str = DATABASE) -> dict[str, str]:
        return {
            "host": str(self.sockets), "port": str(self.ports[name]), "user": SUPERUSER, "dbname": dbname
        }  # fmt: skip

    def address(self, name: str) -> str:
        """Return a server's address without a user, because the router logs in as its caller."""
        return make_conninfo("", host=str(self.sockets), port=self.ports[name], dbname=DATABASE)

    def operator(self, name: str) -> str:
        return make_conninfo("", **self.conninfo(name))

    def new(self, name: str, capacity: int | None = None) -> NewShard:
        return NewShard(name, self.address(name), self.operator(name), capacity)

    @property
    def replicas(self) -> list[str]:
        return [name for name in self.ports if "-replica" in name]

    @property
    def shards(self) -> list[str]:
        return [name for name in self.ports if not name.startswith("router") and name not in self.replicas]

    def with_server(self, name: str) -> Local:
        taken = max(self.ports.values(), default=FIRST_PORT - 1)
        local = Local(self.folder, {**self.ports, name: taken + 1})
        (self.folder / FILE).write_text(json.dumps({"ports": local.ports}, indent=1), encoding="utf-8")
        return local


def default_folder() -> Path:
    """Return the default folder of the cluster, in the user's private state.

    For root it is in /var/lib, because root's servers cannot enter root's home.
    """
    at_home = Path("/var/lib") if os.geteuid() == 0 else Path.home() / ".local" / "state"
    return Path(os.environ.get("XDG_STATE_HOME") or at_home) / "pgmnemo" / "shards"


def check_own(folder: Path) -> None:
    """Raise UsageError if another user can access the folder, because programs in it are run."""
    found, others = folder.lstat(), 0o066 if os.geteuid() == 0 else 0o077
    if stat.S_ISLNK(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & others:
        raise UsageError(
            f"{folder} is not a folder that you alone can enter, so nothing in it is run; name another by "
            "--folder"
        )


def find(folder: Path) -> Local:
    """Return the cluster in `folder`; raise DatabaseError if there is no cluster or its file is damaged."""
    with os_errors(f"there is no cluster in {folder}: pgmnemo-shards up starts one", DatabaseError):
        text = (folder / FILE).read_text(encoding="utf-8")
        check_own(folder)
    try:
        return Local(folder, json.loads(text)["ports"])
    except (ValueError, KeyError):
        raise DatabaseError(
            f"{folder / FILE} is damaged; remove the cluster with pgmnemo-shards down"
        ) from None


def up(folder: Path, shards: int, *, volatile: bool = False) -> Local:
    """Start a router and `shards` shards in a new folder; delete the folder if this fails."""
    home = router_home()
    if not 1 <= shards <= 64:
        raise UsageError(f"--shards is {shards}, but must be from 1 to 64")
    root = os.geteuid() == 0
    with os_errors(f"{folder} cannot be made: {{why}}; name another with --folder", DatabaseError):
        folder.parent.mkdir(mode=0o755 if root else 0o700, parents=True, exist_ok=True)
        _check_folder(folder)
        folder.mkdir(mode=0o711 if root else 0o700)
    try:
        return _up(folder, home, shards, volatile)
    except BaseException:
        down(folder)
        raise


def _up(folder: Path, home: Path, shards: int, volatile: bool) -> Local:
    local = Local(folder, {})
    local.sockets.mkdir(mode=0o700)
    if os.geteuid() == 0:
        give_to_server(local.sockets)
    engine, extra = install_for_server(installation(POSTGRES), SQL_FOLDER, folder, POSTGRES, PIXELTABLE)
    (folder / "engine.json").write_text(
        json.dumps({"home": str(engine), "settings": extra}), encoding="utf-8"
    )
    durability = VOLATILE if volatile else {}
    names = [f"shard{number}" for number in range(1, shards + 1)]
    for name in ("router", *names):
        local = local.with_server(name)
    homes = {"router": (home, durability), **{name: (engine, {**extra, **durability}) for name in names}}
    with ThreadPoolExecutor() as pool:
        deque(pool.map(lambda name: _start(local, name, *homes[name], initialise=True), homes), maxlen=0)
    version = default_version()
    router = make_database(local.conninfo(dbname="postgres"))

    def prepare(name: str) -> None:
        make_database(local.conninfo(name, "postgres"))
        install_shard(local.new(name), names.index(name), version)

    with ThreadPoolExecutor() as pool:
        deque(pool.map(prepare, names), maxlen=0)
    install_router(router, local.conninfo(names[0]))
    with open_operator(router) as session:
        for name in names:
            register(session, local.new(name), next_number(session))
    return local


def stage_extension_again(local: Local) -> None:
    """Copy the extension's current files to the servers, for an upgrade."""
    home = Path(_engine(local)["home"])
    copied = home.is_relative_to(local.folder)
    stage_extension(SQL_FOLDER, home / PIXELTABLE.extensions if copied else local.folder / "extension")


def _engine(local: Local) -> dict[str, Any]:
    engine: dict[str, Any] = json.loads((local.folder / "engine.json").read_text(encoding="utf-8"))
    return engine


def add(local: Local, name: str, capacity: int | None = None) -> Local:
    """Add a shard to a running cluster, with the release of the other shards; return the changed cluster."""
    engine = _engine(local)
    with open_operator(local.conninfo()) as router:
        check_new(router, name)
        version = router.execute("SELECT pgmnemo.version()").fetchall()[0][0]
        local = local.with_server(name)
        _start(local, name, Path(engine["home"]), engine["settings"], initialise=True)
        make_database(local.conninfo(name, "postgres"))
        add_shard(router, local.new(name, capacity), version)
    return local


def add_replica(local: Local, primary: str) -> Local:
    """Add a streaming replica of a shard or of the router by pg_basebackup; return the changed cluster.

    The directory gets an entry for a replica of a shard.
    """
    if primary not in ("router", *local.shards):
        known = ", ".join(("router", *local.shards))
        raise UsageError(f"there is no shard {primary!r} to make a replica of; choose one of: {known}")
    number = 1 + sum(name.startswith(f"{primary}-replica") for name in local.replicas)
    name = f"{primary}-replica{number}"
    home, tools = Path(_engine(local)["home"]), installation(POSTGRES)
    if primary == "router":
        home = tools = router_home()
    local = local.with_server(name)
    place = local.folder / name
    place.mkdir(mode=0o711 if os.geteuid() == 0 else 0o700)
    done = subprocess.run(
        [str(tools / "bin" / "pg_basebackup"), "-D", str(place / "data"), "-R", "-X", "stream", "-c", "fast",
         "-h", str(local.sockets), "-p", str(local.ports[primary]), "-U", SUPERUSER],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise DatabaseError(f"the replica of {primary} was not made: {done.stderr.strip().splitlines()[-1]}")
    with (place / "data" / "postgresql.auto.conf").open("a", encoding="utf-8") as file:
        file.write(f"port = '{local.ports[name]}'\n")
    if os.geteuid() == 0:
        for path in (place / "data", *(place / "data").rglob("*")):
            give_to_server(path)
    _start(local, name, home, {}, initialise=False)
    if primary != "router":
        with open_operator(local.conninfo()) as router:
            register_replica(router, primary, local.address(name))
    return local


def stop(local: Local, name: str) -> None:
    """Stop one server of the cluster immediately; `start` restarts it."""
    stop_server(local.folder / name / "data")


def processes(local: Local, name: str) -> list[psutil.Process]:
    """Return the processes of a running server; the first is the parent of the others."""
    first = psutil.Process(int((local.folder / name / "data" / "postmaster.pid").read_text().split("\n")[0]))
    return [first, *first.children()]


def kill(local: Local, name: str, victims: Sequence[psutil.Process]) -> None:
    """Kill all processes of a server of the cluster by SIGKILL; `start` starts it again."""
    for process in victims:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(victims, timeout=5)
    (local.folder / name / "data" / "postmaster.pid").unlink()  # a zombie with this id would count as running


def start(local: Local, name: str) -> None:
    """Start a stopped server of the cluster."""
    home = router_home() if name.startswith("router") else Path(_engine(local)["home"])
    _start(local, name, home, {}, initialise=False)


def down(folder: Path) -> None:
    """Stop every server of the cluster in `folder`, and delete the folder."""
    for data in sorted(folder.glob("*/data"), reverse=True):
        stop_server(data)
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        raise DatabaseError(f"{folder} could not be removed whole; remove it by hand")


def _start(local: Local, name: str, home: Path, extra: Mapping[str, str], *, initialise: bool) -> None:
    place = local.folder / name
    settings: dict[str, Any] = {
        **SETTINGS,
        **extra,
        "port": str(local.ports[name]),
        "cluster_name": f"pgmnemo_{name}",
    }
    server = ServerProcess(home, place, local.sockets, settings)
    if initialise:
        place.mkdir(mode=0o711 if os.geteuid() == 0 else 0o700)
        (place / "data").mkdir(mode=0o700)
        if os.geteuid() == 0:
            give_to_server(place / "data")
        server.initialise()
    server.start()


def _check_folder(folder: Path) -> None:
    if folder.exists():
        mend = "end it with pgmnemo-shards down, or " if (folder / FILE).exists() else ""
        raise UsageError(f"{folder} is there already: {mend}name another by --folder")
    longest = len(os.fsencode(folder / "sockets" / ".s.PGSQL.55555"))
    if longest > SOCKET_PATH_LIMIT:
        raise UsageError(
            f"the path of a socket in {folder} would be too long; name a shorter folder by --folder"
        )
    parent = folder.parent
    if os.geteuid() == 0 and not (parent.is_dir() and open_to_others(parent)):
        raise UsageError(
            f"PostgreSQL does not run as root, and the user nobody cannot enter {parent}; "
            "name another by --folder"
        )
