# Made of ../aio/connect.py by tools/sync_client.py: edit that one.
"""Open the database of a memory and check it, before the first verb."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pgmnemo.client.sync.concurrency import Connection, is_pool, run_blocking
from pgmnemo.client.sync.connections import (
    BorrowedConnection,
    BorrowedPool,
    ConnectionSource,
    InternalPool,
)
from pgmnemo.client.sync.executor import Executor
from pgmnemo.errors import UsageError
from pgmnemo.postgres.connections import dsn_label
from pgmnemo.postgres.embedded import EmbeddedServer
from pgmnemo.postgres.releases import default_version
from pgmnemo.probe import ServerInfo, probe
from pgmnemo.progress import Progress

GATE_OFF = {"gate_strict": "off"}  # the role of a folder has this setting already


@dataclass(frozen=True, slots=True)
class OpenedDatabase:
    """An executor, the facts about its server, its location, and the role that a folder's tenants are granted
    to (empty: no grants).
    """

    executor: Executor
    server: ServerInfo
    place: str
    role: str = ""


def open_database(
    given: object, settings: Mapping[str, str], connections: int, retry_timeout: float, progress: Progress
) -> OpenedDatabase:
    """Open the database at a resolved place.

    If the database cannot be used, stop the server that this call has started.
    """
    if not 1 <= connections <= 1000:
        raise UsageError(f"connections is {connections}, but must be from 1 to 1,000")
    if isinstance(given, Path):
        server = run_blocking(
            partial(EmbeddedServer.open, given, progress=progress), undo=EmbeddedServer.close
        )
        own = InternalPool(server.conninfo, connections, server)
        return _open_and_probe(own, settings, retry_timeout, f"the memory in {given}", folder=True)
    if isinstance(given, dict):
        source: ConnectionSource = InternalPool(given, connections)
        return _open_and_probe(
            source, {**GATE_OFF, **settings}, retry_timeout, f"the database at {dsn_label(given)}"
        )
    if isinstance(given, Connection):
        source = BorrowedConnection(given)
    elif is_pool(given):
        source = BorrowedPool(given)
    else:
        raise UsageError(
            f"{type(given).__name__} does not go with this memory: Memory takes a Connection or a "
            "ConnectionPool, Memory an Connection or an ConnectionPool"
        )
    return _open_and_probe(source, {**GATE_OFF, **settings}, retry_timeout, "the given database")


def _open_and_probe(
    source: ConnectionSource,
    settings: Mapping[str, str],
    retry_timeout: float,
    where: str,
    *,
    folder: bool = False,
) -> OpenedDatabase:
    """Check the database and return it.

    A folder's server that dies meanwhile is awaited; an address that does not answer is an error at once.
    """
    waits = retry_timeout if folder else 0.0
    first = Executor(source, {}, waits, where, remedy="start it, or correct the DSN")
    try:
        opened = first.call(probe(where, default_version()))
    except BaseException:  # including a task's cancellation
        source.close()
        raise
    if isinstance(source, InternalPool):
        source.enable_prepared(opened.backend_pid)
    channel = Executor(source, settings, retry_timeout, where)
    return OpenedDatabase(channel, opened, where, opened.role if folder else "")
