"""Memory and disk that a system holds; memory by what Linux says of its processes, else None.

For a server: proportional set size of all its processes, shared buffers included, which a load fills. For a
library in this process: private memory beyond what there was when the system was opened, and what is
resident of its mapped files.
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
    """Bytes of the server that the backend with this process id belongs to."""
    try:
        postmaster = psutil.Process(backend).parent()
        processes = [postmaster, *postmaster.children()] if postmaster else []
        return sum(_rollup(process.pid)["Pss"] for process in processes) or None
    except (OSError, KeyError, psutil.Error):
        return None


def process_memory(pid: int) -> int | None:
    """Bytes of the process with this id."""
    try:
        return _rollup(pid)["Pss"]
    except (OSError, KeyError):
        return None


def release_free_memory() -> None:
    """Let the allocator return what is free to the system, so that what comes next does not hide in it."""
    gc.collect()
    with suppress(OSError, AttributeError):  # another C library than GNU's has no such call
        ctypes.CDLL(None).malloc_trim(0)


def private_bytes() -> int | None:
    """Return the private anonymous bytes of this process; None if they are not known."""
    try:
        return _rollup("self")["Anonymous"]
    except (OSError, KeyError):
        return None


def mapped_bytes(folder: Path) -> int:
    """Resident bytes of the files under `folder` that this process has mapped."""
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
    """The memory of a library in this process with its files in `folder`, from the time of construction."""

    def __init__(self, folder: Path) -> None:
        release_free_memory()
        self._folder, self._before = folder, private_bytes()

    def bytes(self) -> int | None:
        now = private_bytes()
        if now is None or self._before is None:
            return None
        return max(0, now - self._before) + mapped_bytes(self._folder)


def file_sizes(folder: Path) -> dict[str, int]:
    """Bytes of all files in a folder, by the file or folder right below it."""
    sizes: Counter[str] = Counter()
    for path in folder.rglob("*"):
        if path.is_file():
            sizes[path.relative_to(folder).parts[0]] += path.stat().st_size
    return dict(sorted(sizes.items()))


class InProcessSystem(ClientSystem[C]):
    """A library in this process, with its files in the place's folder."""

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
