"""A memory's folder: its files, its validity checks, and the locks that processes share it with.

A process that uses the folder has `lock` in shared mode; a process that starts, stops or changes the server
has `opening.lock` exclusively; all processes of the server have `running.lock`. The kernel frees a lock when
its last holder ends, for any reason. So a free lock shows that no process is left, which a process id cannot.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import psutil

from pgmnemo.errors import DatabaseError, UsageError, os_errors
from pgmnemo.posix import fcntl, pwd
from pgmnemo.postgres.server_process import SERVER_USER, give_to_server
from pgmnemo.postgres.servers import SOCKET_PATH_LIMIT
from pgmnemo.postgres.temporary_folders import reachable
from pgmnemo.progress import Progress

FORMAT = 1
RECORD = "mnemo.json"
OPENING_LOCK = "opening.lock"
NOBODYS = re.compile(r"\..*|lost\+found")  # files that are ignored in an otherwise empty folder
DATA = re.compile(r"pg(\d+)")
WHOLE = ("PG_VERSION", "global/pg_control", "postgresql.conf", "mnemo.conf")
NETWORK = {
    "9p", "afpfs", "afs", "beegfs", "ceph", "cifs", "davfs", "fuse.glusterfs", "fuse.rclone", "fuse.s3fs",
    "fuse.sshfs", "glusterfs", "lustre", "ncpfs", "nfs", "nfs4", "smb2", "smb3", "smbfs", "webdav",
}  # fmt: skip
MODE = 0o644  # of files that root writes and the server reads
LONGEST = 900  # bytes of a path: PostgreSQL cuts paths longer than 1,023
SPACE = 128 << 20  # bytes that a new cluster and its first log need


@dataclass(frozen=True, slots=True)
class MemoryFolder:
    """A checked folder on a local disk, owned by the user, which contains a memory or nothing."""

    path: Path

    @property
    def name(self) -> str:
        """Return a short name, unique on this machine, for the titles of the server's processes."""
        return f"mnemo-{sha256(os.fsencode(self.path)).hexdigest()[:12]}"

    @property
    def sockets(self) -> Path:
        """Return the folder of the server's socket.

        It is in the memory's folder, unless the path is too long or invalid for libpq.
        """
        within = self.path / "sockets"
        if len(os.fsencode(within / ".s.PGSQL.5432")) <= SOCKET_PATH_LIMIT and "," not in str(within):
            return within
        return Path("/tmp") / f"{self.name}-{os.geteuid()}"

    @property
    def log(self) -> Path:
        return self.path / "server.log"

    @contextmanager
    def exclusive(self, progress: Progress) -> Iterator[None]:
        """Exclude other processes from a start, stop or change of the server in the block."""
        lock = _file(self.path / OPENING_LOCK)
        try:
            if not _free_soon(lock, fcntl.LOCK_EX):
                progress.say(f"waiting for another process that is opening or closing {self.path}")
                fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            fcntl.flock(lock, fcntl.LOCK_UN)  # closing is not enough: a fork may have the descriptor
            os.close(lock)

    def shared_lock(self) -> int:
        """Take a shared lock on the folder, held until the descriptor is closed here and in all forks."""
        lock = _file(self.path / "lock")
        fcntl.flock(lock, fcntl.LOCK_SH)
        return lock

    def is_locked_by(self, lock: int) -> bool:
        """Return whether a shared lock is of the folder that lies at the path now."""
        with suppress(OSError):
            return os.path.samestat(os.fstat(lock), os.stat(self.path / "lock"))
        return False

    def exclusive_lock(self) -> int | None:
        """Return the exclusive lock on the folder; None if another process uses the folder."""
        return self._lock("lock")

    def server_lock(self) -> int | None:
        """Return the lock of the server's processes; None if such a process lives."""
        return self._lock("running.lock")

    def _lock(self, name: str) -> int | None:
        lock = _file(self.path / name)
        if _try_lock(lock, fcntl.LOCK_EX):
            return lock
        os.close(lock)
        return None

    def data(self) -> Path | None:
        """Return the data folder, named by PostgreSQL's major version; None if there is no data yet."""
        known = self._record()
        found = [known] if known else sorted(p.name for p in self.path.iterdir() if DATA.fullmatch(p.name))
        if not found:
            return None
        if len(found) > 1:
            raise DatabaseError(
                f"{self.path} holds {' and '.join(found)}, and no {RECORD} says which is in use; write it: "
                f'{{"format": {FORMAT}, "data": "{found[-1]}"}}'
            )
        return self._checked_record(self.path / found[0])

    def _record(self) -> str | None:
        path = self.path / RECORD
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
            number, name = int(record["format"]), str(record["data"])
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
            number, name = 0, ""
        if number > FORMAT:
            raise DatabaseError(f"{self.path} was made by a newer pgmnemo: install it from a newer checkout")
        if number < 1 or not DATA.fullmatch(name):
            raise DatabaseError(f'{path} is damaged; write {{"format": {FORMAT}, "data": "pg18"}} or such')
        return name

    def _checked_record(self, data: Path) -> Path:
        if data.is_symlink():
            raise UsageError(f"{data} is a symbolic link; move what it leads to into its place")
        if not data.is_dir():
            raise DatabaseError(f"the data of {self.path} is missing: bring {data} back from a backup")
        if not all((data / part).is_file() for part in WHOLE):
            raise DatabaseError(
                f"{data} is no whole cluster, and was left as it is; bring it back from a backup"
            )
        owner = server_owner()
        if (found := data.stat().st_uid) != owner:
            raise DatabaseError(f"{data} belongs to {_user(found)}: chown -R {_user(owner)} {data}")
        return data

    @property
    def is_complete(self) -> bool:
        """Return whether the memory was created completely: the record is written last."""
        return (self.path / RECORD).is_file()

    def mark_complete(self, data: Path) -> None:
        write_atomically(self.path / RECORD, json.dumps({"format": FORMAT, "data": data.name}) + "\n")

    @contextmanager
    def partial_folder(self, what: str, given: bool = True) -> Iterator[Path]:
        """Yield a folder for incomplete files, owned by the server's user if `given`.

        Leftovers of killed processes are deleted first.
        """
        for left in self.path.glob(f"partial-{what}-*"):
            shutil.rmtree(left, ignore_errors=True)
        if shutil.disk_usage(self.path).free < SPACE:
            raise DatabaseError(f"there is no space left in {self.path}: free {SPACE >> 20} MB")
        partial = Path(tempfile.mkdtemp(prefix=f"partial-{what}-", dir=self.path))
        try:
            if given:
                give_to_server_user(partial)
            yield partial
        finally:
            shutil.rmtree(partial, ignore_errors=True)

    def server_folder(self, place: Path) -> Path:
        """Return a folder with access for the server's user only; create it if it is missing."""
        with suppress(FileExistsError):
            place.mkdir(mode=0o700)
        if place.lstat().st_uid == os.geteuid():
            give_to_server_user(place)
        status = place.lstat()
        if place.is_symlink() or status.st_uid != server_owner() or status.st_mode & 0o077:
            raise DatabaseError(f"{place} is not a folder of {_user(server_owner())} alone; remove it")
        return place


def open_folder(folder: Path) -> MemoryFolder:
    """Return the folder at a path, created if it is missing; raise an error if it cannot contain a memory."""
    path = Path(os.path.abspath(folder.expanduser()))
    with os_errors(f"{path} cannot be used: {{why}}; make it yours to write, or name another", DatabaseError):
        if path.is_symlink():
            raise UsageError(f"{path} is a symbolic link; name the folder that it leads to: {path.resolve()}")
        path = path.parent.resolve() / path.name
        _check_path(path)
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        _check_owner(path)
        _check_content(path)
        if os.geteuid() == 0 and path.stat().st_mode & 0o111 != 0o111:
            path.chmod(path.stat().st_mode | 0o111)  # the server's user needs to traverse it
    return MemoryFolder(path)


def _check_path(path: Path) -> None:
    if len(os.fsencode(path)) > LONGEST:
        raise UsageError(f"the path {str(path)[:40]}… is too long for PostgreSQL; name a shorter one")
    if re.search(r"[:\x00-\x1f]", str(path)):
        raise UsageError(f"the path {str(path)!r} has a colon or a control character in it; name another")
    if path.exists() and not path.is_dir():
        raise UsageError(f"{path} is a file, and a memory is a folder; name another")
    if (kind := _file_system(path)) in NETWORK:
        raise UsageError(
            f"{path} lies on a network file system ({kind}), where PostgreSQL may lose data; "
            "name a folder on a local disk"
        )
    if os.geteuid() == 0 and not reachable(path):
        raise UsageError(
            f"PostgreSQL does not run as root, and the user {SERVER_USER} cannot walk to {path}; "
            "name another folder, such as /var/lib/pgmnemo, or run as an ordinary user"
        )


def _file_system(path: Path) -> str:
    """Return the kind of file system that holds `path`."""
    mounts = [part for part in psutil.disk_partitions(all=True) if path.is_relative_to(part.mountpoint)]
    return max(mounts, key=lambda part: len(part.mountpoint)).fstype if mounts else ""


def _check_owner(path: Path) -> None:
    if (owner := path.stat().st_uid) != os.geteuid():
        raise UsageError(f"{path} belongs to {_user(owner)}; open it as that user, or name another folder")
    try:
        pwd.getpwuid(os.geteuid())
    except KeyError:
        raise UsageError(
            f"the user {os.geteuid()} has no name on this machine, which PostgreSQL needs: add a line "
            "for it to /etc/passwd"
        ) from None


def _check_content(path: Path) -> None:
    names = sorted(entry.name for entry in path.iterdir() if not NOBODYS.fullmatch(entry.name))
    if "PG_VERSION" in names:
        raise UsageError(
            f"{path} is a data folder of PostgreSQL itself; give the address of its server, or another folder"
        )
    if names and OPENING_LOCK not in names and RECORD not in names:
        raise UsageError(
            f"{path} holds something else ({', '.join(names[:3])}) and no memory; name a new or empty folder"
        )


def folder_errors(folder: MemoryFolder) -> AbstractContextManager[None]:
    """Convert an error of the operating system in the block into one sentence about the folder."""
    return os_errors(f"{folder.path} cannot be used: {{why}}", DatabaseError)


def major_of(data: Path) -> int:
    """Return the major version of PostgreSQL of a data folder, by its name."""
    return int(data.name.removeprefix("pg"))


def _user(number: int) -> str:
    try:
        return str(pwd.getpwuid(number).pw_name)
    except KeyError:
        return f"user {number}"


def server_owner() -> int:
    """Return the id of the user that the server runs as."""
    return pwd.getpwnam(SERVER_USER).pw_uid if os.geteuid() == 0 else os.geteuid()


def give_to_server_user(path: Path) -> None:
    if os.geteuid() == 0:
        give_to_server(path)


def write_atomically(path: Path, text: str) -> None:
    """Replace the file's content with `text` atomically.

    The server's user may own the folder and put a symbolic link in the file's place: links are not followed.
    """
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    new, flags = f"{path.name}.new", os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    try:
        if _has_content(path.name, folder, text.encode()):
            return
        with suppress(FileNotFoundError):
            os.unlink(new, dir_fd=folder)
        with os.fdopen(os.open(new, flags, MODE, dir_fd=folder), "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fchmod(file.fileno(), MODE)
            os.fsync(file.fileno())
        os.replace(new, path.name, src_dir_fd=folder, dst_dir_fd=folder)
        os.fsync(folder)
    finally:
        os.close(folder)


def _has_content(name: str, folder: int, content: bytes) -> bool:
    """Return whether a regular file with this content and the mode MODE exists."""
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    except OSError:
        return False
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        alike = stat.S_IMODE(status.st_mode) == MODE and status.st_size == len(content)
        return stat.S_ISREG(status.st_mode) and alike and file.read(len(content) + 1) == content


def sync_folder(folder: Path) -> None:
    """Sync a folder's entries to disk, so that they survive a crash of the machine."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def is_last(lock: int) -> bool:
    """Return whether no other process has a shared lock on the same folder; `lock` is exclusive then."""
    return _try_lock(lock, fcntl.LOCK_EX)


def _file(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)


def _free_soon(lock: int, how: int) -> bool:
    """Return whether the lock became free within a second, which another process's opening usually takes."""
    for _ in range(50):
        if _try_lock(lock, how):
            return True
        time.sleep(0.02)
    return False


def _try_lock(lock: int, how: int) -> bool:
    try:
        fcntl.flock(lock, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
