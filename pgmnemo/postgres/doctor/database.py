"""Checks of the database itself: server, encoding, pooler, clock, pgvector and pgmnemo."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from pgmnemo.paths import SQL_FOLDER, release_numbers
from pgmnemo.postgres.doctor.finding import FAULT, OK, WARNING, DoctorFinding, DoctorTarget
from pgmnemo.postgres.extension import fingerprint
from pgmnemo.postgres.install.methods import installed_method
from pgmnemo.postgres.install.target import InstallTarget
from pgmnemo.postgres.releases import release_fingerprints
from pgmnemo.postgres.server_checks import MIN_PGVECTOR, check_server, dotted_version, server_version
from pgmnemo.probe import check_compatible, update_command

VECTOR = "SELECT extversion FROM pg_extension WHERE extname = 'vector'"
NAMING = """
SELECT p.prosrc FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
 WHERE n.nspname = 'pgmnemo' AND p.prosrc ~ '[.]l2_norm' ORDER BY p.proname LIMIT 1
"""
SCHEMA = re.compile(r'("(?:[^"]|"")+"|\w+)\.l2_norm')  # of pgvector, as a function's body names it
APART = timedelta(seconds=2)  # accepted difference of two clocks


def server(examined: DoctorTarget) -> Iterator[DoctorFinding]:
    target = examined.target
    check_server(target.session, target.where)
    yield DoctorFinding("server", OK, f"PostgreSQL {server_version(target.session)}, {target.where}")


def encoding(examined: DoctorTarget) -> Iterator[DoctorFinding]:
    """Yield a warning with the limits of a database in an encoding other than UTF8."""
    name = examined.target.fetch_value("SELECT getdatabaseencoding()::text")
    if name == "SQL_ASCII":
        told = "the encoding is SQL_ASCII: words with letters beyond ASCII are found by their vectors alone"
    else:
        told = (
            f"the encoding is {name}: a text with a letter that it lacks is refused, and accents, capitals "
            "and scripts without blanks are found by words only as they are written"
        )
    if name != "UTF8":
        mend = "make a database with ENCODING 'UTF8', export each tenant and import it there"
        yield DoctorFinding("encoding", WARNING, told, mend)


def pooler(examined: DoctorTarget) -> Iterator[DoctorFinding]:
    """Yield a finding if a pooler is in between, which reports a process id of its own."""
    session = examined.target.session
    if examined.target.fetch_value("SELECT pg_backend_pid()") != session.info.backend_pid:
        told = "a pooler is between, perhaps in transaction mode: the client prepares no statements"
        yield DoctorFinding("pooler", OK, told)


def clock(examined: DoctorTarget) -> Iterator[DoctorFinding]:
    before = datetime.now(UTC)
    there = examined.target.fetch_value("SELECT clock_timestamp()")
    yield server_clock(before, there, datetime.now(UTC))


def server_clock(before: datetime, there: datetime, after: datetime) -> DoctorFinding:
    """Return a finding on the server's time `there`, read between two reads of the local clock."""
    apart = max(before - there, there - after, timedelta())
    if apart <= APART:
        return DoctorFinding("clock", OK, "the clocks of server and client agree")
    told = f"the clocks of server and client differ by {apart.total_seconds():,.0f} s, and so do times"
    return DoctorFinding("clock", WARNING, told, "set both by NTP")


def pgvector(examined: DoctorTarget) -> Iterator[DoctorFinding]:
    version = examined.target.fetch_value(VECTOR)
    if version is None:
        yield DoctorFinding("pgvector", FAULT, "there is no pgvector in the database", "mnemo init --dsn")
    elif release_numbers(version) < MIN_PGVECTOR:
        told = f"pgvector is {version}: before {dotted_version(MIN_PGVECTOR)} every scope is read exactly"
        mend = "install a later one on the server and run ALTER EXTENSION vector UPDATE"
        yield DoctorFinding("pgvector", WARNING, told, mend)
    else:
        yield _vector_schema_finding(examined.target)


def _vector_schema_finding(target: InstallTarget) -> DoctorFinding:
    """Return a finding on whether pgvector is in the schema that the extension's functions name."""
    here, body = target.vector_schema, target.fetch_value(NAMING)
    named = SCHEMA.search(body or "")
    if named is None or named[1] == here:
        return DoctorFinding("pgvector", OK, f"pgvector {target.fetch_value(VECTOR)} in the schema {here}")
    told = f"pgvector lies in the schema {here}, and the functions of pgmnemo look for it in {named[1]}"
    if target.fetch_value("SELECT to_regnamespace(%s) IS NULL", named[1]):
        return DoctorFinding("pgvector", FAULT, told, f"ALTER SCHEMA {here} RENAME TO {named[1]}")
    return DoctorFinding("pgvector", FAULT, told, f"ALTER EXTENSION vector SET SCHEMA {named[1]}")


def pgmnemo(examined: DoctorTarget) -> Iterator[DoctorFinding]:
    target = examined.target
    seen = target.catalog_row()
    opened = check_compatible(seen, target.where, target.version)
    told = f"pgmnemo {opened.version} of role {target.owner}, installed as {installed_method(target, seen)}"
    if release_numbers(opened.version) < release_numbers(target.version):
        yield DoctorFinding(
            "pgmnemo", WARNING, f"{told}, older than {target.version}", update_command(opened.installation)
        )
    else:
        yield DoctorFinding("pgmnemo", OK, told)


def functions(examined: DoctorTarget) -> Iterator[DoctorFinding]:
    """Yield a finding on whether the installed functions belong to a release."""
    version = examined.target.catalog_row().version or ""
    known, found = release_fingerprints(SQL_FOLDER), fingerprint(examined.target.session)
    if version == examined.target.version and version not in known:
        yield DoctorFinding("functions", OK, f"those of {version}, a version in development ({found[:12]})")
    elif version not in known:
        yield DoctorFinding("functions", WARNING, f"this package knows no release {version} ({found[:12]})")
    elif known[version] != found:
        told = f"the functions are not those of the release {version}: somebody has changed them"
        yield DoctorFinding(
            "functions", FAULT, told, "make a new database with mnemo init --dsn and import into it"
        )
    else:
        yield DoctorFinding("functions", OK, f"those of the release {version} ({found[:12]})")
