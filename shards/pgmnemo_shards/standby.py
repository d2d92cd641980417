"""Operations with standby servers: a replica replaces its shard, and backups share one restore point."""

from __future__ import annotations

from contextlib import ExitStack

from psycopg import errors
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from pgmnemo.errors import DatabaseError, UsageError
from pgmnemo.postgres.connections import database_errors
from pgmnemo.postgres.server_checks import Session, value
from pgmnemo_shards.directory import shard_named, shards
from pgmnemo_shards.installing import open_operator, shard_session

REPLICAS = "SELECT name, address FROM directory.replica WHERE shard = %s ORDER BY name"
RECEIVED = """
SELECT CASE WHEN pg_is_in_recovery()
            THEN greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()) - '0/0'::pg_lsn
            ELSE 'Infinity' END
"""
PROMOTED = "SELECT CASE WHEN pg_is_in_recovery() THEN pg_promote(true, 60) ELSE true END"
PLACES = ("host", "hostaddr", "port", "dbname", "service")
REPLACE_SHARD = (
    "UPDATE directory.shard SET address = %(address)s, operator = %(operator)s WHERE name = %(shard)s",
    "DELETE FROM directory.replica WHERE shard = %(shard)s",
    "DELETE FROM directory.beat WHERE shard = %(shard)s",
)
LOCK_DIRECTORY = """
SET LOCAL lock_timeout = '10s';
LOCK TABLE directory.shard, directory.tenant, directory.move, directory.moved IN EXCLUSIVE MODE
"""
RESTORE_POINT = "SELECT pg_create_restore_point(%s)::text"


def fail_over(router: Session, name: str) -> tuple[str, list[str]]:
    """Promote the replica of a shard that has received the most WAL, and send calls to it.

    Return its name, and the names of the shard's other replicas, which no longer follow a server. Raise
    UsageError while the shard answers, because two primaries would both accept writes.
    """
    shard = shard_named(router, name)
    replicas: dict[str, str] = dict(router.execute(REPLICAS, (name,)).fetchall())
    if not replicas:
        raise UsageError(f"the directory names no replica of shard {name}, so none can take over")
    if _is_up(shard.operator):
        raise UsageError(
            f"shard {name} answers; stop its server and see that it stays down, for two would take writes"
        )
    chosen, operator = _most_advanced(name, shard.operator, replicas)
    with shard_session(chosen, operator) as session:
        if not value(session, PROMOTED):
            raise DatabaseError(f"{chosen} was not promoted within 60 s; see its log and run this again")
        session.execute("UPDATE pgmnemo_shard.identity SET address = %s", (replicas[chosen],))
    with router.transaction():
        for statement in REPLACE_SHARD:
            given = {"shard": name, "address": replicas[chosen], "operator": operator}
            router.execute(statement.encode(), given)
    return chosen, [other for other in replicas if other != chosen]


def _is_up(operator: str) -> bool:
    try:
        open_operator(conninfo_to_dict(operator)).close()
    except DatabaseError:
        return False
    return True


def _most_advanced(shard: str, operator: str, replicas: dict[str, str]) -> tuple[str, str]:
    """Return the replica that has received the most WAL, and its address for an operator."""
    own = {word: one for word, one in conninfo_to_dict(operator).items() if word not in PLACES}
    found = []
    for name, address in replicas.items():
        words = make_conninfo("", **{**conninfo_to_dict(address), **own})
        try:
            with shard_session(name, words) as session:
                found.append((value(session, RECEIVED), name, words))
        except DatabaseError:
            continue
    if not found:
        raise DatabaseError(f"no replica of shard {shard} answers: {', '.join(replicas)}")
    return max(found)[1:]


def create_restore_point(router: Session, name: str) -> None:
    """Create a restore point on every shard, then on the router, while the directory is locked.

    After all servers are restored to it, each tenant is on the shard that the directory names; `recover`
    undoes or finishes a move that was in progress.
    """
    with ExitStack() as stack:
        opened = [
            stack.enter_context(shard_session(shard.name, shard.operator))
            for shard in shards(router).values()
        ]
        stack.enter_context(database_errors("the router"))
        stack.enter_context(router.transaction())
        try:
            router.execute(LOCK_DIRECTORY)
        except errors.LockNotAvailable:
            raise DatabaseError("the directory was in use for 10 s; run this again") from None
        for session in (*opened, router):
            value(session, RESTORE_POINT, name)
