"""The server of a memory's folder, as used by one of the processes that share it."""

from __future__ import annotations

import atexit
import os
from collections.abc import Mapping
from pathlib import Path

from pgmnemo.errors import DatabaseError, UsageError
from pgmnemo.posix import check_folders
from pgmnemo.postgres.embedded.binaries import Binaries, newest
from pgmnemo.postgres.embedded.cluster import Cluster
from pgmnemo.postgres.embedded.database_setup import create_missing, session, try_connect, update_extension
from pgmnemo.postgres.embedded.memory_folder import (
    MemoryFolder,
    folder_errors,
    is_last,
    major_of,
    open_folder,
)
from pgmnemo.postgres.embedded.server_processes import stop_moved
from pgmnemo.postgres.releases import version_number
from pgmnemo.progress import QUIET, Progress


class EmbeddedServer:
    """A process's use of a folder's server, which runs while any process uses it.

    Its methods block. A killed process stops using the server at once; if it was the last, the next process
    to open the folder adopts the running server.
    """

    def __init__(self, cluster: Cluster, lock: int) -> None:
        self.cluster, self._lock, self._data = cluster, lock, cluster.data.stat()
        atexit.register(self.close)

    @classmethod
    def open(cls, folder: Path, *, wanted: str | None = None, progress: Progress = QUIET) -> EmbeddedServer:
        """Create, start or adopt the memory in `folder`, with version `wanted` of the extension.

        None is the current version. An older extension is updated after a dump in the same folder. Raise
        UsageError or DatabaseError if the folder cannot be used.
        """
        check_folders()
        place, version = open_folder(folder), version_number(wanted)
        with folder_errors(place), place.exclusive(progress):
            lock = place.shared_lock()
            cluster = None
            try:
                cluster = _open_cluster(place, progress)
                _start_and_update(cluster, version, progress)
                return cls(cluster, lock)
            except BaseException:
                _release(place, cluster, lock)
                raise

    @property
    def conninfo(self) -> Mapping[str, str]:
        """Return the login parameters of the ordinary role that owns the database and the extension."""
        return self.cluster.address()

    def ensure_running(self) -> None:
        """Start the server again if it has died, and wait until it answers."""
        if self._lock < 0:
            raise UsageError(f"{self.cluster.folder.path} was closed; open it again")
        self.check_place()
        with folder_errors(self.cluster.folder):
            if self.cluster.is_up() and (connection := try_connect(self.conninfo)):
                connection.close()
                return
            with self.cluster.folder.exclusive(QUIET):
                session(self.cluster).close()

    def check_place(self) -> None:
        """Raise DatabaseError if the folder was moved, deleted or replaced since it was opened."""
        if not self.cluster.folder.is_locked_by(self._lock):
            raise DatabaseError(
                f"{self.cluster.folder.path} was moved, deleted or replaced while it was open; close it, and "
                "open the folder where it is now"
            )

    def close(self) -> None:
        """End this process's use of the server; the last process stops it."""
        lock, self._lock = self._lock, -1
        if lock < 0:
            return
        atexit.unregister(self.close)
        if self.cluster.folder.is_locked_by(lock):
            with self.cluster.folder.exclusive(QUIET):
                _release(self.cluster.folder, self.cluster, lock)
            return
        if is_last(lock):
            stop_moved(self._data)
        os.close(lock)


def _open_cluster(place: MemoryFolder, progress: Progress) -> Cluster:
    """Return the cluster of a folder, created if it is missing."""
    binaries, data = newest(), place.data()
    cluster = Cluster(place, data or place.path / f"pg{binaries.major}", binaries)
    if data is None:
        progress.say(f"making a memory in {place.path}")
        cluster.create()
    check_major(cluster.data, binaries)
    return cluster


def _start_and_update(cluster: Cluster, version: str, progress: Progress) -> None:
    """Start the server, create missing contents, and update the extension to `version`."""
    if not cluster.folder.is_complete:
        create_missing(cluster, version)
        cluster.folder.mark_complete(cluster.data)
    update_extension(cluster, version, progress)


def check_major(data: Path, binaries: Binaries) -> None:
    """Raise DatabaseError if the data belongs to another major version than the installed PostgreSQL."""
    major = major_of(data)
    if major < binaries.major:
        raise DatabaseError(
            f"{data.parent} holds data of PostgreSQL {major}, and {binaries.major} is installed: "
            f"mnemo upgrade {data.parent}"
        )
    if major > binaries.major:
        raise DatabaseError(
            f"{data.parent} holds data of PostgreSQL {major}, which is newer than {binaries.major}: "
            "pip install -U '.[local]' in a newer checkout of pgmnemo"
        )


def _release(folder: MemoryFolder, cluster: Cluster | None, lock: int) -> None:
    """Release the shared lock; stop the server if no other process uses the folder."""
    os.close(lock)
    if (alone := folder.exclusive_lock()) is None:
        return
    try:
        if cluster is not None:
            cluster.stop()
    finally:
        os.close(alone)
