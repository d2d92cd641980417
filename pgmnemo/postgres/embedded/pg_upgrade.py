"""Upgrade a memory's folder to the newest PostgreSQL, by pg_upgrade, and to this package's extension.

The old data is kept.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from contextlib import closing
from pathlib import Path
from uuid import UUID

from pgmnemo.errors import DatabaseError, UsageError
from pgmnemo.postgres.embedded.binaries import newest, of_major
from pgmnemo.postgres.embedded.cluster import Cluster
from pgmnemo.postgres.embedded.database_setup import finish_upgrade, session
from pgmnemo.postgres.embedded.embedded_server import EmbeddedServer, check_major
from pgmnemo.postgres.embedded.memory_folder import MemoryFolder, folder_errors, major_of, open_folder
from pgmnemo.postgres.server_checks import Session, value
from pgmnemo.postgres.server_process import SUPERUSER, identity
from pgmnemo.progress import QUIET, Progress

TENANTS = "SELECT DISTINCT tenant_id FROM pgmnemo.lesson ORDER BY 1"
SOUND = "SELECT NOT EXISTS (SELECT FROM pgmnemo.check(%s))"
REPAIR = "SELECT pgmnemo.repair(%s)"
INDEX = "SELECT pgmnemo.index(%s), pgmnemo.merge_postings(%s)"


def upgrade(folder: Path, progress: Progress = QUIET) -> None:
    """Upgrade the data in `folder` to the newest PostgreSQL, and update the extension.

    The folder must not be in use. Faults that `check` then finds in a tenant, such as words that another
    PostgreSQL has cut, are repaired, and each tenant is indexed. The old data is kept. A killed upgrade can
    be run again. Raise UsageError or DatabaseError if the folder cannot be upgraded.
    """
    _upgrade_server(folder, progress)
    with (
        closing(EmbeddedServer.open(folder, progress=progress)) as server,
        session(server.cluster, SUPERUSER) as memory,
    ):
        for (tenant,) in memory.execute(TENANTS).fetchall():
            _repair(memory, tenant, progress)
            memory.execute(INDEX, (tenant, tenant))
        memory.execute("VACUUM (ANALYZE)")


def _repair(memory: Session, tenant: UUID, progress: Progress) -> None:
    """Rebuild the search data of a tenant's lessons if `check` finds a fault."""
    if not value(memory, SOUND, tenant):
        progress.say(f"repairing what the lessons of the tenant {tenant} are found by")
        memory.execute(REPAIR, (tenant,))


def _upgrade_server(folder: Path, progress: Progress) -> None:
    place = open_folder(folder)
    with folder_errors(place), place.exclusive(progress):
        alone = place.exclusive_lock()
        if alone is None:
            raise UsageError(f"{place.path} is in use; close the programs that have it open, then upgrade")
        try:
            _upgrade(place, progress)
        finally:
            os.close(alone)


def _upgrade(place: MemoryFolder, progress: Progress) -> None:
    data, binaries = place.data(), newest()
    if data is None or not place.is_complete:
        raise UsageError(f"{place.path} holds no memory that could be upgraded")
    if (major := major_of(data)) >= binaries.major:
        check_major(data, binaries)
        progress.say(f"{place.path} holds data of PostgreSQL {major} already, the newest there is")
        return
    old = Cluster(place, data, of_major(major))
    new = Cluster(place, place.path / f"pg{binaries.major}", binaries)
    progress.say(f"upgrading {place.path} from PostgreSQL {major} to {binaries.major}")
    session(old).close()  # start it once, to recover from a kill
    old.stop()
    _pg_upgrade(place, old, new)
    finish_upgrade(new)
    new.stop()
    place.mark_complete(new.data)
    for copy in (place.path / "server").glob(f"{major}-*"):
        shutil.rmtree(copy, ignore_errors=True)
    progress.say(f"{place.path} is of PostgreSQL {binaries.major} now; remove {data} when all is well")


def _pg_upgrade(place: MemoryFolder, old: Cluster, new: Cluster) -> None:
    """Create a new cluster with the contents of the old cluster."""
    with place.partial_folder("upgrade") as partial:
        summed = _has_checksums(old)
        new.create_in(partial, *([] if summed or new.binaries.major < 18 else ["--no-data-checksums"]))
        _run_upgrade(place, old, new, partial)
        if not summed:
            _run(new, "pg_checksums", "--enable", "-D", str(partial / "data"))
        new.install_data(partial / "data")


def _has_checksums(cluster: Cluster) -> bool:
    told = _run(cluster, "pg_controldata", str(cluster.data))
    return "Data page checksum version:           0" not in told


def _run_upgrade(place: MemoryFolder, old: Cluster, new: Cluster, partial: Path) -> None:
    """Run pg_upgrade with the server's lock, so that a later upgrade waits for the servers of a killed
    upgrade.
    """
    lock = place.server_lock()
    if lock is None:
        raise DatabaseError(f"the old server of {place.path} does not end; {place.log} tells more")
    try:
        _run(
            new, "pg_upgrade", *new.sync_options(), "-U", SUPERUSER,
            "-b", str(old.home() / "bin"), "-B", str(new.home() / "bin"),
            "-d", str(old.data), "-D", str(partial / "data"),
            "--socketdir", str(place.server_folder(place.sockets)), cwd=partial, lock=lock,
        )  # fmt: skip
    finally:
        os.close(lock)


def _run(
    cluster: Cluster, program: str, *arguments: str, cwd: Path = Path("/"), lock: int | None = None
) -> str:
    """Run a program as the server's user and return its output; raise DatabaseError if it fails."""
    done: subprocess.CompletedProcess[str] = subprocess.run(
        [str(cluster.home() / "bin" / program), *arguments], pass_fds=[] if lock is None else [lock],
        capture_output=True, text=True, errors="replace", check=False, **{**identity(), "cwd": cwd},
    )  # fmt: skip
    if done.returncode:
        lines = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        telling = [line for line in lines if re.search("fail|FATAL|error|could not", line)]
        with cluster.folder.log.open("a", encoding="utf-8") as log:
            log.writelines(f"{program}: {line}\n" for line in lines)
        raise DatabaseError(
            f"{cluster.folder.path} was not upgraded, and stays as it was: {program} failed, "
            f"{(telling or lines or ['it said nothing'])[0]}; {cluster.folder.log} tells more"
        )
    return done.stdout
