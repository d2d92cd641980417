"""Sources of connections: a connection of the caller, a pool of the caller, or own connections.

Own connections are made on demand, kept while they are idle, and closed with the memory; there is no
background thread or task.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, nullcontext, suppress
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus

from pgmnemo.client.aio.concurrency import AsyncConnection, Lock, Semaphore, run_blocking
from pgmnemo.client.retries import is_readable
from pgmnemo.errors import UsageError
from pgmnemo.postgres.connections import without_service
from pgmnemo.postgres.embedded import EmbeddedServer

PREPARE_THRESHOLD = 5  # calls of a statement before it is prepared, psycopg's default


class ConnectError(Exception):
    """No connection was made, so nothing was sent; `cause` is psycopg's error."""

    def __init__(self, cause: psycopg.Error) -> None:
        super().__init__(str(cause))
        self.cause = cause


class AsyncBorrowedConnection:
    """A connection of the caller, used by one task at a time; it is never closed or replaced."""

    can_reconnect = False

    def __init__(self, connection: AsyncConnection[Any]) -> None:
        self._connection, self._lock = connection, Lock()

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[AsyncConnection[Any]]:
        async with self._lock:
            yield self._connection

    async def close(self) -> None:
        """Do nothing: the caller closes the connection."""


class AsyncBorrowedPool:
    """A pool of psycopg_pool from the caller, which `close` leaves open."""

    can_reconnect = True

    def __init__(self, pool: Any) -> None:
        self._pool = pool

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[AsyncConnection[Any]]:
        try:
            connection = await self._pool.getconn()
        except psycopg.OperationalError as error:  # including psycopg_pool's PoolTimeout
            raise ConnectError(error) from None
        try:
            yield connection
        finally:
            await self._pool.putconn(connection)

    async def close(self) -> None:
        """Do nothing: the caller closes the pool."""


class AsyncInternalPool:
    """A pool of at most `most` connections to an address or to an embedded server.

    An embedded server that has died is started again.
    """

    can_reconnect = True

    def __init__(
        self,
        conninfo: Mapping[str, Any],
        most: int,
        server: EmbeddedServer | None = None,
    ) -> None:
        self.conninfo, self._server = conninfo, server
        self._prepare: int | None = None
        self._process = os.getpid()
        self._slots = Semaphore(most)
        self._idle: list[AsyncConnection[Any]] = []
        self._open = True

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[AsyncConnection[Any]]:
        if self._process != os.getpid():
            raise UsageError("this memory was opened before the process forked; open one in each process")
        if not self._open:
            raise UsageError("this memory was closed; open it again")
        async with self._slots:
            connection = await self._live_idle() or await self.connect()
            try:
                yield connection
            finally:
                await self._return(connection)

    def enable_prepared(self, backend: int) -> None:
        """Enable prepared statements if the connection's process is the server's own: otherwise a pooler is
        in between, and could send the next statement to another process.
        """
        for connection in self._idle:
            if connection.pgconn.backend_pid == backend:
                self._prepare = connection.prepare_threshold = PREPARE_THRESHOLD

    async def connect(self) -> AsyncConnection[Any]:
        """Return a new connection, after a restart of an embedded server that died.

        Raise ConnectError on failure, and DatabaseError if another memory may lie in the folder's place.
        """
        if self._server is not None:
            await run_blocking(self._server.check_place)
        try:
            try:
                connection = await self._open_connection()
            except psycopg.OperationalError:
                if self._server is None:
                    raise
                await run_blocking(self._server.ensure_running)
                connection = await self._open_connection()
        except psycopg.OperationalError as error:
            raise ConnectError(error) from None
        return connection

    async def _open_connection(self) -> AsyncConnection[Any]:
        with nullcontext() if self._server is None else without_service():
            return await AsyncConnection.connect(
                **self.conninfo, autocommit=True, prepare_threshold=self._prepare
            )

    async def _return(self, connection: AsyncConnection[Any]) -> None:
        """Keep the connection if it is idle and open; a broken connection also closes the idle ones."""
        if connection.closed:
            await self._close_idle()
        elif self._open and connection.pgconn.transaction_status == TransactionStatus.IDLE:
            self._idle.append(connection)
        else:
            await connection.close()

    async def _live_idle(self) -> AsyncConnection[Any] | None:
        """Return an idle connection that the server has not closed; an idle socket is readable only if it
        closes.
        """
        while (connection := self._pop_idle()) is not None:
            if not is_readable(connection.fileno()):
                return connection
            await connection.close()
        return None

    def _pop_idle(self) -> AsyncConnection[Any] | None:
        """Return an idle connection; pop it at once, because another thread may take it after a check."""
        try:
            return self._idle.pop()
        except IndexError:
            return None

    async def _close_idle(self) -> None:
        while (connection := self._pop_idle()) is not None:
            with suppress(psycopg.Error):
                await connection.close()

    async def close(self) -> None:
        """Close idle connections, and release the embedded server; a connection in use is closed on its
        return.

        A forked process has nothing to close.
        """
        self._open = False
        if self._process == os.getpid():
            await self._close_idle()
        if self._server is not None:
            await run_blocking(self._server.close)


AsyncConnectionSource = AsyncBorrowedConnection | AsyncBorrowedPool | AsyncInternalPool
