"""The processes of a folder's server, including those that a dead server has left.

A process is ended only if it certainly belongs to the folder: it runs as the server's user in this PID
namespace and on this folder, and the process that started it is dead.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil

from pgmnemo.postgres.embedded.memory_folder import MemoryFolder, server_owner
from pgmnemo.postgres.temporary_folders import quit_server

STOP_LIMIT = 60.0  # seconds


def folder_processes(folder: MemoryFolder) -> list[psutil.Process]:
    """Return all processes of this folder's servers: a title or a command line names the folder."""
    return [process for process, inside in _processes_naming(folder) if inside]


def orphaned_processes(folder: MemoryFolder, data: Path) -> list[psutil.Process]:
    """Return the processes of dead servers on the folder; never the server of `data` itself."""
    found = folder_processes(folder)
    known = {process.pid for process in found}
    ended = []
    for process in found:
        with suppress(psutil.Error):
            serves = process.cmdline()[1:] == ["-D", str(data)]
            if not serves and process.ppid() not in known and _works_on(process, folder):
                ended.append(process)
    return ended


def stop_displaced(data: Path) -> None:
    """Stop servers that were started on the path `data` and serve a folder that has been moved or deleted.

    PostgreSQL writes pg_control through the path that it was started with: into a cluster that lies there
    now. A server that is stopped by SIGQUIT writes no pg_control, and its folder recovers at the next start.
    """
    here = os.stat(data) if data.exists() else None
    for process, path, folder in _servers():
        if path == str(data) and not (here and os.path.samestat(folder, here)):
            quit_server(process, STOP_LIMIT)


def stop_moved(data: os.stat_result, path: Path | None = None) -> bool:
    """Stop by SIGQUIT the servers of the data folder `data` that were started on another path than `path`.

    None stands for no path. Return whether there were any.
    """
    moved = [
        process for process, started, folder in _servers()
        if os.path.samestat(folder, data) and started != str(path)
    ]  # fmt: skip
    for process in moved:
        quit_server(process, STOP_LIMIT)
    return bool(moved)


def is_served_in_container(folder: MemoryFolder) -> bool:
    """Return whether a server of this folder runs in a PID namespace below this one, as in a container."""
    return any(not inside for _, inside in _processes_naming(folder))


def is_in_use(folder: MemoryFolder) -> bool:
    """Return whether a process in this namespace, such as pg_upgrade, names the folder in its command line.

    Such a process may hold the server's lock.
    """
    place = f"{folder.path}/"
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            words = process.cmdline()
            if process.pid != os.getpid() and any(place in word or folder.name in word for word in words):
                return True
    return False


def _processes_naming(folder: MemoryFolder) -> Iterator[tuple[psutil.Process, bool]]:
    """Yield each process of the server's user that names the folder, and whether it is in this namespace."""
    title, place, owner = f"postgres: {folder.name}: ", f"{folder.path}/", server_owner()
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            words = [*process.cmdline(), "", "", ""]
            if words[0].startswith(title) or (words[1] == "-D" and words[2].startswith(place)):
                inside = _is_inside(process)
                if not inside or process.uids().real == owner:
                    yield process, inside


def _servers() -> Iterator[tuple[psutil.Process, str, os.stat_result]]:
    """Yield each server of the server's user, the path it was started on, and the folder that it serves."""
    owner = server_owner()
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            words = process.cmdline()
            if words[1:2] == ["-D"] and process.uids().real == owner and _sees_these_files(process):
                yield process, words[2], _working_folder(process)


def _sees_these_files(process: psutil.Process) -> bool:
    """Return whether a process is in this mount namespace, so that a path names the same file to it."""
    if sys.platform != "linux":
        return True
    return os.path.samestat(os.stat(f"/proc/{process.pid}/ns/mnt"), os.stat("/proc/self/ns/mnt"))


def _working_folder(process: psutil.Process) -> os.stat_result:
    """Return the status of a process's working folder, even a deleted one on Linux."""
    return os.stat(f"/proc/{process.pid}/cwd" if sys.platform == "linux" else process.cwd())


def _is_inside(process: psutil.Process) -> bool:
    """Return whether a process is in this PID namespace; in a namespace below it has several ids."""
    status = Path(f"/proc/{process.pid}/status")
    if not status.exists():  # no Linux
        return True
    lines = status.read_text(errors="replace").splitlines()
    return all(len(line.split()) == 2 for line in lines if line.startswith("NSpid:"))


def _works_on(process: psutil.Process, folder: MemoryFolder) -> bool:
    """Return whether a process has its working folder in a data folder of this folder; True if unknown."""
    try:
        there = _working_folder(process)
    except (OSError, psutil.Error):  # another user's process in a container
        return True
    places = (*folder.path.glob("pg*"), *folder.path.glob("partial-*/data"))
    return any(os.path.samestat(there, place.stat()) for place in places)
