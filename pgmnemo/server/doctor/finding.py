"""What a check looks at, and what it tells."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from uuid import UUID

from pgmnemo.errors import PgmnemoError
from pgmnemo.server.installing.target import Target

OK, WARNING, FAULT = "ok", "warning", "fault"


@dataclass(frozen=True, slots=True)
class Finding:
    """`what` was looked at, its state (OK, WARNING or FAULT), what is told of it, and what mends it."""

    what: str
    state: str
    told: str
    mend: str = ""


def fault(what: str, error: PgmnemoError) -> Finding:
    """Return the sentence of an error: what is wrong, and after its semicolon how to mend it."""
    told, _, mend = str(error).partition("; ")
    return Finding(what, FAULT, told, mend)


@dataclass(frozen=True, slots=True)
class Examined:
    """The database, and whose memory in it: that of `tenant`, for `role`."""

    target: Target
    tenant: UUID | None
    role: str


Check = Callable[[Examined], Iterator[Finding]]
