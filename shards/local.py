"""Router, shards and replicas on this machine, without Docker and without root: `up` to `down`.

Each is a server in a folder of its own below one folder, on a private socket; it outlives the command. As
root the servers run as another user, since PostgreSQL refuses to be root.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
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
from pgmnemo.places import SQL_FOLDER
from pgmnemo.server.folders import open_to_others, stop_server
from pgmnemo.server.opening import SOCKET_PATH_LIMIT, stage
from pgmnemo.server.releases import default_version
from pgmnemo.server.server_files import PIXELTABLE, installation
from pgmnemo.server.server_process import SUPERUSER, ServerProcess, give_to_server
from shards.debian import router_home
from shards.installing import add_replica as register_replica
from shards.installing import (
    add_shard,
    check_new,
    install_router,
    install_shard,
    make_database,
    open_operator,
)
from shards.names import DATABASE

POSTGRES = 18
FILE = "cluster.json"
FIRST_PORT = 5432
SETTINGS: Mapping[str, str] = {
    "wal_level": "replica",
    "max_wal_senders": "8",
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
    """A cluster in `folder`: ports, which name the sockets, by the name of the server, the router first."""

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
        """Without a user: as the router calls it for whoever calls."""
        return make_conninfo("", host=str(self.sockets), port=self.ports[name], dbname=DATABASE)

    def operator(self, name: str) -> str:
        return make_conninfo("", **self.conninfo(name))

    @property
    def replicas(self) -> list[str]:
        return [name for name in self.ports if "-replica" in name]

    def with_server(self, name: str) -> Local:
        taken = max(self.ports.values(), default=FIRST_PORT - 1)
        local = Local(self.folder, {**self.ports, name: taken + 1})
        (self.folder / FILE).write_text(json.dumps({"ports": local.ports}, indent=1), encoding="utf-8")
        return local


def default_folder() -> Path:
    return Path(tempfile.gettempdir()) / f"pgmnemo-shards-{os.getuid()}"


def find(folder: Path) -> Local:
    """The cluster that lies in `folder`."""
    with os_errors(f"there is no cluster in {folder}: python -m shards up starts one", DatabaseError):
        text = (folder / FILE).read_text(encoding="utf-8")
    try:
        return Local(folder, json.loads(text)["ports"])
    except (ValueError, KeyError):
        raise DatabaseError(
            f"{folder / FILE} is damaged; remove the cluster with python -m shards down"
        ) from None


def up(folder: Path, shards: int, *, volatile: bool = False) -> Local:
    """A router and `shards` shards in the new folder; on failure nothing of it is left."""
    home = router_home()
    if not 1 <= shards <= 64:
        raise UsageError(f"--shards is {shards}, but must be from 1 to 64")
    _check_folder(folder)
    with os_errors(f"{folder} cannot be made: {{why}}; name another with --folder", DatabaseError):
        folder.mkdir(mode=0o711 if os.geteuid() == 0 else 0o700)
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
    engine, extra = stage(installation(POSTGRES), SQL_FOLDER, folder, POSTGRES, PIXELTABLE)
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
        shard = make_database(local.conninfo(name, "postgres"))
        install_shard(shard, name, names.index(name), version, None)

    with ThreadPoolExecutor() as pool:
        deque(pool.map(prepare, names), maxlen=0)
    install_router(router, local.conninfo(names[0]))
    with open_operator(router) as session:
        for number, name in enumerate(names):
            session.execute(
                "INSERT INTO directory.shard (name, number, address, operator) VALUES (%s, %s, %s, %s)",
                (name, number, local.address(name), local.operator(name)),
            )
    return local


def add(local: Local, name: str, capacity: int | None = None) -> Local:
    """One more shard in a cluster that is up."""
    engine = json.loads((local.folder / "engine.json").read_text(encoding="utf-8"))
    with open_operator(local.conninfo()) as router:
        check_new(router, name)
        version = router.execute("SELECT pgmnemo.version()").fetchall()[0][0]
        local = local.with_server(name)
        _start(local, name, Path(engine["home"]), engine["settings"], initialise=True)
        make_database(local.conninfo(name, "postgres"))
        add_shard(router, name, local.address(name), local.operator(name), capacity, version)
    return local


def add_replica(local: Local, shard: str) -> Local:
    """A streaming replica of a shard, by pg_basebackup, which the directory then names."""
    if shard not in local.ports or shard == "router" or shard in local.replicas:
        known = ", ".join(name for name in local.ports if name != "router" and name not in local.replicas)
        raise UsageError(f"there is no shard {shard!r} to make a replica of; choose one of: {known}")
    number = 1 + sum(name.startswith(f"{shard}-replica") for name in local.replicas)
    name = f"{shard}-replica{number}"
    engine = json.loads((local.folder / "engine.json").read_text(encoding="utf-8"))
    local = local.with_server(name)
    place = local.folder / name
    place.mkdir(mode=0o711 if os.geteuid() == 0 else 0o700)
    done = subprocess.run(
        [str(installation(POSTGRES) / "bin" / "pg_basebackup"), "-D", str(place / "data"), "-R",
         "-X", "stream", "-c", "fast",
         "-h", str(local.sockets), "-p", str(local.ports[shard]), "-U", SUPERUSER],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise DatabaseError(f"the replica of {shard} was not made: {done.stderr.strip().splitlines()[-1]}")
    with (place / "data" / "postgresql.auto.conf").open("a", encoding="utf-8") as file:
        file.write(f"port = '{local.ports[name]}'\n")
    if os.geteuid() == 0:
        for path in (place / "data", *(place / "data").rglob("*")):
            give_to_server(path)
    _start(local, name, Path(engine["home"]), {}, initialise=False)
    with open_operator(local.conninfo()) as router:
        register_replica(router, shard, local.address(name))
    return local


def stop(local: Local, name: str) -> None:
    """One server of the cluster, at once; `start` brings it back."""
    stop_server(local.folder / name / "data")


def processes(local: Local, name: str) -> list[psutil.Process]:
    """Those of a server that is up, the first the one that starts the others."""
    first = psutil.Process(int((local.folder / name / "data" / "postmaster.pid").read_text().split("\n")[0]))
    return [first, *first.children()]


def kill(local: Local, name: str, victims: Sequence[psutil.Process]) -> None:
    """A server of the cluster by SIGKILL, all its `processes` at once; `start` brings it back."""
    for process in victims:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(victims, timeout=5)
    (local.folder / name / "data" / "postmaster.pid").unlink()  # a zombie of that id would count as running


def start(local: Local, name: str) -> None:
    """A server of the cluster that stands still."""
    if name == "router":
        _start(local, name, router_home(), {}, initialise=False)
        return
    engine = json.loads((local.folder / "engine.json").read_text(encoding="utf-8"))
    _start(local, name, Path(engine["home"]), {}, initialise=False)


def down(folder: Path) -> None:
    """Stop every server of the folder and delete it."""
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
        raise UsageError(
            f"{folder} is there already: end it with python -m shards down, or name another by --folder"
        )
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
