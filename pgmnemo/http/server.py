"""Run an application as an HTTP server, which completes the current requests when a signal stops it."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from pgmnemo.errors import UsageError, os_errors
from pgmnemo.http.client_connections import (
    MAX_CONNECTIONS,
    MAX_HEAD,
    ConnectionLimiter,
    StrictConnection,
    raise_file_limit,
)
from pgmnemo.http.error_response import MALFORMED, SERVER_BUSY
from pgmnemo.http.logs import JsonLogHandler, log_event, log_loop_error
from pgmnemo.http.origin import is_loopback

BACKLOG = 2048  # most connections that wait to be accepted
AT_ONCE = 64  # most connections accepted before older ones are closed
READ_TIMEOUT = 30.0  # seconds in which a client must read the rest of an answer
HEAD_TIMEOUT = 5.0  # seconds in which a client must send the head of each request
LINGER = 1.0  # seconds in which a client that still sends can read a refusal
DISCARDED = 8 << 20  # bytes of a refused body that are read so that its client reads the answer


async def serve(app: Any, host: str, port: int, seconds: float) -> None:
    """Serve until SIGTERM or SIGINT; then requests in progress may take `seconds` longer.

    `port` 0 selects a free port. Raise UsageError if the address is not available.
    """
    with listening_socket(host, port) as listening:
        for name in ("uvicorn", "asyncio"):
            logger = logging.getLogger(name)
            logger.handlers, logger.propagate = [JsonLogHandler()], False
        asyncio.get_running_loop().set_exception_handler(log_loop_error)
        _TimedProtocol.clients = ConnectionLimiter(raise_file_limit())
        config = uvicorn.Config(
            app, loop="none", http=_TimedProtocol, ws="none", lifespan="off", log_config=None,
            log_level="warning", access_log=False, proxy_headers=False, server_header=False,
            h11_max_incomplete_event_size=MAX_HEAD, timeout_graceful_shutdown=int(seconds) + 1,
            backlog=AT_ONCE,
        )  # fmt: skip
        shown = f"[{host}]" if ":" in host else host
        url = f"http://{shown}:{listening.getsockname()[1]}"
        log_event("serving", url=url)
        if sys.stdout.isatty():
            print(f"open {url} in a browser; Ctrl-C stops the server", flush=True)
        await _Server(config).serve([listening])
        log_event("stopped")


@contextmanager
def listening_socket(host: str, port: int) -> Iterator[socket.socket]:
    """Yield a socket that listens on the address.

    The connections that it accepts send each packet at once. asyncio sees to that only for sockets with an
    explicit protocol, and a body behind its head would wait 40 ms for the client's acknowledgement.
    """
    told = f"{host}, port {port}, cannot be served ({{why}}); name another --host or --port"
    if not 0 <= port < 1 << 16:
        raise UsageError(told.format(why="ports go up to 65,535"))
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with os_errors(told, UsageError):
        made = socket.create_server((host, port), family=family, backlog=BACKLOG)
    with made:
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        yield made


def check_has_tokens(host: str, tokens: object) -> None:
    """Raise UsageError if other machines could reach a memory without a token."""
    if tokens is None and not is_loopback(host):
        raise UsageError(
            f"{host} is reached from other machines, and without tokens anybody could read and write; give "
            "--tokens FILE, or serve 127.0.0.1"
        )


class _Server(uvicorn.Server):
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen with the backlog BACKLOG: asyncio would accept as many connections at once as its
        backlog.
        """
        await super().startup(sockets)
        for one in sockets or ():
            one.listen(BACKLOG)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop on SIGTERM and SIGINT; such a stop is not a failure."""
        loop, both = asyncio.get_running_loop(), (signal.SIGTERM, signal.SIGINT)
        for one in both:
            loop.add_signal_handler(one, self.handle_exit, one, None)
        try:
            yield
        finally:
            for one in both:
                loop.remove_signal_handler(one)


class _TimedProtocol(H11Protocol):
    """A protocol that closes a connection if its client is idle or does not read an answer for a while."""

    clients = ConnectionLimiter(MAX_CONNECTIONS)  # replaced by the running server's limiter
    _seen: Any = None
    _look: asyncio.TimerHandle
    _head: asyncio.TimerHandle
    transport: Any

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.conn = StrictConnection(h11.SERVER, MAX_HEAD)

    @property
    def is_idle(self) -> bool:
        """Return whether no request is in progress."""
        return self.cycle is None or self.cycle.response_complete

    def drop(self) -> None:
        """End the connection at once."""
        self.transport.abort()

    def connection_made(self, transport: Any) -> None:
        lingering: Any = _LingeringTransport(transport, self)
        super().connection_made(lingering)
        self._look = self.loop.call_later(READ_TIMEOUT, self._ended_if_idle)
        self._head = self.loop.call_later(HEAD_TIMEOUT, self._ended_without_head)
        if not self.clients.admit(self, self.client[0] if self.client else ""):
            self.transport.write(SERVER_BUSY.raw)
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._look.cancel()
        self._head.cancel()
        self.clients.remove(self)
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        self._head.cancel()
        self._head = self.loop.call_later(HEAD_TIMEOUT, self._ended_without_head)
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse a request that is not valid HTTP, unless its answer has begun, and end the connection."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.write(MALFORMED.raw)
        if self.cycle is not None:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self.transport.linger()

    def _ended_without_head(self) -> None:
        if self.is_idle:
            self.transport.close()

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing() and not self.transport.lingers:
            return
        if not self.transport.lingers:
            super().data_received(data)
        elif not self.transport.discards(len(data)):
            self.transport.pause_reading()

    def eof_received(self) -> None:
        if self.transport.lingers:
            self.transport.abort()

    def _ended_if_idle(self) -> None:
        if self.transport.is_closing() or (self.is_idle and self.cycle is self._seen):
            self.transport.abort()
            return
        self._seen = self.cycle
        self._look = self.loop.call_later(READ_TIMEOUT, self._ended_if_idle)


class _LingeringTransport:
    """A transport that closes its sending side first while a request still arrives (RFC 9112, 9.6).

    Closing a socket with unread bytes resets the connection, and the client can lose the answer.
    """

    lingers = False

    def __init__(self, transport: Any, protocol: H11Protocol) -> None:
        self._transport, self._protocol, self._discarded = transport, protocol, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def is_closing(self) -> bool:
        return self.lingers or self._transport.is_closing()

    def close(self) -> None:
        if self._protocol.conn.their_state is not h11.SEND_BODY or self.is_closing():
            self._transport.close()
        else:
            self.linger()

    def linger(self) -> None:
        """Close the sending side, and read for LINGER seconds."""
        self.lingers = True
        self._transport.write_eof()
        self._transport.resume_reading()
        self._protocol.loop.call_later(LINGER, self._transport.abort)

    def discards(self, length: int) -> bool:
        """Return whether to read and discard the next part of the body."""
        self._discarded += length
        return self._discarded < DISCARDED
