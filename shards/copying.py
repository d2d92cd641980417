"""Carries the rows of one tenant from one shard to another, as the extension's owner in that tenant alone.

So row-level security binds both ends: no slip here reaches another tenant. Postings are not carried: the
triggers of the target build them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from psycopg import sql

from runner.database.server_checks import Session, value

OWNER = "SELECT extowner::regrole::text FROM pg_extension WHERE extname = 'pgmnemo'"
COLUMNS = """
SELECT array_agg(attname ORDER BY attnum) FROM pg_attribute
WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped AND attname <> 'indexed'
"""
TABLES = ("lesson", "passage", "lesson_edge")  # a lesson before what refers to it
KEYS = {"lesson": "r.id", "passage": "r.lesson_id"}
CHANGED = """
SELECT l.id FROM pgmnemo.lesson l
 WHERE l.tenant_id = %(tenant)s AND age(l.xmin) <= age(%(since)s::xid)
UNION
SELECT p.lesson_id FROM pgmnemo.passage p
 WHERE p.tenant_id = %(tenant)s AND age(p.xmin) <= age(%(since)s::xid)
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
CONTENT = """
SELECT 'lesson', count(*), sum(hashtextextended(l::text, 0)) FROM pgmnemo.lesson l
 WHERE tenant_id = %(tenant)s
UNION ALL
SELECT 'passage', count(*), sum(hashtextextended(concat_ws('|', project_id, lesson_id, number, width, content,
       lexemes, encode({halfvec_send}(embedding), 'hex')), 0))
  FROM pgmnemo.passage WHERE tenant_id = %(tenant)s
UNION ALL
SELECT 'link', count(*), sum(hashtextextended(e::text, 0)) FROM pgmnemo.lesson_edge e
 WHERE tenant_id = %(tenant)s
"""


@contextmanager
def inside(session: Session, tenant: UUID, *, snapshot: bool = False) -> Iterator[None]:
    """A transaction as the extension's owner, who sees the rows of `tenant`; `snapshot`: in one."""
    with session.transaction():
        if snapshot:
            session.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        session.execute(sql.SQL("SET LOCAL ROLE {}").format(sql.Identifier(str(value(session, OWNER)))))
        session.execute("SELECT set_config('pgmnemo.acting_tenant', %s, true)", (str(tenant),))
        yield


def everything(source: Session, target: Session, tenant: UUID) -> str:
    """Carry the tenant as it is now; the transaction from which on rows may have changed since."""
    with inside(source, tenant, snapshot=True), inside(target, tenant):
        since = value(source, "SELECT pg_snapshot_xmin(pg_current_snapshot())::xid::text")
        for table in TABLES:
            _carry(source, target, table, "")
    return str(since)


def rest(source: Session, target: Session, tenant: UUID, since: str) -> None:
    """Carry what has changed since, and grants; nobody writes the tenant meanwhile."""
    with inside(source, tenant, snapshot=True), inside(target, tenant):
        given = {"tenant": tenant, "since": since}
        changed = [row[0] for row in source.execute(CHANGED, given).fetchall()]
        present = [row[0] for row in source.execute("SELECT id FROM pgmnemo.lesson").fetchall()]
        target.execute("DELETE FROM pgmnemo.lesson_edge")
        target.execute("DELETE FROM pgmnemo.lesson WHERE id = ANY (%s) OR id <> ALL (%s)", (changed, present))
        for table, key in KEYS.items():
            _carry(source, target, table, f"WHERE {key} = ANY ('{{{','.join(map(str, changed))}}}')")
        _carry(source, target, "lesson_edge", "")
        target.execute("DELETE FROM pgmnemo.tenant_grant WHERE tenant_id = %s", (tenant,))
        for grantee, at, by in source.execute(GRANTS, (tenant,)).fetchall():
            target.execute(
                "INSERT INTO pgmnemo.tenant_grant VALUES (%s, %s::regrole, %s, %s)", (tenant, grantee, at, by)
            )


def content(session: Session, tenant: UUID) -> dict[str, tuple[int, int]]:
    """How many lessons, passages and links of the tenant there are, and a sum of their hashes."""
    halfvec_send = value(session, "SELECT oid::regproc::text FROM pg_proc WHERE proname = 'halfvec_send'")
    with inside(session, tenant, snapshot=True):
        rows = session.execute(CONTENT.replace("{halfvec_send}", halfvec_send).encode(), {"tenant": tenant})
        return {what: (count, int(total or 0)) for what, count, total in rows.fetchall()}


def clear(session: Session, tenant: UUID) -> None:
    """Take everything of the tenant away, its grants too."""
    with inside(session, tenant):
        for statement in CLEAR:
            session.execute(statement.encode(), (tenant,))


def _carry(source: Session, target: Session, table: str, where: str) -> None:
    """Rows of a table through a temporary one: COPY does not write where row-level security is on."""
    names = value(source, COLUMNS, f"pgmnemo.{table}")
    listed = sql.SQL(", ").join(map(sql.Identifier, names))
    arriving = sql.Identifier("pg_temp", f"arriving_{table}")
    parts = {
        "names": listed, "table": sql.Identifier("pgmnemo", table), "arriving": arriving,
        "read": sql.SQL(", ").join(sql.Identifier("r", name) for name in names), "where": sql.SQL(where),
    }  # fmt: skip
    out = sql.SQL("COPY (SELECT {read} FROM {table} r {where}) TO STDOUT (FORMAT binary)").format(**parts)
    target.execute(sql.SQL("DROP TABLE IF EXISTS {arriving}").format(**parts))
    like = "CREATE TEMPORARY TABLE {name} ON COMMIT DROP AS SELECT {names} FROM {table} LIMIT 0"
    target.execute(sql.SQL(like).format(name=sql.Identifier(f"arriving_{table}"), **parts))
    into = sql.SQL("COPY {arriving} ({names}) FROM STDIN (FORMAT binary)").format(**parts)
    with source.cursor().copy(out) as sent, target.cursor().copy(into) as received:
        for block in sent:
            received.write(block)
    order = sql.SQL(" ORDER BY id" if table == "lesson" else "")
    keep = "INSERT INTO {table} ({names}) OVERRIDING SYSTEM VALUE SELECT {names} FROM {arriving}"
    target.execute(sql.SQL(keep).format(**parts) + order)
