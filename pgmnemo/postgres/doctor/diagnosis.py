"""Run every check, each in its own read-only transaction, so that a failure affects only that check."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

from psycopg import errors

from pgmnemo.errors import DatabaseError
from pgmnemo.postgres.connections import connect, database_errors, dsn_label
from pgmnemo.postgres.doctor import access, database, index_health
from pgmnemo.postgres.doctor.finding import FAULT, WARNING, Check, DoctorFinding, DoctorTarget, fault_finding
from pgmnemo.postgres.install.target import InstallTarget
from pgmnemo.postgres.releases import default_version

READ_ONLY = "SET TRANSACTION READ ONLY; SET LOCAL statement_timeout = '60s'"
CHECKS: Mapping[str, Check] = {
    "server": database.server, "encoding": database.encoding, "pooler": database.pooler,
    "clock": database.clock, "pgvector": database.pgvector, "pgmnemo": database.pgmnemo,
    "functions": database.functions,
    "owner": access.owner, "role": access.role, "grants": access.grants, "settings": access.settings,
    "index": index_health.index, "postings": index_health.postings, "vectors": index_health.vectors,
    "meaning": index_health.meaning, "language": index_health.language, "tables": index_health.tables,
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
) -> list[DoctorFinding]:
    """Return the findings on a database, for `role` (default: the login) and for a tenant if given.

    Remedies call the tenant by `name` (default: its uuid) and, for a memory in a `folder`, are commands.
    The checks only read. A fault that a user can cause is a finding; it raises no error.
    """
    where = f"the database at {dsn_label(conninfo)}"
    try:
        with connect(conninfo, mend="start it, or correct the DSN") as session:
            session.prepare_threshold = None  # a pooler may be in between
            target = InstallTarget(session, where, default_version())
            return _findings(
                DoctorTarget(target, tenant, role or session.info.user, name or str(tenant), folder)
            )
    except DatabaseError as error:
        return [fault_finding("server", error)]


def _findings(examined: DoctorTarget) -> list[DoctorFinding]:
    found: list[DoctorFinding] = []
    for what, check in CHECKS.items():
        told = _finding_of(what, check, examined)
        found += told
        if what in FIRST and any(finding.state == FAULT for finding in told):
            break
    return found


def _finding_of(what: str, check: Check, examined: DoctorTarget) -> list[DoctorFinding]:
    target = examined.target
    try:
        with database_errors(target.where), target.transaction():
            target.execute(READ_ONLY)
            try:
                return list(check(examined))
            except errors.QueryCanceled:
                return [DoctorFinding(what, WARNING, "there is too much to look at in a minute")]
    except DatabaseError as error:
        return [fault_finding(what, error)]
