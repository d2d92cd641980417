# Made of ../aio/starting.py by `make sync`: edit that one.
"""From a place to a channel whose database was looked at: the one thing that a memory does before its
verbs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pgmnemo.client.sync.channel import Channel, sent
from pgmnemo.client.sync.sources import Own, Owned, Pooled, Source, Unreached
from pgmnemo.client.sync.waiting import Connection, is_pool, run
from pgmnemo.errors import DatabaseError, UsageError
from pgmnemo.local import LocalServer
from pgmnemo.opened import Opened, opening
from pgmnemo.progress import Progress
from pgmnemo.server.connections import database_errors, place, refusal
from pgmnemo.server.releases import default_version

GATE = {"gate_strict": "off"}  # in a folder the role has it so


@dataclass(frozen=True, slots=True)
class Started:
    """A channel, what its database is, where that lies, and the role for which a folder's tenants are granted
    (empty: nothing is granted)."""

    channel: Channel
    opened: Opened
    place: str
    role: str = ""


def start(
    given: object, settings: Mapping[str, str], connections: int, patience: float, progress: Progress
) -> Started:
    """Open what `resolve` made of a place; a server that was started stops again where it will not do."""
    if not 1 <= connections <= 1000:
        raise UsageError(f"connections is {connections}, but must be from 1 to 1,000")
    if isinstance(given, Path):
        server = run(partial(LocalServer.open, given, progress=progress))
        own = Own(server.conninfo, connections, server, prepared=True)
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
    try:
        with database_errors(where), source.connection() as connection:
            opened = sent(connection, opening(where, default_version()))
    except Unreached as error:
        source.close()
        raise refusal(
            error.cause, getattr(source, "conninfo", {}), mend="start it, or correct the DSN"
        ) from None
    except DatabaseError:
        source.close()
        raise
    channel = Channel(source, settings, patience, where)
    return Started(channel, opened, where, opened.role if folder else "")
