# Made of ../aio/executor.py by tools/sync_client.py: edit that one.
"""Execute calls over a source of connections, with retries if they are safe."""

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
from pgmnemo.client.encodings import transliterate
from pgmnemo.client.retries import RetryTimer
from pgmnemo.client.sync.concurrency import Connection, Cursor, current_loop, fetch_rows, sleep
from pgmnemo.client.sync.connections import ConnectError, ConnectionSource
from pgmnemo.client.vectors import client_adapters
from pgmnemo.errors import UsageError
from pgmnemo.postgres.connections import connect_error

NO_SETTINGS: Mapping[str, str] = MappingProxyType({})
ENCODING_HELP = (
    "half a surrogate pair or a letter that the connection's client_encoding lacks; decode the text anew, or "
    "set that to UTF8"
)


class TypedCursor(Cursor[tuple[Any, ...]]):
    """A cursor that uses this client's type adapters in place of the connection's own."""

    @property
    def adapters(self) -> AdaptersMap:
        return client_adapters()


Ask = Callable[[Call[Any]], Any]
"""Execute a call within a transaction, and return its answer."""


class Executor:
    """An executor that sends calls over a source of connections.

    The `settings` of pgmnemo apply to each call; retries take at most `retry_timeout` seconds. Error messages
    name the database `where`; `remedy` is the advice if it cannot be reached. Without `client_types` values
    use the connection's own types, such as those of NumPy and pgvector.
    """

    def __init__(
        self,
        source: ConnectionSource,
        settings: Mapping[str, str],
        retry_timeout: float,
        where: str,
        remedy: str = "start it, or wait",
        *,
        client_types: bool = True,
    ) -> None:
        self.source, self.settings, self.retry_timeout, self.where = source, settings, retry_timeout, where
        self._mend, self._ours, self._loop = remedy, client_types, current_loop()

    def call(self, call: Call[Answer], more: Mapping[str, str] = NO_SETTINGS) -> Answer:
        """Return the answer to one call of a named tenant; the settings `more` apply only to this call."""
        under = call.with_settings({**self.settings, **more})

        def work(connection: Connection[Any]) -> Answer:
            return execute(connection, under, self._ours)

        return self._with_retries(work, call.repeatable, whole=False)  # type: ignore[no-any-return]

    def transaction(
        self, work: Callable[[Connection[Any]], Any], *, repeatable: bool = True, snapshot: bool = False
    ) -> Any:
        """Return the result of `work`, which sends several calls in one transaction under the settings.

        With `snapshot` all calls read the same snapshot.
        """

        def under(connection: Connection[Any]) -> Any:
            if snapshot:
                connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            for name, value in self.settings.items():
                execute(connection, calls.set_setting(name, value, local=True))
            return work(connection)

        return self._with_retries(under, repeatable, whole=True)

    def _with_retries(self, work: Callable[[Connection[Any]], Any], repeatable: bool, *, whole: bool) -> Any:
        self.check_loop()
        attempts = RetryTimer(self.retry_timeout, self.where)
        while True:
            try:
                with self.source.connection() as connection:
                    if not whole and autocommits(connection):
                        return work(connection)
                    with connection.transaction():
                        return work(connection)
            except ConnectError as error:
                pause = self._connect_pause(attempts, error)
            except UnicodeEncodeError as error:
                raise UsageError(f"a text holds {error.object[error.start]!a}, {ENCODING_HELP}") from None
            except psycopg.Error as error:
                pause = attempts.pause(error, repeatable, anew=self.source.can_reconnect)
            sleep(pause)

    def _connect_pause(self, attempts: RetryTimer, error: ConnectError) -> float:
        """Return the seconds before the next try to connect; raise the connection error at the end."""
        try:
            return attempts.pause(error.cause, repeatable=True, sent=False)
        except Exception:
            if attempts.unsure:
                raise
            raise connect_error(error.cause, getattr(self.source, "conninfo", {}), self._mend) from None

    def copy_staged(
        self,
        opening: Call[Any],
        columns: Mapping[str, str],
        rows: Iterable[Sequence[Any]],
        more: Mapping[str, str] = NO_SETTINGS,
    ) -> dict[str, int]:
        """Store rows of lessons in one transaction, through the staging table that `opening` makes.

        `columns` maps each column to its type, or to an empty text if the value determines it. Return the
        number of lessons by outcome.
        """
        names = ", ".join(f'"{name}"' for name in columns)
        statement = f"COPY lesson_staging ({names}) FROM STDIN (FORMAT binary)".encode()
        kept = list(rows)

        def work(connection: Connection[Any]) -> dict[str, int]:
            for name, value in more.items():
                execute(connection, calls.set_setting(name, value, local=True))
            execute(connection, opening, self._ours)
            with open_cursor(connection, self._ours) as cursor, cursor.copy(statement) as copy:
                if any(columns.values()):
                    copy.set_types(list(columns.values()))
                for row in kept:
                    copy.write_row(row)
            return dict(execute(connection, calls.verb_call("store_staged"), self._ours))

        return self.transaction(work)  # type: ignore[no-any-return]

    def statement(self, text: str) -> None:
        """Execute a statement that runs outside of a transaction, such as VACUUM."""

        def work(connection: Connection[Any]) -> None:
            connection.execute(text.encode())

        self._with_retries(work, True, whole=False)

    @staticmethod
    def execute(connection: Connection[Any], call: Call[Answer]) -> Answer:
        """Return the answer to a call over a connection; psycopg's errors pass through."""
        return execute(connection, call)

    def check_loop(self) -> None:
        """Raise UsageError in another event loop than that in which the memory was opened."""
        if current_loop() is not self._loop:
            raise UsageError(
                f"{self.where} was opened in another event loop; open a memory in each, by Memory.open"
            )

    def close(self) -> None:
        """Close the source."""
        self.source.close()


def autocommits(connection: Connection[Any]) -> bool:
    """Return whether each statement is its own transaction: autocommit is on, and no transaction is open."""
    return connection.autocommit and connection.pgconn.transaction_status == TransactionStatus.IDLE


def open_cursor(connection: Connection[Any], ours: bool) -> Cursor[tuple[Any, ...]]:
    """Return a cursor with this client's type adapters (`ours`) or with the connection's."""
    return (TypedCursor if ours else Cursor)(connection, row_factory=tuple_row)


def execute(connection: Connection[Any], call: Call[Answer], ours: bool = True) -> Answer:
    """Return the answer to a call over a connection; psycopg's errors pass through."""
    cursor = open_cursor(connection, ours)
    if (encoding := connection.info.parameter_status("server_encoding")) not in (None, "UTF8"):
        call = call.encoded(partial(transliterate, encoding))
    return call.decode(fetch_rows(cursor, call.statement.encode(), call.parameters or None))
