"""A link to a server that is cut at a message: before it arrives, or before its answer does."""

from __future__ import annotations

import re
import socket
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from select import select
from threading import Thread

from tests.helping import short_base


class Link:
    """Passes a server's socket on. Once `told`, cuts the link at the message of that place among those that
    match: `before` it arrives, or `after`, before its answer does. `gone`: nobody gets through any more.
    """

    def __init__(self, folder: Path, server: Mapping[str, str]) -> None:
        name = f".s.PGSQL.{server['port']}"
        self.conninfo = {**server, "host": str(folder)}
        self._server = str(Path(server["host"]) / name)
        self._door = socket.socket(socket.AF_UNIX)
        self._door.bind(str(folder / name))
        self._door.listen()
        self._told: tuple[re.Pattern[bytes], int, str] | None = None
        self._last = False
        self.gone = self.was_cut = False
        Thread(target=self._open, daemon=True).start()

    def told(self, words: str, when: str, place: int = 0, *, last: bool = False) -> None:
        """`last`: from the cut on the link is gone."""
        self._told, self._last = (re.compile(words.encode()), place, when), last

    def close(self) -> None:
        self.gone = True
        self._door.shutdown(socket.SHUT_RDWR)
        self._door.close()

    def _open(self) -> None:
        while True:
            try:
                client, _ = self._door.accept()
            except OSError:
                return
            Thread(target=self._pass, args=(client,), daemon=True).start()

    def _pass(self, client: socket.socket) -> None:
        with client, socket.socket(socket.AF_UNIX) as server:
            if self.gone:
                return
            server.connect(self._server)
            while True:
                for end in select([client, server], [], [])[0]:
                    block = end.recv(1 << 20)
                    cut = self._cut(block) if end is client else ""
                    if not block or cut == "before":
                        return
                    (server if end is client else client).sendall(block)
                    if cut == "after":
                        server.recv(1 << 20)
                        return

    def _cut(self, block: bytes) -> str:
        if self._told is None or not self._told[0].search(block):
            return ""
        words, place, when = self._told
        self._told = (words, place - 1, when) if place else None
        if place:
            return ""
        self.was_cut, self.gone = True, self._last
        return when


@contextmanager
def linked(server: Mapping[str, str]) -> Iterator[Link]:
    """A link to the server at `server` for the block."""
    with tempfile.TemporaryDirectory(prefix="pgmnemo-l", dir=short_base()) as folder:
        link = Link(Path(folder), server)
        try:
            yield link
        finally:
            link.close()
