"""Open the channel to a memory's database and check the database, before the first verb."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pgmnemo.client.aio.channel import AsyncChannel
from pgmnemo.client.aio.sources import AsyncOwn, AsyncOwned, AsyncPooled, AsyncSource
from pgmnemo.client.aio.waiting import AsyncConnection, is_pool, run
from pgmnemo.errors import UsageError
from pgmnemo.local import LocalServer
from pgmnemo.probe import ServerInfo, probe
from pgmnemo.progress import Progress
from pgmnemo.server.connections import place
from pgmnemo.server.releases import default_version

GATE = {"gate_strict": "off"}  # in a folder the role has it so


@dataclass(frozen=True, slots=True)
class Started:
    """A channel, the facts about its database, its location, and the role that a folder's tenants are granted
    to (empty: no grants).
    """

    channel: AsyncChannel
    opened: ServerInfo
    place: str
    role: str = ""


async def start(
    given: object, settings: Mapping[str, str], connections: int, patience: float, progress: Progress
) -> Started:
    """Open a resolved place; stop a server that this started if its database cannot be used."""
    if not 1 <= connections <= 1000:
        raise UsageError(f"connections is {connections}, but must be from 1 to 1,000")
    if isinstance(given, Path):
        server = await run(partial(LocalServer.open, given, progress=progress), undo=LocalServer.close)
        own = AsyncOwn(server.conninfo, connections, server)
        return await _started(own, settings, patience, f"the memory in {given}", folder=True)
    if isinstance(given, dict):
        source: AsyncSource = AsyncOwn(given, connections)
        return await _started(source, {**GATE, **settings}, patience, f"the database at {place(given)}")
    if isinstance(given, AsyncConnection):
        source = AsyncOwned(given)
    elif is_pool(given):
        source = AsyncPooled(given)
    else:
        raise UsageError(
            f"{type(given).__name__} does not go with this memory: Memory takes a Connection or a "
            "ConnectionPool, AsyncMemory an AsyncConnection or an AsyncConnectionPool"
        )
    return await _started(source, {**GATE, **settings}, patience, "the given database")


async def _started(
    source: AsyncSource, settings: Mapping[str, str], patience: float, where: str, *, folder: bool = False
) -> Started:
    """Return a server of a folder that dies meanwhile is waited for; an address that does not answer is
    refused.
    """
    waits = patience if folder else 0.0
    first = AsyncChannel(source, {}, waits, where, mend="start it, or correct the DSN")
    try:
        opened = await first.call(probe(where, default_version()))
    except BaseException:  # including a task's cancellation
        await source.close()
        raise
    if isinstance(source, AsyncOwn):
        source.prepare(opened.backend_pid)
    channel = AsyncChannel(source, settings, patience, where)
    return Started(channel, opened, where, opened.role if folder else "")
