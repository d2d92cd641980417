"""The functions of a shard that the router calls: one for each verb, in the schema pgmnemo_shard.

Each function runs with its caller's rights, so that the verb's own check of the caller applies. Functions of
an older release of the extension remain, under other signatures, as long as a router may call them.
"""

from __future__ import annotations

from shards.verbs import AS_TEXT, Verb, passing

AGED = "recall"  # the verb that a replica may answer


def taken(verb: Verb) -> list[str]:
    """Return the types of the door's arguments."""
    aged = ["interval"] if verb.name == AGED else []
    return [*(passing(kind) for _, kind in verb.arguments), "jsonb", *aged]


def door(verb: Verb) -> str:
    """Return the statement that makes the door of `verb`; its arguments have no names, for columns may bear
    them.
    """
    number = len(verb.arguments) + 1
    begin = [f"PERFORM pgmnemo_shard._apply(${number})"]
    if verb.writes:
        begin.append("PERFORM pgmnemo_shard._enter($1)")
    if verb.name == AGED:
        begin.append(f"IF ${number + 1} IS NOT NULL THEN PERFORM pgmnemo_shard._fresh(${number + 1}); END IF")
    body = "; ".join([*begin, _answer(verb)])
    return (
        f"CREATE OR REPLACE FUNCTION pgmnemo_shard.{verb.name}({', '.join(taken(verb))}) "
        f"RETURNS {returns(verb)} "
        "LANGUAGE plpgsql VOLATILE SECURITY INVOKER SET search_path = pg_catalog, pg_temp "
        f"AS $door$ BEGIN {body}; END $door$;\n"
        f"GRANT EXECUTE ON FUNCTION pgmnemo_shard.{verb.name}({', '.join(taken(verb))}) TO PUBLIC;"
    )


def returns(verb: Verb) -> str:
    """Return what a function for `verb` returns, in types that pass the router."""
    if not verb.many:
        return passing(verb.columns[0][1])
    return f"TABLE ({', '.join(f'{name} {passing(kind)}' for name, kind in verb.columns)})"


def _answer(verb: Verb) -> str:
    """Return the call itself; where it reads, in one statement with the question whether the tenant is
    here.
    """
    given = ", ".join(
        f"{name} => ${place}{_cast(kind)}" for place, (name, kind) in enumerate(verb.arguments, start=1)
    )
    if not verb.many:
        return f"RETURN pgmnemo.{verb.name}({given})"
    columns = ", ".join(f"r.{name}{_back(kind)}" for name, kind in verb.columns)
    where = "" if verb.writes else " WHERE pgmnemo_shard._here($1)"
    return f"RETURN QUERY SELECT {columns} FROM pgmnemo.{verb.name}({given}) r{where}"


def _cast(kind: str) -> str:
    return f"::{AS_TEXT[kind.removesuffix('[]')]}.{kind}" if passing(kind) != kind else ""


def _back(kind: str) -> str:
    return f"::{passing(kind)}" if passing(kind) != kind else ""
