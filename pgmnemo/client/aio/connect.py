"""Open the database of a memory and check it, before the first verb."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pgmnemo.client.aio.concurrency import AsyncConnection, is_pool, run_blocking
from pgmnemo.client.aio.connections import (
    AsyncBorrowedConnection,
    AsyncBorrowedPool,
    AsyncConnectionSource,
    AsyncInternalPool,
)
from pgmnemo.client.aio.executor import AsyncExecutor
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

    executor: AsyncExecutor
    server: ServerInfo
    place: str
    role: str = ""


async def open_database(
    given: object, settings: Mapping[str, str], connections: int, retry_timeout: float, progress: Progress
) -> OpenedDatabase:
    """Open the database at a resolved place.

    If the database cannot be used, stop the server that this call has started.
    """
    if not 1 <= connections <= 1000:
        raise UsageError(f"connections is {connections}, but must be from 1 to 1,000")
    if isinstance(given, Path):
        server = await run_blocking(
            partial(EmbeddedServer.open, given, progress=progress), undo=EmbeddedServer.close
        )
        own = AsyncInternalPool(server.conninfo, connections, server)
        return await _open_and_probe(own, settings, retry_timeout, f"the memory in {given}", folder=True)
    if isinstance(given, dict):
        source: AsyncConnectionSource = AsyncInternalPool(given, connections)
        return await _open_and_probe(
            source, {**GATE_OFF, **settings}, retry_timeout, f"the database at {dsn_label(given)}"
        )
    if isinstance(given, AsyncConnection):
        source = AsyncBorrowedConnection(given)
    elif is_pool(given):
        source = AsyncBorrowedPool(given)
    else:
        raise UsageError(
            f"{type(given).__name__} does not go with this memory: Memory takes a Connection or a "
            "ConnectionPool, AsyncMemory an AsyncConnection or an AsyncConnectionPool"
        )
    return await _open_and_probe(source, {**GATE_OFF, **settings}, retry_timeout, "the given database")


async def _open_and_probe(
    source: AsyncConnectionSource,
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
    first = AsyncExecutor(source, {}, waits, where, remedy="start it, or correct the DSN")
    try:
        opened = await first.call(probe(where, default_version()))
    except BaseException:  # including a task's cancellation
        await source.close()
        raise
    if isinstance(source, AsyncInternalPool):
        source.enable_prepared(opened.backend_pid)
    channel = AsyncExecutor(source, settings, retry_timeout, where)
    return OpenedDatabase(channel, opened, where, opened.role if folder else "")
