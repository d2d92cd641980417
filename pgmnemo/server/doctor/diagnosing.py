"""Run every check, each in its own read-only transaction, so that a failure affects only that check."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

from psycopg import errors

from pgmnemo.errors import DatabaseError
from pgmnemo.server.connections import connect, database_errors, place
from pgmnemo.server.doctor import access, database, upkeep
from pgmnemo.server.doctor.finding import FAULT, WARNING, Check, Examined, Finding, fault
from pgmnemo.server.installing.target import Target
from pgmnemo.server.releases import default_version

READ_ONLY = "SET TRANSACTION READ ONLY; SET LOCAL statement_timeout = '60s'"
CHECKS: Mapping[str, Check] = {
    "server": database.server, "encoding": database.encoding, "pooler": database.pooler,
    "clock": database.clock, "pgvector": database.pgvector, "pgmnemo": database.pgmnemo,
    "functions": database.functions,
    "owner": access.owner, "role": access.role, "grants": access.grants, "settings": access.settings,
    "index": upkeep.index, "postings": upkeep.postings, "vectors": upkeep.vectors, "meaning": upkeep.meaning,
    "language": upkeep.language, "tables": upkeep.tables,
}  # fmt: skip
# After a fault in one of these, the other checks cannot run.
FIRST = ("server", "pgvector", "pgmnemo", "role", "settings")


def diagnose(
    conninfo: Mapping[str, Any],
    *,
    tenant: UUID | None = None,
    role: str | None = None,
    name: str = "",
    folder: Path | None = None,
) -> list[Finding]:
    """Return the findings on a database, for `role` (default: the login) and for a tenant if given.

    Remedies call the tenant by `name` (default: its uuid) and, for a memory in a `folder`, are commands.
    The checks only read. A fault that a user can cause is a finding; it raises no error.
    """
    where = f"the database at {place(conninfo)}"
    try:
        with connect(conninfo, mend="start it, or correct the DSN") as session:
            session.prepare_threshold = None  # a pooler may be between
            target = Target(session, where, default_version())
            return _findings(Examined(target, tenant, role or session.info.user, name or str(tenant), folder))
    except DatabaseError as error:
        return [fault("server", error)]


def _findings(examined: Examined) -> list[Finding]:
    found: list[Finding] = []
    for what, check in CHECKS.items():
        told = _told(what, check, examined)
        found += told
        if what in FIRST and any(finding.state == FAULT for finding in told):
            break
    return found


def _told(what: str, check: Check, examined: Examined) -> list[Finding]:
    target = examined.target
    try:
        with database_errors(target.where), target.transaction():
            target.run(READ_ONLY)
            try:
                return list(check(examined))
            except errors.QueryCanceled:
                return [Finding(what, WARNING, "there is too much to look at in a minute")]
    except DatabaseError as error:
        return [fault(what, error)]
