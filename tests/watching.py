"""A plugin for CI that fails a test run if a test connects to a service that no test started.

It listens on the compose service's port, where a service of the machine's user might run, during the tests.
"""

from __future__ import annotations

import os
import socket
import threading
from contextlib import suppress

import psutil
import pytest

from pgmnemo.postgres import discovery


class Watch(threading.Thread):
    """A thread that listens on a port of this machine and never answers; `callers` are the commands of this
    run's processes that connected.
    """

    def __init__(self, port: int) -> None:
        super().__init__(daemon=True)
        self.callers: list[str] = []
        self._server = socket.create_server((discovery.COMPOSE_HOST, port))
        self._held: list[socket.socket] = []  # kept open, so that the caller is there to be looked at

    def run(self) -> None:
        with suppress(OSError):  # stopped
            while True:
                connection, (_, port) = self._server.accept()
                self._held.append(connection)
                self.callers += _ours(port)

    def stop(self) -> None:
        self._server.shutdown(socket.SHUT_RDWR)  # which ends accept
        self.join()
        for one in (self._server, *self._held):
            one.close()


def _ours(port: int) -> list[str]:
    """Return the command of the process that calls from `port`, if it is this process or its descendant."""
    with suppress(psutil.Error):  # gone by now, or not ours to ask
        for one in psutil.net_connections("tcp4"):
            if one.laddr and one.laddr.port == port and one.pid:
                process = psutil.Process(one.pid)
                if os.getpid() in (process.pid, *(parent.pid for parent in process.parents())):
                    return [" ".join(process.cmdline())]
    return []


WATCH = pytest.StashKey[Watch]()


def pytest_configure(config: pytest.Config) -> None:
    if os.environ.get("CI") and not hasattr(config, "workerinput"):  # once for all workers
        with suppress(OSError):  # a service is there, and nobody can tell who asks it
            watch = Watch(int(discovery.COMPOSE_PORT))
            watch.start()
            config.stash[WATCH] = watch


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    if (watch := session.config.stash.get(WATCH, None)) is None:
        return
    watch.stop()
    for caller in watch.callers:
        print(f"\nfailed: {discovery.COMPOSE_HOST}:{discovery.COMPOSE_PORT} was asked by {caller}")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
