"""Retry calls after database errors within a time budget, and convert the last error to the client's classes.

If the server has rolled back (serialization failure, deadlock, shutdown), every call is retried. If the
connection is lost, it is unknown whether the call was done, so only a repeatable call is retried. Each pause
is random between 0 and a limit that doubles (full jitter).
"""

from __future__ import annotations

import random
import select
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from pgmnemo.errors import (
    ConflictError,
    DatabaseError,
    GrantError,
    HiddenError,
    LostError,
    MissingError,
    PgmnemoError,
    RefusedError,
)

if TYPE_CHECKING:
    import psycopg

ROLLED_BACK = {"40001", "40P01", "57P01", "57P03", "57P05"}
FIRST, LONGEST = 0.02, 2.0  # seconds: limits of the first pause, and of any
ERROR_TYPES = {"42501": GrantError, "02000": MissingError, "P0002": MissingError, "55000": HiddenError}
SNAPSHOT_HELP = "call it outside of the transaction, or begin that as REPEATABLE READ"
CALLER_ERRORS = ("22", "23", "0A", "54", "42", "21")  # SQLSTATE classes for an error in the call itself


def is_rolled_back(error: psycopg.Error) -> bool:
    """Return whether the server undid the call for a reason that passes, so that any call can be retried.

    PostgreSQL has no SQLSTATE for a publication that is dropped while a statement looks at it, as the end of
    a tenant's move between shards does. That error is internal, and its text is never translated.
    """
    dropped = error.sqlstate == "XX000" and "cache lookup failed for publication" in str(error)
    return error.sqlstate in ROLLED_BACK or dropped


class RetryTimer:
    """The retries of one call, for at most `retry_timeout` seconds; error messages name the database
    `where`.
    """

    def __init__(
        self,
        retry_timeout: float,
        where: str = "the database",
        clock: Callable[[], float] = time.monotonic,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._clock, self._chance, self._where = clock, chance, where
        self._end = clock() + retry_timeout
        self._limit = FIRST
        self.unsure = False  # whether an earlier try may have succeeded

    def pause(self, error: psycopg.Error, repeatable: bool, *, anew: bool = True, sent: bool = True) -> float:
        """Return the seconds before the next try; raise the client's error if the call is not retried.

        `anew` is False if the connection cannot be replaced, or is in a transaction of the caller's; `sent`
        is False if there was no connection to send the call over.
        """
        wait = self._chance() * self._limit
        self._limit = min(self._limit * 2, LONGEST)
        again = anew and (is_rolled_back(error) or (repeatable and is_lost(error)))
        if not again or self._clock() + wait > self._end:
            raise self._client_error(error, repeatable) from None
        self.unsure = self.unsure or (sent and is_lost(error))
        return wait

    def _client_error(self, error: psycopg.Error, repeatable: bool) -> PgmnemoError:
        """Return the client's error for a database error.

        It is a LostError if an earlier try may have been done, so that no message says that nothing was done.
        """
        made = client_error(error, repeatable, self._where)
        if self.unsure and isinstance(made, DatabaseError) and not isinstance(made, LostError):
            return LostError(f"{made}; an earlier try may have been done: try again", error.sqlstate)
        return made


def is_readable(descriptor: int) -> bool:
    """Return whether a socket has data to read, or is closed by the peer."""
    if not hasattr(select, "poll"):  # Windows, whose select accepts any descriptor
        return bool(select.select([descriptor], [], [], 0)[0])
    asked = select.poll()
    asked.register(descriptor, select.POLLIN)
    return bool(asked.poll(0))


def is_lost(error: psycopg.Error) -> bool:
    """Return whether the connection was lost before an answer arrived."""
    import psycopg

    return isinstance(error, psycopg.OperationalError) and (
        error.sqlstate is None
        or error.sqlstate.startswith("08")
        or error.sqlstate in ("57P01", "57P02", "57P05")
    )


def client_error(error: psycopg.Error, repeatable: bool, where: str) -> PgmnemoError:
    """Return an error of the server as an error of the client, with the server's message and hint."""
    import psycopg

    state, said = error.sqlstate, _sentence(error)
    if state in ("40001", "40P01"):
        return ConflictError(f"others wrote the same until the retries ended ({said}); try again", state)
    if is_lost(error):
        unknown = "; whether it was stored is not known: look, or add with a key, which may be sent again"
        mend = "try again" if repeatable else f"nothing is sent twice without a key{unknown}"
        return LostError(f"the connection to {where} was lost ({said}); {mend}", state)
    if state == "53100":
        return DatabaseError(f"the disk of {where} is full: nothing was stored; free some space there")
    if state == "22P05":
        mend = "write it otherwise, or make a database with ENCODING 'UTF8'"
        return RefusedError(f"a text has a letter that the encoding of {where} lacks ({said}); {mend}", state)
    if state in ("3F000", "42704"):  # a schema, or a type of pgvector's
        return DatabaseError(f"{where} says: {said}; mnemo doctor tells what is wrong there")
    if state == "57014":
        return DatabaseError(f"the call took longer than the server allows ({said}); ask for less at once")
    if state is None and isinstance(error, psycopg.DataError | psycopg.ProgrammingError):
        return RefusedError(f"something that was given cannot be sent: {said}")
    if state == "25001":
        return RefusedError(f"an export sees one moment: {SNAPSHOT_HELP}", state)
    if state == "42883":
        return RefusedError(f"an argument is of another type, or a number too large: {said}", state)
    kind = ERROR_TYPES.get(state or "") or (RefusedError if (state or "XX")[:2] in CALLER_ERRORS else None)
    sentence = said.rstrip(".") + (
        f"; {_hint_text(error.diag.message_hint)}" if error.diag.message_hint else ""
    )
    return kind(sentence, state) if kind else DatabaseError(f"{where} says: {sentence}")


def _sentence(error: psycopg.Error) -> str:
    """Return the server's message on one line, or without one the first line of the error."""
    lines = (error.diag.message_primary or str(error)).strip().splitlines() or ["no answer"]
    return " ".join(lines) if error.diag.message_primary else lines[0]


def _hint_text(hint: str) -> str:
    """Return a hint of PostgreSQL without a capital and a full stop, to end a sentence with."""
    told = " ".join(hint.split()).rstrip(".")
    return told if told[:2].isupper() else told[:1].lower() + told[1:]
