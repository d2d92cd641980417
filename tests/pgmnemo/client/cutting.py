"""A proxy in front of PostgreSQL that cuts connections as a network would."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

SOCKET = ".s.PGSQL.5432"


class CuttingProxy:
    """A proxy between clients and server. After `cut(words)` the next request with these words reaches the
    server, its answer is lost, and the connection is closed.
    """

    def __init__(self, folder: Path, server: str) -> None:
        self.folder, self.server = folder, server
        self.passed: list[bytes] = []  # requests with the words that were last named
        self._words, self._cuts = b"", 0
        self._listening: socket.socket | None = None
        self._threads: list[threading.Thread] = []
        self._open: list[socket.socket] = []

    def cut(self, words: str, times: int = 1) -> None:
        self._words, self._cuts = words.encode(), times
        self.passed = []

    def open(self) -> None:
        """Listen for clients."""
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(self.folder / SOCKET))
        self._listening.listen()
        self._run(self._let_in, self._listening)

    def shut(self) -> None:
        """Stop listening, and close all connections."""
        if self._listening is not None:
            self._drop(self._listening)
            self._listening.close()
            self._listening = None
            (self.folder / SOCKET).unlink()
        self._drop(*self._open)
        for thread in self._threads:
            thread.join()
        self._threads, self._open = [], []

    def _run(self, target: Callable[..., None], *given: object) -> None:
        thread = threading.Thread(target=target, args=given)
        self._threads.append(thread)
        thread.start()

    def _let_in(self, listening: socket.socket) -> None:
        with suppress(OSError):
            while True:
                client = listening.accept()[0]
                server = socket.socket(socket.AF_UNIX)
                server.connect(self.server)
                self._open += [client, server]
                self._run(self._hand_on, client, server)

    def _hand_on(self, client: socket.socket, server: socket.socket) -> None:
        lost, answered = threading.Event(), threading.Event()
        answers = threading.Thread(target=self._answer, args=(server, client, lost, answered))
        answers.start()
        with suppress(OSError):
            while asked := client.recv(1 << 16):
                if self._words and self._words in asked:
                    self.passed.append(asked)
                    if self._cuts:
                        self._cuts -= 1
                        lost.set()
                server.sendall(asked)
                if lost.is_set():
                    answered.wait()
                    break
        self._drop(client, server)
        answers.join()
        client.close()
        server.close()

    def _answer(
        self, server: socket.socket, client: socket.socket, lost: threading.Event, answered: threading.Event
    ) -> None:
        with suppress(OSError):
            while (answer := server.recv(1 << 16)) and not lost.is_set():
                client.sendall(answer)
        answered.set()
        self._drop(client)

    @staticmethod
    def _drop(*sockets: socket.socket) -> None:
        for one in sockets:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


@contextmanager
def proxy(folder: Path, server: str) -> Iterator[CuttingProxy]:
    """Yield a proxy that is open during the block."""
    made = CuttingProxy(folder, server)
    made.open()
    try:
        yield made
    finally:
        made.shut()
