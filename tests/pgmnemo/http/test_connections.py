"""How many connections are open at once, whose goes for a new one, and what a flood of errors writes."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
from collections.abc import Callable

import h11
import pytest

from pgmnemo.http.client_connections import ConnectionLimiter, StrictConnection
from pgmnemo.http.logs import JsonLogHandler, log_loop_error
from pgmnemo.http.server import listening_socket


class One:
    """A connection, of which a request is under way or not."""

    def __init__(self, is_idle: bool = True) -> None:
        self.is_idle, self.dropped = is_idle, False

    def drop(self) -> None:
        self.dropped = True


def test_the_oldest_idle_connection_of_the_same_address_goes_for_a_new_one() -> None:
    held, busy, idle, other = ConnectionLimiter(4), One(False), One(), One()
    assert held.admit(busy, "a")
    assert held.admit(idle, "a")
    assert held.admit(other, "b")
    newest = One(False)
    assert held.admit(newest, "a")
    assert (busy.dropped, idle.dropped, other.dropped) == (False, True, False)
    assert not held.admit(One(), "a")  # both of its own are busy
    held.remove(busy)
    assert held.admit(One(), "a")


def test_where_all_are_taken_the_oldest_idle_one_of_anybody_goes() -> None:
    held, ones = ConnectionLimiter(4), [One() for _ in range(4)]
    for address, one in zip("abcd", ones, strict=True):
        assert held.admit(one, address)
    assert held.admit(One(), "e")
    assert [one.dropped for one in ones] == [True, False, False, False]
    held.remove(ones[0])  # it has left already


def test_a_flood_of_one_error_is_a_line_a_second(told: Callable[[], str]) -> None:
    logger, lines = logging.getLogger("asyncio"), JsonLogHandler()
    before, logger.handlers, logger.propagate = logger.handlers, [lines], False
    try:
        for number in range(1000):
            log_loop_error(
                asyncio, {"message": "socket.accept() out of system resource", "exception": OSError(number)}
            )
        logger.warning("another")
        lines._told.clear()
        logger.error("socket.accept() out of system resource\n<socket secret>")
    finally:
        logger.handlers, logger.propagate = before, True
    found = [json.loads(line) for line in told().splitlines()]
    flood = "socket.accept() out of system resource"
    assert [one["event"] for one in found] == [flood, "another", flood]
    assert (found[0]["fault"], found[2]["times"]) == ("OSError", 1000)


def read_whole(*parts: bytes) -> list[type]:
    """Return the kinds of the events of one request, read in parts."""
    connection, kinds = StrictConnection(h11.SERVER), []
    for part in (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", *parts):
        connection.receive_data(part)
        while (event := connection.next_event()) not in (h11.NEED_DATA, h11.PAUSED):
            kinds.append(type(event))
    return kinds


@pytest.mark.parametrize("parts", [(b"1\r\na\r\n0\r\n\r\n",), (b"1\r\na\r", b"\n0\r\nb: c\r\n\r\n")])
def test_a_chunked_body_is_read(parts: tuple[bytes, ...]) -> None:
    assert read_whole(*parts) == [h11.Request, h11.Data, h11.EndOfMessage]


@pytest.mark.parametrize(
    "parts",
    [(b"0\r\n\n",), (b"0\r\n", b"\n"), (b"0\r\nb: c\n\n",), (b"1\r\na\r\n0\r\nb: c\nd: e\r\n\r\n",)],
)
def test_a_trailer_with_bare_line_ends_is_refused(parts: tuple[bytes, ...]) -> None:
    with pytest.raises(h11.RemoteProtocolError, match="LF or CR alone"):
        read_whole(*parts)


def test_a_body_is_sent_at_once_behind_its_head() -> None:
    with listening_socket("127.0.0.1", 0) as listening, socket.create_connection(listening.getsockname()):
        accepted, _ = listening.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
