# Made of ../aio/starting.py by `make sync`: edit that one.
"""Open the channel to a memory's database and check the database, before the first verb."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pgmnemo.client.sync.channel import Channel
from pgmnemo.client.sync.sources import Own, Owned, Pooled, Source
from pgmnemo.client.sync.waiting import Connection, is_pool, run
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

    channel: Channel
    opened: ServerInfo
    place: str
    role: str = ""


def start(
    given: object, settings: Mapping[str, str], connections: int, patience: float, progress: Progress
) -> Started:
    """Open a resolved place; stop a server that this started if its database cannot be used."""
    if not 1 <= connections <= 1000:
        raise UsageError(f"connections is {connections}, but must be from 1 to 1,000")
    if isinstance(given, Path):
        server = run(partial(LocalServer.open, given, progress=progress), undo=LocalServer.close)
        own = Own(server.conninfo, connections, server)
        return _started(own, settings, patience, f"the memory in {given}", folder=True)
    if isinstance(given, dict):
        source: Source = Own(given, connections)
        return _started(source, {**GATE, **settings}, patience, f"the database at {place(given)}")
    if isinstance(given, Connection):
        source = Owned(given)
    elif is_pool(given):
        source = Pooled(given)
    else:
        raise UsageError(
            f"{type(given).__name__} does not go with this memory: Memory takes a Connection or a "
            "ConnectionPool, Memory an Connection or an ConnectionPool"
        )
    return _started(source, {**GATE, **settings}, patience, "the given database")


def _started(
    source: Source, settings: Mapping[str, str], patience: float, where: str, *, folder: bool = False
) -> Started:
    """Return a server of a folder that dies meanwhile is waited for; an address that does not answer is
    refused.
    """
    waits = patience if folder else 0.0
    first = Channel(source, {}, waits, where, mend="start it, or correct the DSN")
    try:
        opened = first.call(probe(where, default_version()))
    except BaseException:  # including a task's cancellation
        source.close()
        raise
    if isinstance(source, Own):
        source.prepare(opened.backend_pid)
    channel = Channel(source, settings, patience, where)
    return Started(channel, opened, where, opened.role if folder else "")
