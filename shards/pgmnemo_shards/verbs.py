"""The verbs of the extension that name their tenant, as read from an installed extension."""

from __future__ import annotations

from dataclasses import dataclass

from pgmnemo.postgres.server_checks import Session

VERBS = """
SELECT p.proname, p.provolatile = 'v', p.proretset,
       array(SELECT quote_ident(a.name) FROM unnest(p.proargnames[:p.pronargs - 1]) AS a (name)),
       array(SELECT format_type(t, NULL) FROM unnest(p.proargtypes[:p.pronargs - 2]) AS t),
       array(SELECT pg_get_function_arg_default(p.oid, n) FROM generate_series(1, p.pronargs - 1) AS n),
       CASE WHEN p.proallargtypes IS NOT NULL THEN
            (SELECT array_agg(quote_ident(o.name) ORDER BY o.place)
               FROM unnest(p.proargnames, p.proargmodes) WITH ORDINALITY AS o (name, mode, place)
              WHERE o.mode = 't')
       WHEN r.typtype = 'c' THEN
            (SELECT array_agg(quote_ident(a.attname) ORDER BY a.attnum) FROM pg_attribute a
              WHERE a.attrelid = r.typrelid AND a.attnum > 0 AND NOT a.attisdropped)
       END,
       CASE WHEN p.proallargtypes IS NOT NULL THEN
            (SELECT array_agg(format_type(o.type, NULL) ORDER BY o.place)
               FROM unnest(p.proallargtypes, p.proargmodes) WITH ORDINALITY AS o (type, mode, place)
              WHERE o.mode = 't')
       WHEN r.typtype = 'c' THEN
            (SELECT array_agg(format_type(a.atttypid, NULL) ORDER BY a.attnum) FROM pg_attribute a
              WHERE a.attrelid = r.typrelid AND a.attnum > 0 AND NOT a.attisdropped)
       ELSE ARRAY[format_type(p.prorettype, NULL)] END,
       coalesce(obj_description(p.oid, 'pg_proc'), '')
  FROM pg_proc p JOIN pg_type r ON r.oid = p.prorettype
 WHERE p.pronamespace = 'pgmnemo'::regnamespace AND NOT starts_with(p.proname, '_')
   AND p.proargnames[1] = 'tenant'
   AND p.proargnames[p.pronargs] = 'caller'
 ORDER BY p.proname
"""
COMPOSITES = """
SELECT t.typname, array_agg(quote_ident(a.attname) ORDER BY a.attnum),
       array_agg(format_type(a.atttypid, NULL) ORDER BY a.attnum)
  FROM pg_type t JOIN pg_class c ON c.oid = t.typrelid AND c.relkind = 'c'
  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
 WHERE t.typnamespace = 'pgmnemo'::regnamespace AND t.typname = coalesce(%s, t.typname)
 GROUP BY 1
"""
SETTINGS = "SELECT name FROM pgmnemo._setting_catalogue() WHERE name <> 'tenant_id' ORDER BY 1"
SENT_AS_TEXT = {"vector": "public", "halfvec": "public", "tstzmultirange": "pg_catalog"}  # with their schemas

Columns = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Verb:
    """A function pgmnemo.<name>(tenant uuid, …, caller).

    `arguments` are without the caller; `columns` are those of its result, unnamed for a single value. Names
    are quoted if SQL requires it.
    """

    name: str
    writes: bool
    many: bool
    arguments: Columns
    defaults: tuple[str | None, ...]
    columns: Columns
    comment: str


def verbs(connection: Session) -> list[Verb]:
    """Return every verb of the connected database that names its tenant; pgvector is in the schema public."""
    connection.execute("SET search_path = pg_catalog, public, pg_temp")
    rows = connection.execute(VERBS).fetchall()
    return [_verb(*row) for row in rows]


def _verb(
    name: str, writes: bool, many: bool, names: list[str], types: list[str], defaults: list[str | None],
    columns: list[str] | None, kinds: list[str], comment: str,
) -> Verb:  # fmt: skip
    given = tuple(zip(names, types, strict=True))
    returned = tuple(zip(columns or [""], kinds, strict=True))
    return Verb(name, writes, many, given, tuple(defaults), returned, comment)


def composites(connection: Session, name: str | None = None) -> dict[str, Columns]:
    """Return the composite types of the schema, or only `name`, with their attributes."""
    return {
        found: tuple(zip(names, types, strict=True))
        for found, names, types in connection.execute(COMPOSITES, (name,)).fetchall()
    }


def settings(connection: Session) -> list[str]:
    """Return the extension's settings that a caller may set for a call, without the tenant's setting."""
    return [row[0] for row in connection.execute(SETTINGS)]


def transport_type(kind: str) -> str:
    """Return the type in which a value of `kind` passes the router, which has no vector and no multirange
    types.
    """
    base = kind.removesuffix("[]")
    return kind.replace(base, "text") if base in SENT_AS_TEXT else kind
