"""The input and the result of a check."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from pgmnemo.errors import PgmnemoError
from pgmnemo.server.installing.target import Target

OK, WARNING, FAULT = "ok", "warning", "fault"


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a check: `what` it checks, the state (OK, WARNING or FAULT), a sentence, and the
    remedy.
    """

    what: str
    state: str
    told: str
    mend: str = ""


def fault(what: str, error: PgmnemoError) -> Finding:
    """Return an error as a finding: its sentence up to the semicolon, and the remedy after it."""
    told, _, mend = str(error).partition("; ")
    return Finding(what, FAULT, told, mend)


@dataclass(frozen=True, slots=True)
class Examined:
    """The database under diagnosis, a `tenant` in it and its name, and the `role` to check for.

    `folder` is the memory's folder, if the database is in one.
    """

    target: Target
    tenant: UUID | None
    role: str
    name: str
    folder: Path | None


Check = Callable[[Examined], Iterator[Finding]]
