"""Carries the rows of one tenant from one shard to another, as the extension's owner in that tenant alone.

Each statement names the tenant. Where the owner is an ordinary role, row-level security is the wall behind
it; it binds no superuser. What is derived is not carried: the triggers of the target build postings, and
`index` and `compact` make graphs and pieces anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from psycopg import sql

from pgmnemo.server.server_checks import Session, value

OWNER = (
    "SELECT r.rolname FROM pg_extension e JOIN pg_roles r ON r.oid = e.extowner WHERE e.extname = 'pgmnemo'"
)
COLUMNS = """
SELECT attname, format_type(atttypid, NULL) FROM pg_attribute
 WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped AND attname <> %s ORDER BY attname
"""
TABLES = ("lesson", "embedding_space", "passage", "lesson_vector", "lesson_edge", "supersession")
OWN_COLUMN = {"supersession": "number"}  # what the target gives itself; of other tables, indexed
ORDER = {"lesson": "ORDER BY id", "supersession": "ORDER BY recorded_at"}
WHOLE = ("embedding_space", "lesson_edge", "supersession")  # carried anew with the rest
KEYS = {"lesson": "r.id", "passage": "r.lesson_id", "lesson_vector": "r.lesson_id"}
PRESENT = "SELECT id FROM pgmnemo.lesson WHERE tenant_id = %s"
# Where another embedder serves since, vectors went without a trace: then every lesson counts as changed.
CHANGED = """
SELECT l.id FROM pgmnemo.lesson l
 WHERE l.tenant_id = %(tenant)s
   AND (age(l.xmin) <= age(%(since)s::xid)
        OR EXISTS (SELECT FROM pgmnemo.embedding_space s
                    WHERE s.tenant_id = %(tenant)s AND age(s.xmin) <= age(%(since)s::xid)))
UNION
SELECT p.lesson_id FROM pgmnemo.passage p
 WHERE p.tenant_id = %(tenant)s AND age(p.xmin) <= age(%(since)s::xid)
UNION
SELECT v.lesson_id FROM pgmnemo.lesson_vector v
 WHERE v.tenant_id = %(tenant)s AND age(v.xmin) <= age(%(since)s::xid)
"""
OUTDATED = """
DELETE FROM pgmnemo.lesson
 WHERE tenant_id = %s AND (id = ANY (%s::bigint[]) OR id <> ALL (%s::bigint[]))
"""
DELETE = "DELETE FROM pgmnemo.{} WHERE tenant_id = %s"
DERIVED = ("posting", "piece_term", "piece_project", "piece_lesson", "piece", "lesson_entry")
LAST = ("lesson", "embedding_space", "tenant", "tenant_grant", "vector_graph")
CLEAR = (  # what is derived first, as a whole: lessons take theirs out one by one
    "SELECT pgmnemo._lock_tenant(%s)",
    *(DELETE.format(table) for table in DERIVED),
    "SELECT pgmnemo._give_up_graphs(%s)",
    *(DELETE.format(table) for table in LAST),
)
GRANTS = """
SELECT grantee::text, granted_at, granted_by FROM pgmnemo.tenant_grant g
WHERE tenant_id = %s AND EXISTS (SELECT FROM pg_roles r WHERE r.oid = g.grantee) ORDER BY 1
"""
COUNTED = "SELECT {what}, count(*), {total} FROM {table} r {joined} WHERE r.tenant_id = {tenant}"
KNOWN = "JOIN pg_roles o ON o.oid = r.grantee"  # a dropped role's grant is not carried
Content = dict[str, tuple[int, int]]


@contextmanager
def inside(session: Session, tenant: UUID, *, snapshot: bool = False) -> Iterator[None]:
    """A transaction as the extension's owner, who sees the rows of `tenant`; `snapshot`: in one."""
    with session.transaction():
        if snapshot:
            session.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        session.execute(sql.SQL("SET LOCAL ROLE {}").format(sql.Identifier(value(session, OWNER))))
        session.execute("SELECT set_config('pgmnemo.acting_tenant', %s, true)", (str(tenant),))
        yield


def everything(source: Session, target: Session, tenant: UUID) -> str:
    """Carry the tenant as it is now; the transaction from which on rows may have changed since."""
    with inside(source, tenant, snapshot=True), inside(target, tenant):
        since = value(source, "SELECT pg_snapshot_xmin(pg_current_snapshot())::xid::text")
        for table in TABLES:
            _carry(source, target, table, tenant)
    return str(since)


def rest(source: Session, target: Session, tenant: UUID, since: str) -> None:
    """Carry what has changed since, and grants; nobody writes the tenant meanwhile."""
    with inside(source, tenant, snapshot=True), inside(target, tenant):
        given = {"tenant": tenant, "since": since}
        changed = [row[0] for row in source.execute(CHANGED, given).fetchall()]
        present = [row[0] for row in source.execute(PRESENT, (tenant,)).fetchall()]
        for table in WHOLE:
            target.execute(DELETE.format(table).encode(), (tenant,))
        target.execute(OUTDATED, (tenant, changed, present))
        for table, key in KEYS.items():
            _carry(source, target, table, tenant, f"AND {key} = ANY ('{{{','.join(map(str, changed))}}}')")
        for table in WHOLE:
            _carry(source, target, table, tenant)
        target.execute(DELETE.format("tenant_grant").encode(), (tenant,))
        for grantee, at, by in source.execute(GRANTS, (tenant,)).fetchall():
            target.execute(
                "INSERT INTO pgmnemo.tenant_grant VALUES (%s, %s::regrole, %s, %s)", (tenant, grantee, at, by)
            )


def content(session: Session, tenant: UUID, *, sums: bool = True) -> Content:
    """How many rows of each kind the tenant has, and with `sums` a sum of their hashes."""
    query = sql.SQL(" UNION ALL ").join(
        sql.SQL(COUNTED).format(
            what=table.replace("_", " "), total=_total(session, table) if sums else 0, tenant=tenant,
            table=sql.Identifier("pgmnemo", table), joined=sql.SQL(KNOWN if table == "tenant_grant" else ""),
        )
        for table in (*TABLES, "tenant_grant")
    )  # fmt: skip
    with inside(session, tenant, snapshot=True):
        rows = session.execute(query).fetchall()
    return {what: (count, int(total or 0)) for what, count, total in rows}


def _total(session: Session, table: str) -> sql.Composable:
    """The sum of the hashes of rows r of a table, as text; vectors in binary, which is faster written."""
    send = sql.SQL(value(session, "SELECT oid::regproc::text FROM pg_proc WHERE proname = 'halfvec_send'"))
    columns = [
        sql.SQL("encode({0}({1}), 'hex')" if kind.endswith("halfvec") else "{1}").format(
            send, sql.Identifier("r", name)
        )
        for name, kind in _columns(session, table)
    ]
    return sql.SQL("sum(hashtextextended(ROW({})::text, 0))").format(sql.SQL(", ").join(columns))


def _columns(session: Session, table: str) -> list[tuple[str, str]]:
    """The columns of a table that are carried, with their types."""
    return session.execute(COLUMNS, (f"pgmnemo.{table}", OWN_COLUMN.get(table, "indexed"))).fetchall()


def clear(session: Session, tenant: UUID) -> None:
    """Take everything of the tenant away, its grants too."""
    with inside(session, tenant):
        for statement in CLEAR:
            session.execute(statement.encode(), (tenant,))


def _carry(source: Session, target: Session, table: str, tenant: UUID, which: str = "") -> None:
    """Rows of a table through a temporary one: COPY does not write where row-level security is on."""
    names = [name for name, _ in _columns(source, table)]
    parts = {
        "names": sql.SQL(", ").join(map(sql.Identifier, names)), "which": sql.SQL(which),
        "read": sql.SQL(", ").join(sql.Identifier("r", name) for name in names),
        "table": sql.Identifier("pgmnemo", table), "arriving": sql.Identifier("pg_temp", f"arriving_{table}"),
        "tenant": sql.Literal(tenant),
    }  # fmt: skip
    out = sql.SQL(
        "COPY (SELECT {read} FROM {table} r WHERE r.tenant_id = {tenant} {which}) TO STDOUT (FORMAT binary)"
    ).format(**parts)
    target.execute(sql.SQL("DROP TABLE IF EXISTS {arriving}").format(**parts))
    like = "CREATE TEMPORARY TABLE {name} ON COMMIT DROP AS SELECT {names} FROM {table} LIMIT 0"
    target.execute(sql.SQL(like).format(name=sql.Identifier(f"arriving_{table}"), **parts))
    into = sql.SQL("COPY {arriving} ({names}) FROM STDIN (FORMAT binary)").format(**parts)
    with source.cursor().copy(out) as sent, target.cursor().copy(into) as received:
        for block in sent:
            received.write(block)
    parts["order"] = sql.SQL(ORDER.get(table, ""))
    keep = (
        "INSERT INTO {table} ({names}) OVERRIDING SYSTEM VALUE "
        "SELECT {names} FROM {arriving} WHERE tenant_id = {tenant} {order}"
    )
    target.execute(sql.SQL(keep).format(**parts))
