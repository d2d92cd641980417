"""Limit the connections of clients, in all and per address, and check the heads of their requests."""

from __future__ import annotations

import resource
from collections import Counter
from typing import Any, Protocol

import h11

MAX_CONNECTIONS = 4096  # connections that are open at once; one address has half of them
OWN_DESCRIPTORS = 128  # descriptors that the server itself needs, for its database, its log and its files
MIN_CONNECTIONS = 16
MAX_HEAD = 32 << 10  # bytes of the lines before a body, or after its last chunk


class ClientConnection(Protocol):
    """A connection of a client.

    `is_idle` is True if it has no request in progress; `drop` ends it.
    """

    @property
    def is_idle(self) -> bool: ...

    def drop(self) -> None: ...


class ConnectionLimiter:
    """The open connections, at most `most`, and at most half of them from one address.

    Over a limit, a new connection replaces the oldest idle connection, so that clients that never complete a
    request head block no other client.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._open: dict[ClientConnection, str] = {}  # oldest first
        self._of: Counter[str] = Counter()

    def admit(self, client: ClientConnection, address: str) -> bool:
        """Return whether a new connection is admitted; an idle connection may be dropped for it."""
        if self._of[address] >= max(1, self.most // 2):
            rivals = [one for one, whose in self._open.items() if whose == address]
        else:
            rivals = list(self._open) if len(self._open) >= self.most else []
        idle = next((one for one in rivals if one.is_idle), None)
        if rivals and idle is None:
            return False
        if idle is not None:
            self.remove(idle)
            idle.drop()
        self._open[client] = address
        self._of[address] += 1
        return True

    def remove(self, client: ClientConnection) -> None:
        """Forget a connection that has ended; ignore an unknown connection."""
        if (address := self._open.pop(client, None)) is not None:
            self._of[address] -= 1
            if not self._of[address]:
                del self._of[address]


def raise_file_limit() -> int:
    """Raise the limit of open files as far as possible, and return the resulting limit of clients."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_CONNECTIONS + OWN_DESCRIPTORS
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return (
        MAX_CONNECTIONS
        if soft == resource.RLIM_INFINITY
        else max(MIN_CONNECTIONS, min(MAX_CONNECTIONS, soft - OWN_DESCRIPTORS))
    )


class StrictConnection(h11.Connection):
    """An HTTP connection that refuses heads and trailers that a proxy may read differently (RFC 9112).

    These have lines that end in only LF or CR, or two lengths of one body. It also refuses those that are
    longer than MAX_HEAD; h11 refuses only those that are too long before their end has arrived.
    """

    def next_event(self) -> Any:
        before = self.trailing_data[0]
        if self.their_state is h11.IDLE:
            _check_head(before)
        event = super().next_event()
        if isinstance(event, h11.Request):
            _check_length(event)
        elif isinstance(event, h11.EndOfMessage):
            read = before[: len(before) - len(self.trailing_data[0])]
            _check_head(read[1:] if len(read) > 1 and read.startswith(b"\n") else read)  # after a chunk's CR
        return event


def _check_head(read: bytes) -> None:
    """Raise h11.RemoteProtocolError for a head or a trailer that is too long, or has a line that ends in
    only LF or CR.
    """
    head, _, _ = read.partition(b"\r\n\r\n")
    if len(head) + 4 > MAX_HEAD:
        raise h11.RemoteProtocolError("the head is too long", error_status_hint=431)
    ends = head.count(b"\r\n")
    if head.count(b"\n") != ends or head.removesuffix(b"\r").count(b"\r") != ends:
        raise h11.RemoteProtocolError("a line ends in LF or CR alone", error_status_hint=400)


def _check_length(head: h11.Request) -> None:
    """Raise h11.RemoteProtocolError for a body with both a length and chunks, or with chunks in HTTP/1.0."""
    names = {name for name, _ in head.headers}
    if b"transfer-encoding" in names and (b"content-length" in names or head.http_version < b"1.1"):
        raise h11.RemoteProtocolError("the length of the body is given twice", error_status_hint=400)
