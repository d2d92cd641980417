"""Server, pooler, clock, pgvector and pgmnemo: what everything else rests on."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from pgmnemo.opened import judge, update
from pgmnemo.places import SQL_FOLDER, release
from pgmnemo.server.doctor.finding import FAULT, OK, WARNING, Examined, Finding
from pgmnemo.server.extension import fingerprint
from pgmnemo.server.installing.ways import way_of
from pgmnemo.server.releases import release_fingerprints
from pgmnemo.server.server_checks import MIN_PGVECTOR, check_server, dotted, server_version

APART = timedelta(seconds=2)  # by which two clocks may differ


def server(examined: Examined) -> Iterator[Finding]:
    target = examined.target
    check_server(target.session, target.where)
    yield Finding("server", OK, f"PostgreSQL {server_version(target.session)}, {target.where}")


def pooler(examined: Examined) -> Iterator[Finding]:
    """A pooler makes up the number of the process that it stands for; its mode it tells nobody."""
    session = examined.target.session
    if examined.target.ask("SELECT pg_backend_pid()") != session.info.backend_pid:
        told = "a pooler is between, perhaps in transaction mode: the client prepares no statements"
        yield Finding("pooler", OK, told)


def clock(examined: Examined) -> Iterator[Finding]:
    before = datetime.now(UTC)
    there = examined.target.ask("SELECT clock_timestamp()")
    yield compared(before, there, datetime.now(UTC))


def compared(before: datetime, there: datetime, after: datetime) -> Finding:
    """The server's clock, which was read between two looks at our own."""
    apart = max(before - there, there - after, timedelta())
    if apart <= APART:
        return Finding("clock", OK, "the clocks of server and client agree")
    told = f"the clocks of server and client differ by {apart.total_seconds():,.0f} s, and so do times"
    return Finding("clock", WARNING, told, "set both by NTP")


def pgvector(examined: Examined) -> Iterator[Finding]:
    version = examined.target.ask("SELECT extversion FROM pg_extension WHERE extname = 'vector'")
    if version is None:
        yield Finding("pgvector", FAULT, "there is no pgvector in the database", "mnemo init --dsn")
    elif release(version) < MIN_PGVECTOR:
        told = f"pgvector is {version}: before {dotted(MIN_PGVECTOR)} every scope is read exactly"
        mend = "install a later one on the server and run ALTER EXTENSION vector UPDATE"
        yield Finding("pgvector", WARNING, told, mend)
    else:
        yield Finding("pgvector", OK, f"pgvector {version} in the schema {examined.target.vector_schema}")


def pgmnemo(examined: Examined) -> Iterator[Finding]:
    target = examined.target
    seen = target.seen()
    opened = judge(seen, target.where, target.version)
    told = f"pgmnemo {opened.version} of role {target.owner}, installed as {way_of(target, seen)}"
    if release(opened.version) < release(target.version):
        yield Finding("pgmnemo", WARNING, f"{told}, older than {target.version}", update(opened.how))
    else:
        yield Finding("pgmnemo", OK, told)


def functions(examined: Examined) -> Iterator[Finding]:
    """Whether what is installed does what a release does."""
    version = examined.target.seen().version or ""
    known, found = release_fingerprints(SQL_FOLDER), fingerprint(examined.target.session)
    if version == examined.target.version and version not in known:
        yield Finding("functions", OK, f"those of {version}, a version in development ({found[:12]})")
    elif version not in known:
        yield Finding("functions", WARNING, f"this package knows no release {version} ({found[:12]})")
    elif known[version] != found:
        told = f"the functions are not those of the release {version}: somebody has changed them"
        yield Finding(
            "functions", FAULT, told, "make a new database with mnemo init --dsn and import into it"
        )
    else:
        yield Finding("functions", OK, f"those of the release {version} ({found[:12]})")
