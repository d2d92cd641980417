"""One hash over what the installed functions do: tells our extension from another and from a patched copy."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

from psycopg import Connection

# Types by name alone, so that it does not matter into which schema pgvector was installed. Defaults by their
# number: how a server prints an expression is its own affair.
FUNCTIONS = """
SELECT p.proname, p.prokind::text,
       ARRAY(SELECT t.typname::text FROM unnest(coalesce(p.proallargtypes, p.proargtypes::oid[]))
             WITH ORDINALITY AS a(type, place) JOIN pg_catalog.pg_type t ON t.oid = a.type ORDER BY a.place),
       p.proargmodes::text[], p.proargnames, p.pronargdefaults,
       r.typname::text, p.proretset, l.lanname::text, p.prosrc,
       p.provolatile::text, p.proparallel::text, p.proisstrict, p.prosecdef, p.proleakproof, p.proconfig
FROM pg_catalog.pg_proc p
JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
JOIN pg_catalog.pg_language l ON l.oid = p.prolang
JOIN pg_catalog.pg_type r ON r.oid = p.prorettype
WHERE n.nspname = 'pgmnemo'
"""


def fingerprint(connection: Connection[Any]) -> str:
    """SHA-256 (64 hex digits) over the functions of schema `pgmnemo`; "" if it has none.

    Covers name, kind, arguments (types, modes, names, number of defaults), result, language, body,
    volatility, parallel safety, strictness, security, leakproofness and settings; the same on PostgreSQL 16,
    17 and 18.
    Bodies must be strings: a body in SQL-standard form is stored parsed, which this does not see.
    """
    rows = sorted(json.dumps(row, ensure_ascii=False) for row in connection.execute(FUNCTIONS))
    return sha256("\n".join(rows).encode()).hexdigest() if rows else ""
