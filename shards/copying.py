"""Carries the rows of one tenant from one shard to another, as the extension's owner in that tenant alone.

Each statement names the tenant. Where the owner is an ordinary role, row-level security is the wall behind
it; it binds no superuser. Postings are not carried: the triggers of the target build them.
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
SELECT array_agg(attname ORDER BY attnum) FROM pg_attribute
WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped AND attname <> %s
"""
TABLES = ("lesson", "passage", "lesson_edge", "supersession")  # a lesson before what refers to it
OWN_COLUMN = {"supersession": "number"}  # what the target gives itself; of other tables, indexed
ORDER = {"lesson": "ORDER BY id", "supersession": "ORDER BY recorded_at"}
WHOLE = ("lesson_edge", "supersession")  # carried anew with the rest
KEYS = {"lesson": "r.id", "passage": "r.lesson_id"}
PRESENT = "SELECT id FROM pgmnemo.lesson WHERE tenant_id = %s"
CHANGED = """
SELECT l.id FROM pgmnemo.lesson l
 WHERE l.tenant_id = %(tenant)s AND age(l.xmin) <= age(%(since)s::xid)
UNION
SELECT p.lesson_id FROM pgmnemo.passage p
 WHERE p.tenant_id = %(tenant)s AND age(p.xmin) <= age(%(since)s::xid)
"""
OUTDATED = """
DELETE FROM pgmnemo.lesson
 WHERE tenant_id = %s AND (id = ANY (%s::bigint[]) OR id <> ALL (%s::bigint[]))
"""
CLEAR = (
    "DELETE FROM pgmnemo.posting WHERE tenant_id = %s",
    "DELETE FROM pgmnemo.lesson WHERE tenant_id = %s",
    "DELETE FROM pgmnemo.tenant WHERE tenant_id = %s",
    "DELETE FROM pgmnemo.tenant_grant WHERE tenant_id = %s",
    "DELETE FROM pgmnemo.vector_graph WHERE tenant_id = %s",
)
GRANTS = """
SELECT grantee::text, granted_at, granted_by FROM pgmnemo.tenant_grant g
WHERE tenant_id = %s AND EXISTS (SELECT FROM pg_roles r WHERE r.oid = g.grantee) ORDER BY 1
"""
MEASURED = (  # what is compared: the rows r of a table, and each as text
    ("lesson", "lesson r", "r::text"),
    (
        "passage",
        "passage r",
        "concat_ws('|', r.project_id, r.lesson_id, r.number, r.width, r.content, r.lexemes, "
        "encode({halfvec_send}(r.embedding), 'hex'))",
    ),
    ("link", "lesson_edge r", "r::text"),
    (
        "supersession",
        "supersession r",
        "concat_ws('|', r.old_id, r.new_id, r.valid_from, r.reason, r.recorded_at, r.undone_at)",
    ),
    ("grant", "tenant_grant r JOIN pg_roles o ON o.oid = r.grantee", "r::text"),
)
COUNTED = "SELECT '{what}', count(*), {total} FROM pgmnemo.{table} WHERE r.tenant_id = %(tenant)s"
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
            target.execute(f"DELETE FROM pgmnemo.{table} WHERE tenant_id = %s".encode(), (tenant,))
        target.execute(OUTDATED, (tenant, changed, present))
        for table, key in KEYS.items():
            _carry(source, target, table, tenant, f"AND {key} = ANY ('{{{','.join(map(str, changed))}}}')")
        for table in WHOLE:
            _carry(source, target, table, tenant)
        target.execute("DELETE FROM pgmnemo.tenant_grant WHERE tenant_id = %s", (tenant,))
        for grantee, at, by in source.execute(GRANTS, (tenant,)).fetchall():
            target.execute(
                "INSERT INTO pgmnemo.tenant_grant VALUES (%s, %s::regrole, %s, %s)", (tenant, grantee, at, by)
            )


def content(session: Session, tenant: UUID, *, sums: bool = True) -> Content:
    """How many rows of each kind the tenant has, and with `sums` a sum of their hashes."""
    halfvec_send = value(session, "SELECT oid::regproc::text FROM pg_proc WHERE proname = 'halfvec_send'")
    query = " UNION ALL ".join(
        COUNTED.format(what=what, table=table, total=f"sum(hashtextextended({row}, 0))" if sums else "0")
        for what, table, row in MEASURED
    ).replace("{halfvec_send}", halfvec_send)
    with inside(session, tenant, snapshot=True):
        rows = session.execute(query.encode(), {"tenant": tenant}).fetchall()
    return {what: (count, int(total or 0)) for what, count, total in rows}


def clear(session: Session, tenant: UUID) -> None:
    """Take everything of the tenant away, its grants too."""
    with inside(session, tenant):
        for statement in CLEAR:
            session.execute(statement.encode(), (tenant,))


def _carry(source: Session, target: Session, table: str, tenant: UUID, which: str = "") -> None:
    """Rows of a table through a temporary one: COPY does not write where row-level security is on."""
    names = value(source, COLUMNS, f"pgmnemo.{table}", OWN_COLUMN.get(table, "indexed"))
    listed = sql.SQL(", ").join(map(sql.Identifier, names))
    arriving = sql.Identifier("pg_temp", f"arriving_{table}")
    parts = {
        "names": listed, "table": sql.Identifier("pgmnemo", table), "arriving": arriving,
        "read": sql.SQL(", ").join(sql.Identifier("r", name) for name in names), "which": sql.SQL(which),
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
