"""Start options of a server that keeps what it is given, unlike that of a run which is thrown away.

Durable (fsync, synchronous_commit); sized by the machine's memory after PostgreSQL's own advice: a quarter
for shared_buffers, an eighth for building an index.
"""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path

import psutil

MEGABYTE = 1 << 20
SHARED_MEMORY = Path("/dev/shm")


def durable_settings() -> dict[str, str]:
    """On top of the embedded server's own (server_process.py)."""
    memory = psutil.virtual_memory().total // MEGABYTE
    build = min(max(memory // 8, 64), 8192)
    return {
        "fsync": "on",
        "synchronous_commit": "on",
        "full_page_writes": "on",
        "shared_buffers": f"{min(max(memory // 4, 128), 16384)}MB",
        "effective_cache_size": f"{memory * 5 // 8}MB",
        "maintenance_work_mem": f"{build}MB",
        "max_parallel_maintenance_workers": "2",
        "work_mem": "64MB",
        "max_wal_size": "16GB",
        "checkpoint_timeout": "1h",
        "max_connections": "40",
        "random_page_cost": "1.1",
        "dynamic_shared_memory_type": "posix" if _holds(2 * build * MEGABYTE) else "mmap",
    }


def _holds(amount: int) -> bool:
    """Whether shared memory has room for a parallel index build."""
    with suppress(OSError):
        return shutil.disk_usage(SHARED_MEMORY).free > amount
    return False
