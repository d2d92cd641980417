"""Logical replication of one tenant from the source of a move to its target.

A publication names the tenant in a row filter of each table; all keys of these tables begin with the tenant.
The slot exports its initial snapshot, from which the rows are copied; so the subscription continues where the
copy ended. The subscription applies changes as the operator (`run_as_owner`), because the extension's owner
needs an acting tenant; it receives only the publication's rows.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from uuid import UUID

from psycopg import errors, pq, sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from pgmnemo.errors import DatabaseError
from pgmnemo.postgres.connections import connect, database_errors
from pgmnemo.postgres.server_checks import Session, value
from pgmnemo_shards.copying import LESSON, columns
from pgmnemo_shards.directory import Move, moves, shards
from pgmnemo_shards.installing import open_shard
from pgmnemo_shards.move_sessions import (
    LOCK_TIMEOUT,
    ON_SHARD,
    MoveConnections,
    MoveInProgressError,
    conninfo,
    tenant_move_lock,
)

PREFIX = "pgmnemo_move_"
MARKS = "pgmnemo_shard.mark"
LEVEL = "SELECT current_setting('wal_level')"
TRIGGERS = (
    "SELECT array_agg(DISTINCT tgname::text) FROM pg_trigger WHERE starts_with(tgname, 'pgmnemo_shard_')"
)
NEEDED = {f"pgmnemo_shard_{name}" for name in ("note", "applied", "other", "left", "gone")}
SLOT_PATIENCE = "60s"  # time that a slot waits for running transactions on the source
WORKER_TIMEOUT = 60.0  # seconds that a subscription may be without a worker
FAILURES = 5  # most failures of a worker: the server restarts it, and some, such as a deadlock, pass
PAUSE, LONGEST_PAUSE = 0.003, 0.1  # seconds between two checks of the target, and at most if no writer waits
INSERT_MARK = f"""
INSERT INTO {MARKS} AS m VALUES (%s, %s, %s, 1)
ON CONFLICT (tenant_id) DO UPDATE SET number = m.number + 1 RETURNING number
"""
HAS_ARRIVED = f"""
SELECT coalesce((SELECT m.number >= %s FROM {MARKS} m WHERE m.tenant_id = %s), false),
       EXISTS (SELECT FROM pg_stat_subscription s WHERE s.subname = %s AND s.pid IS NOT NULL),
       coalesce((SELECT t.apply_error_count FROM pg_stat_subscription_stats t WHERE t.subname = %s), 0)
"""
SUBSCRIBED = """
SELECT EXISTS (SELECT FROM pg_subscription s JOIN pg_database d ON d.oid = s.subdbid
                WHERE d.datname = current_database() AND s.subname = %s)
"""
UNSUBSCRIBE = """
ALTER SUBSCRIPTION {0} DISABLE; ALTER SUBSCRIPTION {0} SET (slot_name = NONE); DROP SUBSCRIPTION {0}
"""  # one transaction, because the statements are sent together
END_SENDERS = """
SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
 WHERE application_name = %s AND backend_type = 'walsender'
"""
DROP_SLOT = "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = %s"
DELETE_MARKS = f"DELETE FROM {MARKS} WHERE tenant_id = %s"
DELETE_STALE_CHANGES = f"""
DELETE FROM pgmnemo_shard.changed c WHERE NOT EXISTS (SELECT FROM {MARKS} m WHERE m.tenant_id = c.tenant_id)
"""
LEFTOVERS = f"""
SELECT pubname::text FROM pg_publication WHERE starts_with(pubname, '{PREFIX}')
UNION SELECT slot_name::text FROM pg_replication_slots
 WHERE starts_with(slot_name, '{PREFIX}') AND database = current_database()
UNION SELECT subname::text FROM pg_subscription s JOIN pg_database d ON d.oid = s.subdbid
 WHERE starts_with(subname, '{PREFIX}') AND d.datname = current_database()
"""


def object_name(tenant: UUID) -> str:
    """Return the name of a move's publication, slot and subscription."""
    return PREFIX + tenant.hex


def check(connections: MoveConnections, planned: Move) -> None:
    """Raise DatabaseError if the source does not support logical replication, or a shard lacks triggers of
    moves.
    """
    level = value(connections.source, LEVEL)
    if level != "logical":
        raise DatabaseError(
            f"shard {planned.source.name} runs with wal_level = {level}, and a move needs logical; "
            "set it in its postgresql.conf and restart it"
        )
    for shard, session in ((planned.source, connections.source), (planned.target, connections.target)):
        if NEEDED - set(value(session, TRIGGERS) or ()):
            raise DatabaseError(
                f"shard {shard.name} lacks triggers that a move needs; run pgmnemo-shards upgrade"
            )


def publish(source: Session, tenant: UUID) -> None:
    """Publish the tenant's rows, and the marks of its move, on the source."""
    known = columns(source)
    parts = [
        sql.SQL("{} ({})").format(
            sql.Identifier("pgmnemo", table), sql.SQL(", ").join(map(sql.Identifier, known[table]))
        )
        for table in LESSON
    ]
    which = sql.SQL(" WHERE (tenant_id = {})").format(tenant)
    statement = sql.SQL("CREATE PUBLICATION {} FOR TABLE {} WITH (publish = 'insert, update, delete')")
    tables = sql.SQL(", ").join(part + which for part in (*parts, sql.SQL(MARKS)))
    source.execute(statement.format(sql.Identifier(object_name(tenant)), tables))


def subscribe(connections: MoveConnections, planned: Move) -> None:
    """Create a disabled subscription on the target.

    Before the copy this shows whether the target reaches the source; raise DatabaseError if not.
    """
    source_address = make_conninfo(planned.source.address, user=connections.source.info.user)
    statement = sql.SQL(
        "CREATE SUBSCRIPTION {0} CONNECTION {1} PUBLICATION {0} WITH (enabled = false, create_slot = false, "
        "slot_name = {0}, copy_data = false, binary = true, streaming = off, run_as_owner = true)"
    )
    try:
        connections.target.execute(
            statement.format(sql.Identifier(object_name(planned.tenant)), source_address)
        )
    except (errors.ConnectionException, errors.ConnectionFailure) as error:
        message = (error.diag.message_primary or str(error)).splitlines()[-1]
        where = {key: given for key, given in conninfo_to_dict(source_address).items() if key != "passfile"}
        raise DatabaseError(
            f"the server of shard {planned.target.name} cannot reach shard {planned.source.name} at "
            f"{make_conninfo('', **where)!r} ({message}): let it in there (pg_hba.conf, a password file)"
        ) from None


@contextmanager
def slot(source: Session, planned: Move) -> Iterator[str]:
    """Create a move's replication slot; yield the name of its snapshot, which is valid during the block."""
    name = object_name(planned.tenant)
    sender = {**conninfo(source), "replication": "database", "application_name": name}
    begin = f"CREATE_REPLICATION_SLOT \"{name}\" LOGICAL pgoutput (SNAPSHOT 'export')"
    with connect(sender, f"lock_timeout={SLOT_PATIENCE}", "client_connection_check_interval=1s") as session:
        made = session.pgconn.exec_(begin.encode())
        if made.status != pq.ExecStatus.TUPLES_OK:
            raise DatabaseError(
                f"shard {planned.source.name} gives no replication slot "
                f"({made.get_error_message().strip().splitlines()[0]}); end what runs there for long, or "
                "raise max_replication_slots and max_wal_senders, and move again"
            )
        yield (made.get_value(0, 2) or b"").decode()


def enable_subscription(target: Session, tenant: UUID) -> None:
    """Let the target apply the changes on the source since the copy, and all further changes."""
    target.execute(sql.SQL("ALTER SUBSCRIPTION {} ENABLE").format(sql.Identifier(object_name(tenant))))


def wait_until_caught_up(connections: MoveConnections, planned: Move, timeout: float | None = None) -> bool:
    """Wait until the target has all changes committed on the source before now; return whether it has.

    It waits for `timeout` seconds. None waits as long as the subscription works, and raises DatabaseError if
    it fails.
    """
    tenant, here, there = planned.tenant, planned.source.name, planned.target.name
    asked = (value(connections.source, INSERT_MARK, tenant, here, there), tenant, *(object_name(tenant),) * 2)
    began = works = time.monotonic()
    pause = PAUSE
    while True:
        arrived, at_work, failures = connections.target.execute(HAS_ARRIVED, asked).fetchall()[0]
        now = time.monotonic()
        works = now if at_work else works
        if arrived or (timeout is not None and now > began + timeout):
            return bool(arrived)
        if failures > FAILURES or now > works + WORKER_TIMEOUT:
            raise DatabaseError(
                f"shard {there} does not follow shard {here}; nothing was moved: its server's log says why, "
                "or raise max_logical_replication_workers there"
            )
        time.sleep(pause)
        if timeout is None:
            connections.source.execute("SELECT 1")  # notices the loss of this connection
            pause = min(1.5 * pause, LONGEST_PAUSE)


def drop_subscription(target: Session, tenant: UUID) -> None:
    """Drop the subscription and wait for its worker to end; the source is not contacted."""
    if value(target, SUBSCRIBED, object_name(tenant)):
        target.execute(sql.SQL(UNSUBSCRIBE).format(sql.Identifier(object_name(tenant))))


def drop_slot_and_publication(source: Session, tenant: UUID) -> None:
    """Drop slot and publication, and end the sender, so that the source keeps no more WAL for the move."""
    deadline = time.monotonic() + LOCK_TIMEOUT
    while True:
        source.execute(END_SENDERS, (object_name(tenant),))
        try:
            source.execute(DROP_SLOT, (object_name(tenant),))
            break
        except errors.ObjectInUse:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
    source.execute(sql.SQL("DROP PUBLICATION IF EXISTS {}").format(sql.Identifier(object_name(tenant))))


def delete_marks(session: Session, tenant: UUID) -> None:
    """Delete the mark of a move, and the recorded changes of tenants without a mark.

    A call in progress may record a change after its mark is deleted.
    """
    session.execute(DELETE_MARKS.encode(), (tenant,))
    session.execute(DELETE_STALE_CHANGES.encode())


def drop_leftovers(router: Session) -> None:
    """Drop the slots, publications and subscriptions of moves that are not in the directory.

    A slot makes its server keep WAL. The objects are listed before the directory is read, because a move is
    in the directory before its objects are created.
    """
    for shard in shards(router).values():
        try:
            session = open_shard(shard.name, shard.operator)
        except DatabaseError:  # it is down
            continue
        named_errors = partial(database_errors, f"shard {shard.name}")
        with session:
            with named_errors():
                leftovers = [name for (name,) in session.execute(LEFTOVERS.encode()).fetchall()]
            known = {move.tenant for move in moves(router)}
            for tenant in {UUID(name.removeprefix(PREFIX)) for name in leftovers} - known:
                with (
                    named_errors(),
                    suppress(MoveInProgressError),
                    tenant_move_lock(session, tenant, on=ON_SHARD),
                ):
                    drop_subscription(session, tenant)
                    drop_slot_and_publication(session, tenant)
