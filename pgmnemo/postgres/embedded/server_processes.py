"""The processes of a folder's server, including those that a dead server has left.

A process is ended only if it certainly belongs to the folder: it runs as the server's user in this PID
namespace and on this folder, and the process that started it is dead.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil

from pgmnemo.postgres.embedded.memory_folder import MemoryFolder, server_owner


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
        there = os.stat(f"/proc/{process.pid}/cwd")
    except OSError:  # no Linux, or another user's process in a container
        return True
    places = (*folder.path.glob("pg*"), *folder.path.glob("partial-*/data"))
    return any(os.path.samestat(there, place.stat()) for place in places)
