"""Brings shards and router to the extension's release and to what is written here, while calls go on.

Shards first: each gets the doors of the new release beside those that the router still calls. Then the router
calls the new ones; the old ones go once no call of before can be on its way. A shard's calls wait while it is
upgraded; none of them finds the extension half changed.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from psycopg import errors, sql

from pgmnemo.errors import DatabaseError
from pgmnemo.paths import SQL_FOLDER, release_numbers
from pgmnemo.server.connections import database_errors
from pgmnemo.server.extension import installed
from pgmnemo.server.server_checks import Session, check_available, value
from shards.copying import OWNER
from shards.directory import moves, shards
from shards.doors import taken
from shards.installing import at_shard, lay_router, lay_shard
from shards.verbs import verbs

PATIENCE = "10s"  # that calls on a shard, and moves, have to end
QUIET = 10.0  # seconds that calls of before have to end on the router
HOLD = "LOCK TABLE pgmnemo_shard.identity, pgmnemo_shard.away IN ACCESS EXCLUSIVE MODE"
# In the order in which calls read them, so that nobody has one and waits for another.
STILL = """
LOCK TABLE directory.tenant, directory.shard, directory.replica, directory.move, directory.moved
    IN ACCESS EXCLUSIVE MODE
"""
DOORS = """
SELECT p.oid::regprocedure::text, p.proname,
       array(SELECT format_type(t, NULL) FROM unnest(p.proargtypes) AS t)
  FROM pg_proc p
 WHERE p.pronamespace = 'pgmnemo_shard'::regnamespace AND p.proname = ANY (%s)
   AND 'jsonb'::regtype = ANY (p.proargtypes)
"""
OLDER = """
SELECT count(*) FROM pg_stat_activity
 WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()
   AND xact_start < %s
"""
AT = "SELECT address, capacity FROM directory.shard WHERE name = %s"
KNOWN_AS = "UPDATE pgmnemo_shard.identity SET address = %s, capacity = %s"
KEPT = ("move", "moved")  # tables of the directory that may have other columns in another release
COMMON = """
SELECT string_agg(quote_ident(a.attname), ', ')
  FROM pg_attribute a JOIN pg_attribute b USING (attname)
 WHERE a.attrelid = %s::regclass AND b.attrelid = %s::regclass AND a.attnum > 0 AND b.attnum > 0
   AND NOT a.attisdropped AND NOT b.attisdropped
"""
Say = Callable[[str], None]


def upgrade(router: Session, version: str, say: Say = lambda text: None) -> None:
    """Upgrade all shards, then the router, to `version`; existing functions are replaced."""
    known = shards(router)
    if left := moves(router):
        raise DatabaseError(f"{len(left)} moves are not done; run python -m shards recover first")
    for shard in known.values():  # nothing begins before all of them can
        with at_shard(shard.name, shard.operator) as session:
            _check(session, shard.name, version)
    for shard in known.values():
        with at_shard(shard.name, shard.operator) as session:
            before = _upgrade_shard(session, shard.name, version)
            session.execute(KNOWN_AS, router.execute(AT, (shard.name,)).fetchone())
        say(f"shard {shard.name}: pgmnemo {before} is {version} now")
    first = next(iter(known.values()))
    with at_shard(first.name, first.operator) as example:
        _upgrade_router(router, example)
    say(f"the router calls pgmnemo {version}")
    if not _quiet(router):
        say("calls of before are still at work: the doors that they use stay until the next upgrade")
        return
    for shard in known.values():
        with at_shard(shard.name, shard.operator) as session:
            for signature in _old_doors(session):
                session.execute(f"DROP FUNCTION {signature}".encode())


def _check(session: Session, name: str, version: str) -> None:
    found = installed(session).pgmnemo or "0"
    if release_numbers(found) > release_numbers(version):
        raise DatabaseError(
            f"shard {name} has pgmnemo {found}, which is newer than {version}: "
            "install the package from a newer checkout"
        )
    check_available(session, f"shard {name}", version, SQL_FOLDER)


def _upgrade_shard(session: Session, name: str, version: str) -> str:
    """Upgrade the extension and the router's functions in one transaction, while calls wait; return the
    earlier version.
    """
    before = str(installed(session).pgmnemo)
    with session.transaction():
        _held(session, HOLD, f"a call on shard {name}")
        if before != version:
            session.execute(sql.SQL("SET LOCAL ROLE {}").format(sql.Identifier(value(session, OWNER))))
            session.execute(sql.SQL("ALTER EXTENSION pgmnemo UPDATE TO {}").format(sql.Literal(version)))
            session.execute("RESET ROLE")
        lay_shard(session)
        for signature in _old_doors(session):  # the script takes them from everyone
            session.execute(f"GRANT EXECUTE ON FUNCTION {signature} TO PUBLIC".encode())
    return before


def _old_doors(session: Session) -> list[str]:
    """Return the router's functions with other arguments than the current verbs."""
    wanted = {verb.name: taken(verb) for verb in verbs(session)}
    rows = session.execute(DOORS, ([*wanted],)).fetchall()
    return [signature for signature, name, types in rows if types != wanted[name]]


def _upgrade_router(router: Session, example: Session) -> None:
    with database_errors("the router"), router.transaction():
        _held(router, STILL, "a call or a move")
        for table in KEPT:
            router.execute(f"ALTER TABLE directory.{table} RENAME TO {table}_before".encode())
        lay_router(router, example)
        for table in KEPT:
            new, old = f"directory.{table}", f"directory.{table}_before"
            columns = value(router, COMMON, new, old)
            router.execute(f"INSERT INTO {new} ({columns}) SELECT {columns} FROM {old}".encode())
            router.execute(f"DROP TABLE {old}".encode())


def _held(session: Session, statement: str, what: str) -> None:
    try:
        session.execute(f"SET LOCAL lock_timeout = '{PATIENCE}'".encode())
        session.execute(statement.encode())
    except errors.LockNotAvailable:
        raise DatabaseError(
            f"{what} did not end within {PATIENCE}; what was upgraded before it stays so: run upgrade again"
        ) from None


def _quiet(router: Session) -> bool:
    """Return whether no transaction of before now is left on the router."""
    now, deadline = value(router, "SELECT clock_timestamp()"), time.monotonic() + QUIET
    while value(router, OLDER, now):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True
