"""Calls over a source of connections: sent, tried again where that is safe, and errors as one sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

import psycopg
from psycopg.adapt import AdaptersMap
from psycopg.pq import TransactionStatus
from psycopg.rows import tuple_row

from pgmnemo import calls
from pgmnemo.calls import Answer, Call
from pgmnemo.client.aio.sources import AsyncSource, Unreached
from pgmnemo.client.aio.waiting import AsyncConnection, AsyncCursor, loop, rows_of, sleep
from pgmnemo.client.encodings import written_in
from pgmnemo.client.retrying import Attempts
from pgmnemo.client.vectors import ours
from pgmnemo.errors import UsageError
from pgmnemo.server.connections import refusal

NO_MORE: Mapping[str, str] = MappingProxyType({})
NOT_WRITTEN = (
    "half a surrogate pair or a letter that the connection's client_encoding lacks; decode the text anew, or "
    "set that to UTF8"
)


class AsyncOurs(AsyncCursor[tuple[Any, ...]]):
    """A cursor that uses this client's type adapters in place of the connection's own."""

    @property
    def adapters(self) -> AdaptersMap:
        return ours()


class AsyncChannel:
    """A channel to the database. `settings` of pgmnemo apply to each call; retries take at most `patience`
    seconds.

    Messages call the database `where`; `mend` is the remedy if it cannot be reached. Without `ours` values
    use the connection's own types, such as those of NumPy and pgvector.
    """

    def __init__(
        self,
        source: AsyncSource,
        settings: Mapping[str, str],
        patience: float,
        where: str,
        mend: str = "start it, or wait",
        *,
        ours: bool = True,
    ) -> None:
        self.source, self.settings, self.patience, self.where = source, settings, patience, where
        self._mend, self._ours, self._loop = mend, ours, loop()

    async def call(self, call: Call[Answer], more: Mapping[str, str] = NO_MORE) -> Answer:
        """Return the answer to one call of a named tenant; `more` settings hold for this one."""
        under = call.under({**self.settings, **more})

        async def work(connection: AsyncConnection[Any]) -> Answer:
            return await sent(connection, under, self._ours)

        return await self._tried(work, call.repeatable, whole=False)  # type: ignore[no-any-return]

    async def unit(
        self, work: Callable[[AsyncConnection[Any]], Any], *, repeatable: bool = True, snapshot: bool = False
    ) -> Any:
        """Return the result of `work`, which sends several calls in one transaction under the settings.

        With `snapshot` all calls see the same moment.
        """

        async def under(connection: AsyncConnection[Any]) -> Any:
            if snapshot:
                await connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            for name, value in self.settings.items():
                await sent(connection, calls.setting(name, value, local=True))
            return await work(connection)

        return await self._tried(under, repeatable, whole=True)

    async def _tried(
        self, work: Callable[[AsyncConnection[Any]], Any], repeatable: bool, *, whole: bool
    ) -> Any:
        self.check_loop()
        attempts = Attempts(self.patience, self.where)
        while True:
            try:
                async with self.source.connection() as connection:
                    if not whole and commits(connection):
                        return await work(connection)
                    async with connection.transaction():
                        return await work(connection)
            except Unreached as error:
                pause = self._unreached(attempts, error)
            except UnicodeEncodeError as error:
                raise UsageError(f"a text holds {error.object[error.start]!a}, {NOT_WRITTEN}") from None
            except psycopg.Error as error:
                pause = attempts.pause(error, repeatable, anew=self.source.renewed)
            await sleep(pause)

    def _unreached(self, attempts: Attempts, error: Unreached) -> float:
        """Return the pause before the next try to connect; the sentence of a refused connection at the
        end.
        """
        try:
            return attempts.pause(error.cause, repeatable=True, sent=False)
        except Exception:
            if attempts.unsure:
                raise
            raise refusal(error.cause, getattr(self.source, "conninfo", {}), self._mend) from None

    async def stage(
        self,
        opening: Call[Any],
        columns: Mapping[str, str],
        rows: Iterable[Sequence[Any]],
        more: Mapping[str, str] = NO_MORE,
    ) -> dict[str, int]:
        """Store rows of lessons in one transaction, through the staging table that `opening` makes; how many
        lessons of each outcome. `columns` are theirs, each with its type, empty where the value tells it."""
        names = ", ".join(f'"{name}"' for name in columns)
        statement = f"COPY lesson_staging ({names}) FROM STDIN (FORMAT binary)".encode()
        kept = list(rows)

        async def work(connection: AsyncConnection[Any]) -> dict[str, int]:
            for name, value in more.items():
                await sent(connection, calls.setting(name, value, local=True))
            await sent(connection, opening, self._ours)
            async with cursor_of(connection, self._ours) as cursor, cursor.copy(statement) as copy:
                if any(columns.values()):
                    copy.set_types(list(columns.values()))
                for row in kept:
                    await copy.write_row(row)
            return dict(await sent(connection, calls.plain("store_staged"), self._ours))

        return await self.unit(work)  # type: ignore[no-any-return]

    @staticmethod
    async def sent(connection: AsyncConnection[Any], call: Call[Answer]) -> Answer:
        """Return the answer to a call over a connection, within a unit; psycopg's errors pass through."""
        return await sent(connection, call)

    def check_loop(self) -> None:
        """Raise UsageError in another event loop than that in which the memory was opened."""
        if loop() is not self._loop:
            raise UsageError(
                f"{self.where} was opened in another event loop; open a memory in each, by AsyncMemory.open"
            )

    async def close(self) -> None:
        """Let the source go."""
        await self.source.close()


def commits(connection: AsyncConnection[Any]) -> bool:
    """Return whether a statement is a transaction of its own: none is open, and none is begun for it."""
    return connection.autocommit and connection.pgconn.transaction_status == TransactionStatus.IDLE


def cursor_of(connection: AsyncConnection[Any], ours: bool) -> AsyncCursor[tuple[Any, ...]]:
    """Return a cursor with this client's types, or with the connection's."""
    return (AsyncOurs if ours else AsyncCursor)(connection, row_factory=tuple_row)


async def sent(connection: AsyncConnection[Any], call: Call[Answer], ours: bool = True) -> Answer:
    """Return the answer to a call over a connection; psycopg's errors pass through."""
    cursor = cursor_of(connection, ours)
    if (encoding := connection.info.parameter_status("server_encoding")) not in (None, "UTF8"):
        call = call.written(partial(written_in, encoding))
    return call.decode(await rows_of(cursor, call.statement.encode(), call.parameters or None))
