"""Temporary folders that no run leaves behind: leased under a file lock, deleted once the lock is free.

A lock distinguishes a living run from a dead run better than a process id, which is reused and has no meaning
in another container; the id in the name is for a human reader.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

import psutil

from pgmnemo.errors import DatabaseError, os_errors
from pgmnemo.posix import fcntl

PREFIX = "pgmnemo-pg"
LOCK = "lock"
DATA = "data"
NOTE = 4096  # characters of postmaster.pid, at most

WATCHDOG = """
trap '' INT TERM HUP
if read -r _; then exit 0; fi
pid=$(head -n 1 "$1/data/postmaster.pid" 2>/dev/null)
case $pid in ''|*[!0-9]*) pid=0;; esac
called() { cat "/proc/$pid/cmdline" 2>/dev/null || ps -o args= -p "$pid"; }
if called | grep -aqF "$1/data"; then kill -QUIT "$pid" 2>/dev/null; else pid=; fi
for _ in 1 2 3 4 5 6 7 8 9 10; do [ "$pid" ] && kill -0 "$pid" 2>/dev/null || break; sleep 0.2; done
tries=0  # an initdb that outlives the runner for a moment may write while its folder is deleted
until rm -rf "$@" || [ $tries -ge 300 ]; do tries=$((tries + 1)); sleep 0.2; done
"""


def temporary_bases() -> list[Path]:
    """Return writable folders for temporary files, `TMPDIR` and similar variables first."""
    places = ["/tmp", "/var/tmp"]
    with suppress(FileNotFoundError):
        places.insert(0, tempfile.gettempdir())
    unique = dict.fromkeys(Path(place).resolve() for place in places)
    return [place for place in unique if os.access(place, os.W_OK | os.X_OK)]


def open_to_others(path: Path) -> bool:
    """Return whether other users can reach `path` and read it (a folder: list and enter it)."""
    wanted = 0o005 if path.is_dir() else 0o004
    return reachable(path) and path.stat().st_mode & wanted == wanted


def reachable(path: Path) -> bool:
    """Return whether other users can traverse the existing parents of `path`."""
    return all(parent.stat().st_mode & 0o001 for parent in path.parents if parent.exists())


@contextmanager
def leased_folder(base: Path, mode: int = 0o700) -> Iterator[Path]:
    """Yield a new folder under `base`, which is deleted at the end of the block.

    If this process is killed, `_with_watchdog` first stops a server with data in the folder, and deletes the
    folder.
    """
    end = token_hex(4)
    made, folder = base / f"pgmnemo-new-{end}", base / f"{PREFIX}-{os.getuid()}-{os.getpid()}-{end}"
    told = f"no temporary folder can be made in {base}: {{why}}; free some space or set TMPDIR"
    with _with_watchdog(folder, made):
        with os_errors(told, DatabaseError):
            made.mkdir(mode=0o700)
        lock = os.open(made / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            made.chmod(mode)
            # delete_leftovers looks only for this name, so it never finds the folder without its lock.
            made.rename(folder)
            yield folder
        finally:
            for place in (made, folder):
                shutil.rmtree(place, ignore_errors=True)
            os.close(lock)


@contextmanager
def _with_watchdog(*folders: Path) -> Iterator[None]:
    """Run a shell beside the block that deletes the folders if this process is killed.

    It starts before the folders exist and ends after they are deleted, so that a kill at any moment leaves no
    folder.
    """
    shell = shutil.which("sh") or "/bin/sh"
    watchdog = subprocess.Popen(
        [shell, "-c", WATCHDOG, "pgmnemo-watchdog", *map(str, folders)],
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


def delete_leftovers(base: Path) -> int:
    """Stop the servers and delete the folders that dead runs of this user left in `base`; return
    their number.
    """
    return sum(_reclaim(folder) for folder in base.glob(f"{PREFIX}-{os.getuid()}-*"))


def _reclaim(folder: Path) -> bool:
    """Delete `folder` if it belongs to this user and its lock is free; return whether it was deleted."""
    try:
        if folder.is_symlink() or folder.stat().st_uid != os.getuid():
            return False
        lock = os.open(folder / LOCK, os.O_RDWR | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        stop_server(folder / DATA)
        shutil.rmtree(folder, ignore_errors=True)
    except BlockingIOError:
        return False
    finally:
        os.close(lock)
    return True


def stop_server(data: Path, patience: float = 5.0) -> None:
    """Stop the server of a data folder at once, without a checkpoint, because the folder is deleted next."""
    if (process := find_server(data)) is not None:
        quit_server(process, patience)


def quit_server(process: psutil.Process, patience: float) -> None:
    """Stop a server at once, without a checkpoint; kill it after `patience` seconds."""
    with suppress(psutil.Error):
        process.send_signal(signal.SIGQUIT)
        try:
            process.wait(patience)
        except psutil.TimeoutExpired:
            process.kill()
            process.wait(patience)


def find_server(data: Path) -> psutil.Process | None:
    """Return the main process of a data folder's server; None if it does not run.

    Its command line must name the folder, because its process id may have been reused. Root in a container
    can read the command line of another user's process, but not its executable or working folder.
    """
    with suppress(OSError, ValueError, IndexError, psutil.Error):
        process = psutil.Process(int(read_note(data / "postmaster.pid")[0]))
        if str(data) in process.cmdline() and process.uids().real == data.stat().st_uid:
            return process
    return None


def read_note(path: Path) -> list[str]:
    """Return the lines of a file that the server's user wrote; raise OSError if a link is in its place."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, encoding="utf-8", errors="replace") as file:
        return file.read(NOTE).split("\n")
