"""The memory and disk use of a system; memory is what Linux reports for its processes, else None.

For a server: the proportional set size of all its processes, including shared buffers, which a load fills.
For a library in this process: the growth of private memory since the system was opened, and the resident part
of its mapped files.
"""

from __future__ import annotations

import ctypes
import gc
import re
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import psutil

from runner.systems.system import C, ClientSystem, SystemContext

KILOBYTES = re.compile(r"^(?P<name>\w+): +(?P<value>\d+) kB", re.MULTILINE)
MAPPING = re.compile(r"^[0-9a-f]+-[0-9a-f]+ \S+ \S+ \S+ \S+ +(?P<path>/.*)$")


def server_memory(backend: int) -> int | None:
    """Return the bytes of memory of the server to which the backend with this process id belongs.

    Returns None if unknown.
    """
    try:
        postmaster = psutil.Process(backend).parent()
        processes = [postmaster, *postmaster.children()] if postmaster else []
        return sum(_rollup(process.pid)["Pss"] for process in processes) or None
    except (OSError, KeyError, psutil.Error):
        return None


def process_memory(pid: int) -> int | None:
    """Return the bytes of memory of the process with this id; None if unknown."""
    try:
        return _rollup(pid)["Pss"]
    except (OSError, KeyError):
        return None


def release_free_memory() -> None:
    """Return free memory to the operating system, so that later growth is visible."""
    gc.collect()
    with suppress(OSError, AttributeError):  # only GNU's C library has this call
        ctypes.CDLL(None).malloc_trim(0)


def private_bytes() -> int | None:
    """Return the private anonymous bytes of this process; None if unknown."""
    try:
        return _rollup("self")["Anonymous"]
    except (OSError, KeyError):
        return None


def mapped_bytes(folder: Path) -> int:
    """Return the resident bytes of the files under `folder` that this process has mapped."""
    try:
        lines = Path("/proc/self/smaps").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return 0
    total, ours = 0, False
    for line in lines:
        if mapping := MAPPING.match(line):
            ours = mapping["path"].startswith(str(folder))
        elif ours and line.startswith("Rss:"):
            total += int(line.split()[1]) << 10
        elif "-" in line.split(" ")[0]:
            ours = False
    return total


class LibraryMemory:
    """The memory of a library in this process with its files in `folder`, since construction."""

    def __init__(self, folder: Path) -> None:
        release_free_memory()
        self._folder, self._before = folder, private_bytes()

    def bytes(self) -> int | None:
        now = private_bytes()
        if now is None or self._before is None:
            return None
        return max(0, now - self._before) + mapped_bytes(self._folder)


def file_sizes(folder: Path) -> dict[str, int]:
    """Return the bytes of all files in a folder, by the file or folder directly below it."""
    sizes: Counter[str] = Counter()
    for path in folder.rglob("*"):
        if path.is_file():
            sizes[path.relative_to(folder).parts[0]] += path.stat().st_size
    return dict(sorted(sizes.items()))


class InProcessSystem(ClientSystem[C]):
    """A library in this process, with its files in the context's folder."""

    def __init__(self, context: SystemContext) -> None:
        super().__init__()
        self.folder, self._memory = context.folder, LibraryMemory(context.folder)

    def sizes(self) -> Mapping[str, int]:
        return file_sizes(self.folder)

    def memory(self) -> int | None:
        return self._memory.bytes()


def _rollup(process: int | str) -> dict[str, int]:
    text = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="utf-8")
    return {match["name"]: int(match["value"]) << 10 for match in KILOBYTES.finditer(text)}
