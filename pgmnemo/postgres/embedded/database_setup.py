"""Create and update the contents of a memory's cluster: the role, the database and the extensions."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
from psycopg import errors, sql
from psycopg.conninfo import make_conninfo

from pgmnemo.errors import DatabaseError
from pgmnemo.paths import SQL_FOLDER, release_numbers
from pgmnemo.postgres.connections import connect_error, database_errors, without_service
from pgmnemo.postgres.embedded.cluster import DATABASE, ROLE, TRIES, Cluster
from pgmnemo.postgres.extension import install
from pgmnemo.postgres.server_checks import Session, value
from pgmnemo.postgres.server_files import check_release
from pgmnemo.postgres.server_process import START_LIMIT, SUPERUSER, identity
from pgmnemo.progress import Progress

# libpq's messages for a server that is starting up or has just stopped.
TRANSIENT_STATES = (
    "starting up", "shutting down", "recovery mode", "not yet accepting", "No such file", "refused",
    "closed the connection", "terminating connection", "reset by peer",
)  # fmt: skip
VERSION = "SELECT extversion FROM pg_extension WHERE extname = 'pgmnemo'"

# pg_upgrade makes its own user the owner of every extension, and no statement changes an extension's owner.
OWNING = f"""
WITH owned AS (UPDATE pg_extension SET extowner = '{ROLE}'::regrole
               WHERE extname = 'pgmnemo' AND extowner <> '{ROLE}'::regrole RETURNING oid)
INSERT INTO pg_shdepend (dbid, classid, objid, objsubid, refclassid, refobjid, deptype)
SELECT d.oid, 'pg_extension'::regclass, owned.oid, 0, 'pg_authid'::regclass, '{ROLE}'::regrole, 'o'
FROM owned, pg_database d WHERE d.datname = current_database()
""".encode()


def try_connect(address: Mapping[str, Any]) -> Session | None:
    """Return a connection, or None if the server does not answer yet; raise DatabaseError for another
    failure.
    """
    try:
        with without_service():
            return psycopg.connect(**address, autocommit=True)
    except psycopg.OperationalError as error:
        if any(words in str(error) for words in TRANSIENT_STATES):
            return None
        raise connect_error(error, address, "the server.log in that folder may tell more") from None


def session(cluster: Cluster, user: str = ROLE, database: str = DATABASE) -> Session:
    """Return a connection to the server, which is started or adopted first.

    Raise DatabaseError if it does not answer within START_LIMIT seconds.
    """
    deadline, pause = time.monotonic() + START_LIMIT, 0.01
    while time.monotonic() < deadline:
        cluster.start()
        if connection := try_connect(cluster.address(user, database)):
            return connection
        time.sleep(pause := min(pause * 1.5, 0.2))
    raise DatabaseError(
        f"the server of {cluster.folder.path} does not answer; {cluster.folder.log} tells more"
    )


def create_missing(cluster: Cluster, version: str) -> None:
    """Create the missing parts; continue an interrupted creation."""
    check_release(SQL_FOLDER, version)
    with session(cluster, SUPERUSER, "postgres") as server, database_errors(str(cluster.folder.path)):
        _make_role(server)
        if not value(server, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = %s)", DATABASE):
            server.execute(f"CREATE DATABASE {DATABASE} OWNER {ROLE}".encode())
    with session(cluster, SUPERUSER) as memory, database_errors(str(cluster.folder.path)):
        memory.execute(f"REVOKE CONNECT ON DATABASE {DATABASE} FROM PUBLIC".encode())
        install(memory, version, ROLE)


def _make_role(server: Session) -> None:
    """Create the ordinary role that owns everything, and turn the provenance gate off for it."""
    if not value(server, "SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = %s)", ROLE):
        server.execute(f"CREATE ROLE {ROLE} LOGIN NOSUPERUSER".encode())
    server.execute(f"ALTER ROLE {ROLE} SET pgmnemo.gate_strict = off".encode())


def update_extension(cluster: Cluster, version: str, progress: Progress) -> None:
    """Install the extension in `version`; update an older version after a dump."""
    where = str(cluster.folder.path)
    found = _version(cluster)
    if found is None:
        raise DatabaseError(f"{where} has lost its extension pgmnemo: bring it back from a backup")
    if release_numbers(found) > release_numbers(version):
        raise DatabaseError(
            f"{where} holds pgmnemo {found}, which is newer than {version}: "
            "install the package from a newer checkout"
        )
    if found == version:
        return
    check_release(SQL_FOLDER, version)
    cluster.install_extension_files()
    dump = _dump(cluster, version)
    with session(cluster) as memory, database_errors(where):
        _update(memory, version)
    progress.say(f"{where}: pgmnemo {found} is now {version}; what was there before is kept in {dump}")


def _version(cluster: Cluster) -> str | None:
    """Return the extension's version; ask again if the server is killed meanwhile."""
    for _ in range(TRIES):
        with suppress(psycopg.OperationalError), session(cluster) as memory:
            version: str | None = value(memory, VERSION)
            return version
    raise DatabaseError(f"the server of {cluster.folder.path} dies again and again; see {cluster.folder.log}")


def _update(memory: Session, version: str) -> None:
    with memory.transaction():
        memory.execute("SET LOCAL lock_timeout = '30s'")
        memory.execute(sql.SQL("ALTER EXTENSION pgmnemo UPDATE TO {}").format(sql.Literal(version)))


def finish_upgrade(cluster: Cluster) -> None:
    """Finish a pg_upgrade: update pgvector to these binaries' version, set the owner, collect statistics."""
    with session(cluster, SUPERUSER) as memory, database_errors(str(cluster.folder.path)):
        with suppress(errors.InvalidParameterValue):  # these binaries have an older version, which also works
            memory.execute("ALTER EXTENSION vector UPDATE")
        with memory.transaction():
            memory.execute("SET LOCAL allow_system_table_mods = on")
            memory.execute(OWNING)
        memory.execute("ANALYZE")


def _dump(cluster: Cluster, version: str) -> Path:
    """Write a dump of the database for pg_restore, and return its path."""
    moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    path = cluster.folder.path / f"before-{version}-{moment}.dump"
    new = path.with_suffix(".dump.new")
    address = make_conninfo("", **cluster.address(SUPERUSER))
    environment = identity()["env"]
    os.close(os.open(new, os.O_CREAT | os.O_WRONLY, 0o600))
    done = subprocess.run(
        [cluster.binaries.program("pg_dump"), "-Fc", "-f", str(new), "-d", address],
        env=environment, capture_output=True, text=True, errors="replace", check=False,
    )  # fmt: skip
    if done.returncode:
        new.unlink()
        reason = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise DatabaseError(f"{cluster.folder.path} was not dumped, so nothing was updated: {reason}")
    with new.open("rb") as file:
        os.fsync(file.fileno())
    return new.rename(path)
