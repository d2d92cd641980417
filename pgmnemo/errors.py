"""Errors that a user can cause, one sentence each: what is wrong, where, and how to mend it.

The attributes give each interface its form of an error: `code` is the exit code of a command (2 wrong use, 3
environment), `kind` the word before the sentence, `status` the status of an HTTP response, `rpc` the code of
an error of JSON-RPC. A wrong argument of a tool is an answer with `isError`, as MCP requires since
2025-11-25.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Self
from uuid import UUID


class PgmnemoError(Exception):
    """Base of all errors that a user can cause; the CLI prints `kind` and sentence and exits with `code`."""

    code = 3
    kind = "error"
    status = 503
    rpc = -32603


class UsageError(PgmnemoError):
    """The command or the call is wrong."""

    code = 2
    kind = "wrong use"
    status = 422
    rpc = -32602


class CheckError(PgmnemoError):
    """A failed check of the product or of its stored data."""

    code = 1
    kind = "failed"


class ModelError(PgmnemoError):
    """A model that cannot be loaded or reached, or that answers wrongly."""

    code = 3


class EmbedderError(ModelError):
    """A model that returns no vectors, or invalid vectors."""

    code = 3


class TooLargeError(UsageError):
    """An answer with more bytes than a response may have."""


class DatabaseError(PgmnemoError):
    """No database, no right to make one, no pgvector, or another extension of the same name."""

    code = 3


def with_names(text: str, names: Mapping[UUID | None, str | None]) -> str:
    """Return a text with the uuids that have a name written as that name, in quotes."""
    told = {str(number): repr(name) for number, name in names.items() if number is not None}
    return re.sub("'?([0-9a-f-]{36})'?", lambda found: told.get(found[1], found[0]), text)


class StateError(PgmnemoError):
    """An error of the database, with its SQLSTATE."""

    def __init__(self, sentence: str, sqlstate: str | None = None) -> None:
        super().__init__(sentence)
        self.sqlstate = sqlstate

    def with_names(self, names: Mapping[UUID | None, str | None]) -> Self:
        """Return the same error with uuids written as the names that the caller uses."""
        other = type(self)(with_names(str(self), names), self.sqlstate)
        for note in getattr(self, "__notes__", ()):
            other.add_note(note)
        return other


class RefusedError(StateError, UsageError):
    """The extension or the database refused an argument; nothing was changed."""

    code = 2


class MissingError(RefusedError):
    """A named lesson does not exist."""

    status = 404


class HiddenError(RefusedError):
    """An existing lesson is in the way: hidden by the gate, forgotten, or already superseded."""

    status = 409


class GrantError(StateError, DatabaseError):
    """The role that logs in has no grant for the tenant, or another right is missing."""

    status = 403
    rpc = -32602


class ConflictError(StateError, DatabaseError):
    """Others wrote the same rows until the retries ended; nothing was done."""

    status = 409


class LostError(StateError, DatabaseError):
    """The connection was lost; whether a call without a key was done is not known."""


class OutputError(PgmnemoError):
    """A results folder that cannot be written, or a full disk."""

    code = 3


class UnknownScriptWarning(UserWarning):
    """A text is in a script unknown to the embedder: only its words find it."""


class ForeignProjectWarning(UserWarning):
    """Imported lessons are in projects that another tenant named, and no name reaches them here."""


@contextmanager
def os_errors(sentence: str, kind: type[PgmnemoError] = OutputError) -> Iterator[None]:
    """Convert an OSError in the block into an error of the class `kind` with the message `sentence`.

    `{why}` in the sentence is replaced by the reason that the operating system gives.
    """
    try:
        yield
    except OSError as error:
        raise kind(sentence.replace("{why}", str(error.strerror))) from None
