"""The input and the result of a check."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from pgmnemo.errors import PgmnemoError
from pgmnemo.postgres.install.target import InstallTarget

OK, WARNING, FAULT = "ok", "warning", "fault"


@dataclass(frozen=True, slots=True)
class DoctorFinding:
    """The result of a check: `what` it checks, the state (OK, WARNING or FAULT), a sentence, and the
    remedy.
    """

    what: str
    state: str
    told: str
    mend: str = ""


def fault_finding(what: str, error: PgmnemoError) -> DoctorFinding:
    """Return an error as a finding: its sentence up to the semicolon, and the remedy after it."""
    told, _, mend = str(error).partition("; ")
    return DoctorFinding(what, FAULT, told, mend)


@dataclass(frozen=True, slots=True)
class DoctorTarget:
    """The database under diagnosis, a `tenant` in it and its name, and the `role` to check for.

    `folder` is the memory's folder, if the database is in one.
    """

    target: InstallTarget
    tenant: UUID | None
    role: str
    name: str
    folder: Path | None


Check = Callable[[DoctorTarget], Iterator[DoctorFinding]]
