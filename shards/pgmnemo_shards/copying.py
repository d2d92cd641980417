"""Functions that copy, compare and delete the rows of one tenant, as the extension's owner.

Each statement names the tenant. Row-level security is a second safeguard if the owner is an ordinary role; it
does not bind a superuser. Derived data is not copied: the triggers of the target build postings, and `index`
and `merge_postings` build HNSW indexes and segments.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from uuid import UUID

from psycopg import sql

from pgmnemo.postgres.server_checks import Session, value

OWNER = (
    "SELECT r.rolname FROM pg_extension e JOIN pg_roles r ON r.oid = e.extowner WHERE e.extname = 'pgmnemo'"
)
COLUMNS = """
SELECT c.relname, array_agg(a.attname::text ORDER BY a.attname),
       array_agg(CASE WHEN t.typname = 'halfvec' THEN t.typsend::text END ORDER BY a.attname)
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid JOIN pg_type t ON t.oid = a.atttypid
 WHERE c.relnamespace = 'pgmnemo'::regnamespace AND a.attnum > 0 AND NOT a.attisdropped
   AND a.attname <> 'indexed' AND c.relname = ANY (%s)
 GROUP BY 1
"""  # `indexed` is not copied: each shard has its own HNSW index
LESSON = {  # the tables with rows of a tenant, and the column with the lesson of a row
    "lesson": "r.id",
    "embedding_space": "0",
    "passage": "r.lesson_id",
    "lesson_vector": "r.lesson_id",
    "lesson_edge": "r.source_id",
    "supersession": "r.old_id",
}
GRANTS = "tenant_grant"
DELETE = "DELETE FROM pgmnemo.{} WHERE tenant_id = %s"
DERIVED = ("posting", "segment_term", "segment_project", "segment_lesson", "segment", "lesson_entry")
TRIGGERED = {"lesson": ("posting", "lesson_entry")}  # tables that a table's triggers fill
LAST = ("lesson", "embedding_space", "tenant", GRANTS, "hnsw_index")
CLEAR = (  # derived rows first, all at once: deleting a lesson would remove its own one by one
    "SELECT pgmnemo._lock_tenant(%s)",
    *(DELETE.format(table) for table in DERIVED),
    "SELECT pgmnemo._hnsw_remove(%s)",
    *(DELETE.format(table) for table in LAST),
)
GRANTED = """
SELECT grantee::text, granted_at, granted_by, access FROM pgmnemo.tenant_grant g
WHERE tenant_id = %s AND EXISTS (SELECT FROM pg_roles r WHERE r.oid = g.grantee) ORDER BY 1
"""
GRANT = "INSERT INTO pgmnemo.tenant_grant VALUES (%s, %s::regrole, %s, %s, %s)"
# Grants of dropped roles are not copied.
GRANTEE_EXISTS = "EXISTS (SELECT FROM pg_roles o WHERE o.oid = r.grantee)"
CONTENT = (
    "SELECT {what}, count(*), sum(hashtextextended(ROW({columns})::text, 0)) FROM {table} r WHERE {which}"
)
NUMBERS = "SELECT last_value - (NOT is_called)::integer FROM pgmnemo.supersession_number_seq"
ADVANCE_SEQUENCE = (  # the first statement takes a lock, so that no session draws a number before the second
    "ALTER SEQUENCE pgmnemo.supersession_number_seq NO CYCLE",
    "SELECT setval('pgmnemo.supersession_number_seq', greatest(last_value, %s)) "
    "FROM pgmnemo.supersession_number_seq",
)
SEQUENCE_RESERVE = 100_000  # numbers that the source may draw until the target's sequence advances again
Content = dict[str, tuple[int, int]]


@contextmanager
def owner_transaction(session: Session, tenant: UUID, snapshot: str | None = None) -> Iterator[None]:
    """Run the block in a transaction as the extension's owner acting for `tenant`, in `snapshot` if given."""
    with session.transaction():
        if snapshot is not None:
            session.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            session.execute(sql.SQL("SET TRANSACTION SNAPSHOT {}").format(snapshot))
        session.execute(sql.SQL("SET LOCAL ROLE {}").format(sql.Identifier(value(session, OWNER))))
        session.execute("SELECT set_config('pgmnemo.acting_tenant', %s, true)", (str(tenant),))
        yield


def columns(session: Session) -> dict[str, dict[str, str | None]]:
    """Return the copied columns of each table, with the binary send function of each vector column."""
    rows = session.execute(COLUMNS, ([*LESSON, GRANTS],)).fetchall()
    return {table: dict(zip(names, senders, strict=True)) for table, names, senders in rows}


def copy_tenant(source: Session, target: Session, tenant: UUID, snapshot: str) -> None:
    """Copy the tenant's rows in a snapshot that was exported on the source.

    Each table is analyzed at once. Otherwise an autovacuum that finds the uncommitted rows would record the
    tables as empty, and each foreign key would be checked by a full scan. Autovacuum skips analyzed tables
    until the end.
    """
    with owner_transaction(source, tenant, snapshot), owner_transaction(target, tenant):
        known = columns(source)
        for table in LESSON:
            _copy_table(source, target, table, list(known[table]), tenant)
            for filled in (table, *TRIGGERED.get(table, ())):
                target.execute(sql.SQL("ANALYZE {}").format(sql.Identifier("pgmnemo", filled)))


def copy_grants(source: Session, target: Session, tenant: UUID) -> None:
    """Copy the grants by role name, because oids of roles differ between servers."""
    granted, there = (session.execute(GRANTED, (tenant,)).fetchall() for session in (source, target))
    if granted == there:
        return
    with owner_transaction(target, tenant):
        target.execute(DELETE.format(GRANTS).encode(), (tenant,))
        for grant in granted:
            target.execute(GRANT, (tenant, *grant))


def advance_sequence(source: Session, target: Session) -> None:
    """Advance the target's sequence of supersessions beyond all copied numbers, which define their order."""
    drawn = value(source, NUMBERS)
    if value(target, NUMBERS) < drawn:
        with target.transaction():
            target.execute(ADVANCE_SEQUENCE[0].encode())
            target.execute(ADVANCE_SEQUENCE[1].encode(), (drawn + SEQUENCE_RESERVE,))


def content(
    session: Session, tenant: UUID, *, of: Sequence[int] | None = None, excluding: Sequence[int] = ()
) -> Content:
    """Return the number of the tenant's rows of each kind, and a sum of their hashes.

    `of` restricts them to these lessons, and adds the grants; `excluding` leaves out these lessons.
    """
    known = columns(session)
    parts = [
        _content_query(table, known[table], _condition(tenant, key, of, excluding))
        for table, key in LESSON.items()
    ]
    if of is not None:
        which = sql.SQL("r.tenant_id = {} AND ").format(tenant) + sql.SQL(GRANTEE_EXISTS)
        parts.append(_content_query(GRANTS, known[GRANTS], which))
    with owner_transaction(session, tenant):
        rows = session.execute(sql.SQL(" UNION ALL ").join(parts)).fetchall()
    return {what: (count, int(total or 0)) for what, count, total in rows}


def _condition(tenant: UUID, key: str, of: Sequence[int] | None, excluding: Sequence[int]) -> sql.Composed:
    numbers = "'{{{}}}'::bigint[]"
    which: list[sql.Composable] = [sql.SQL("r.tenant_id = {}").format(tenant)]
    if of is not None:
        which.append(sql.SQL(f"{key} = ANY ({numbers.format(','.join(map(str, of)))})"))
    if excluding:
        which.append(sql.SQL(f"{key} <> ALL ({numbers.format(','.join(map(str, excluding)))})"))
    return sql.SQL(" AND ").join(which)


def _content_query(table: str, names: dict[str, str | None], which: sql.Composed) -> sql.Composed:
    """Return a query for the number of rows and the sum of their hashes.

    Vectors are hashed in binary form, which is written faster than text.
    """
    hashed = [
        sql.Identifier("r", name)
        if sender is None
        else sql.SQL("encode({}({}), 'hex')").format(sql.SQL(sender), sql.Identifier("r", name))
        for name, sender in names.items()
    ]
    return sql.SQL(CONTENT).format(
        what=table.replace("_", " "), columns=sql.SQL(", ").join(hashed),
        table=sql.Identifier("pgmnemo", table), which=which,
    )  # fmt: skip


def delete_tenant(session: Session, tenant: UUID) -> None:
    """Delete all rows of the tenant, including its grants."""
    with owner_transaction(session, tenant):
        for statement in CLEAR:
            session.execute(statement.encode(), (tenant,))


def _copy_table(source: Session, target: Session, table: str, names: list[str], tenant: UUID) -> None:
    """Copy the tenant's rows of a table through a temporary table.

    COPY cannot write to a table with row-level security.
    """
    parts = {
        "names": sql.SQL(", ").join(map(sql.Identifier, names)),
        "read": sql.SQL(", ").join(sql.Identifier("r", name) for name in names),
        "table": sql.Identifier("pgmnemo", table), "arriving": sql.Identifier("pg_temp", f"arriving_{table}"),
        "tenant": sql.Literal(tenant),
    }  # fmt: skip
    out = "COPY (SELECT {read} FROM {table} r WHERE r.tenant_id = {tenant}) TO STDOUT (FORMAT binary)"
    like = "CREATE TEMPORARY TABLE {name} ON COMMIT DROP AS SELECT {names} FROM {table} LIMIT 0"
    target.execute(sql.SQL(like).format(name=sql.Identifier(f"arriving_{table}"), **parts))
    into = sql.SQL("COPY {arriving} ({names}) FROM STDIN (FORMAT binary)").format(**parts)
    with source.cursor().copy(sql.SQL(out).format(**parts)) as sent, target.cursor().copy(into) as received:
        for block in sent:
            received.write(block)
    keep = (
        "INSERT INTO {table} ({names}) OVERRIDING SYSTEM VALUE "
        "SELECT {names} FROM {arriving} WHERE tenant_id = {tenant}"
    )
    target.execute(sql.SQL(keep).format(**parts))
