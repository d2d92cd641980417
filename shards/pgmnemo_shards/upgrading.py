"""Upgrade shards and router to the extension's release and to this package's objects, while calls continue.

Shards are upgraded first: each gets the functions of the new release and keeps those that the router still
calls. Then the router calls the new functions; the old functions are dropped once no earlier call can still
use them. Calls of a shard wait while it is upgraded; no call finds the extension half changed.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from psycopg import errors, sql

from pgmnemo.errors import DatabaseError
from pgmnemo.paths import SQL_FOLDER, release_numbers
from pgmnemo.postgres.connections import database_errors
from pgmnemo.postgres.extension import installed_versions
from pgmnemo.postgres.server_checks import Session, check_available, value
from pgmnemo_shards.copying import OWNER
from pgmnemo_shards.directory import moves, shards
from pgmnemo_shards.installing import create_router_objects, create_shard_objects, shard_session
from pgmnemo_shards.shard_functions import argument_types
from pgmnemo_shards.verbs import verbs

LOCK_TIMEOUT = "10s"  # time for running calls on a shard, and moves, to end
DRAIN_TIMEOUT = 10.0  # seconds for earlier calls on the router to end
LOCK_SHARD = "LOCK TABLE pgmnemo_shard.identity, pgmnemo_shard.away IN ACCESS EXCLUSIVE MODE"
# The tables are in the order in which calls read them, which prevents deadlocks.
LOCK_DIRECTORY = """
LOCK TABLE directory.tenant, directory.shard, directory.replica, directory.move, directory.moved
    IN ACCESS EXCLUSIVE MODE
"""
SHARD_FUNCTIONS = """
SELECT p.oid::regprocedure::text, p.proname,
       array(SELECT format_type(t, NULL) FROM unnest(p.proargtypes) AS t)
  FROM pg_proc p
 WHERE p.pronamespace = 'pgmnemo_shard'::regnamespace AND NOT starts_with(p.proname, '_')
   AND 'jsonb'::regtype = ANY (p.proargtypes)
"""
COUNT_OLDER = """
SELECT count(*) FROM pg_stat_activity
 WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()
   AND xact_start < %s
"""
SELECT_ADDRESS = "SELECT address, capacity FROM directory.shard WHERE name = %s"
UPDATE_IDENTITY = "UPDATE pgmnemo_shard.identity SET address = %s, capacity = %s"
RECREATED = ("move", "moved")  # tables of the directory that may have other columns in another release
COMMON = """
SELECT string_agg(quote_ident(a.attname), ', ')
  FROM pg_attribute a JOIN pg_attribute b USING (attname)
 WHERE a.attrelid = %s::regclass AND b.attrelid = %s::regclass AND a.attnum > 0 AND b.attnum > 0
   AND NOT a.attisdropped AND NOT b.attisdropped
"""
Say = Callable[[str], None]


def upgrade(router: Session, version: str, say: Say = lambda text: None) -> None:
    """Upgrade all shards, then the router, to `version`.

    Existing functions are replaced. Raise DatabaseError if moves are unfinished, or a shard cannot be
    upgraded.
    """
    known = shards(router)
    if left := moves(router):
        raise DatabaseError(f"{len(left)} moves are not done; run pgmnemo-shards recover first")
    for shard in known.values():  # all shards are checked before the first change
        with shard_session(shard.name, shard.operator) as session:
            _check(session, shard.name, version)
    for shard in known.values():
        with shard_session(shard.name, shard.operator) as session:
            before = _upgrade_shard(session, shard.name, version)
            session.execute(UPDATE_IDENTITY, router.execute(SELECT_ADDRESS, (shard.name,)).fetchone())
        say(f"shard {shard.name}: pgmnemo {before} is {version} now")
    first = next(iter(known.values()))
    with shard_session(first.name, first.operator) as example:
        _upgrade_router(router, example)
    say(f"the router calls pgmnemo {version}")
    if not _wait_for_older_transactions(router):
        say("earlier calls still run: the functions that they use stay until the next upgrade")
        return
    for shard in known.values():
        with shard_session(shard.name, shard.operator) as session:
            for signature in _obsolete_functions(session):
                session.execute(f"DROP FUNCTION {signature}".encode())


def _check(session: Session, name: str, version: str) -> None:
    found = installed_versions(session).pgmnemo or "0"
    if release_numbers(found) > release_numbers(version):
        raise DatabaseError(
            f"shard {name} has pgmnemo {found}, which is newer than {version}: "
            "install the package from a newer checkout"
        )
    check_available(session, f"shard {name}", version, SQL_FOLDER)


def _upgrade_shard(session: Session, name: str, version: str) -> str:
    """Upgrade the extension and the router's functions in one transaction, while calls wait.

    Return the version before.
    """
    before = str(installed_versions(session).pgmnemo)
    with session.transaction():
        _execute_locked(session, LOCK_SHARD, f"a call on shard {name}")
        if before != version:
            session.execute(sql.SQL("SET LOCAL ROLE {}").format(sql.Identifier(value(session, OWNER))))
            session.execute(sql.SQL("ALTER EXTENSION pgmnemo UPDATE TO {}").format(sql.Literal(version)))
            session.execute("RESET ROLE")
        create_shard_objects(session)
        for signature in _obsolete_functions(session):  # the script has revoked EXECUTE from PUBLIC
            session.execute(f"GRANT EXECUTE ON FUNCTION {signature} TO PUBLIC".encode())
    return before


def _obsolete_functions(session: Session) -> list[str]:
    """Return the signatures of the router's functions that belong to no current verb."""
    wanted = {verb.name: argument_types(verb) for verb in verbs(session)}
    rows = session.execute(SHARD_FUNCTIONS).fetchall()
    return [signature for signature, name, types in rows if types != wanted.get(name)]


def _upgrade_router(router: Session, example: Session) -> None:
    with database_errors("the router"), router.transaction():
        _execute_locked(router, LOCK_DIRECTORY, "a call or a move")
        for table in RECREATED:
            router.execute(f"ALTER TABLE directory.{table} RENAME TO {table}_before".encode())
        create_router_objects(router, example)
        for table in RECREATED:
            new, old = f"directory.{table}", f"directory.{table}_before"
            columns = value(router, COMMON, new, old)
            router.execute(f"INSERT INTO {new} ({columns}) SELECT {columns} FROM {old}".encode())
            router.execute(f"DROP TABLE {old}".encode())


def _execute_locked(session: Session, statement: str, what: str) -> None:
    try:
        session.execute(f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT}'".encode())
        session.execute(statement.encode())
    except errors.LockNotAvailable:
        raise DatabaseError(
            f"{what} did not end within {LOCK_TIMEOUT}; what was upgraded before it stays so: "
            "run upgrade again"
        ) from None


def _wait_for_older_transactions(router: Session) -> bool:
    """Wait for the router's earlier transactions to end; return whether all have ended."""
    now, deadline = value(router, "SELECT clock_timestamp()"), time.monotonic() + DRAIN_TIMEOUT
    while value(router, COUNT_OLDER, now):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True
