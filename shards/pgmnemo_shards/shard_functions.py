"""The functions of a shard that the router calls: one for each verb, in the schema pgmnemo_shard.

Each function runs with its caller's rights, so that the verb's own check of the caller applies. Functions of
an older release of the extension remain, under other signatures, as long as a router may call them.
"""

from __future__ import annotations

from pgmnemo_shards.verbs import SENT_AS_TEXT, Verb, transport_type

STALENESS_VERB = "recall"  # the verb that a replica may answer


def argument_types(verb: Verb) -> list[str]:
    """Return the argument types of the shard's function for `verb`."""
    staleness = ["interval"] if verb.name == STALENESS_VERB else []
    return [*(transport_type(kind) for _, kind in verb.arguments), "jsonb", *staleness]


def shard_function(verb: Verb) -> str:
    """Return the statements that create and grant the function for `verb`.

    Its arguments have no names, because columns of the result may have the same names.
    """
    number = len(verb.arguments) + 1
    statements = [f"PERFORM pgmnemo_shard._apply(${number})"]
    if verb.writes:
        statements.append("PERFORM pgmnemo_shard._enter($1)")
    if verb.name == STALENESS_VERB:
        statements.append(
            f"IF ${number + 1} IS NOT NULL THEN PERFORM pgmnemo_shard._fresh(${number + 1}); END IF"
        )
    body = "; ".join([*statements, _call(verb)])
    return (
        f"CREATE OR REPLACE FUNCTION pgmnemo_shard.{verb.name}({', '.join(argument_types(verb))}) "
        f"RETURNS {return_type(verb)} "
        "LANGUAGE plpgsql VOLATILE SECURITY INVOKER SET search_path = pg_catalog, pg_temp "
        f"AS $body$ BEGIN {body}; END $body$;\n"
        f"GRANT EXECUTE ON FUNCTION pgmnemo_shard.{verb.name}({', '.join(argument_types(verb))}) TO PUBLIC;"
    )


def return_type(verb: Verb) -> str:
    """Return the result type of a function for `verb`, with types that can pass the router."""
    if not verb.many:
        return transport_type(verb.columns[0][1])
    return f"TABLE ({', '.join(f'{name} {transport_type(kind)}' for name, kind in verb.columns)})"


def _call(verb: Verb) -> str:
    """Return the statement that calls the verb.

    For a verb that reads, the same statement checks that the tenant is on this shard.
    """
    arguments = ", ".join(
        f"{name} => ${place}{_argument_cast(kind)}"
        for place, (name, kind) in enumerate(verb.arguments, start=1)
    )
    if not verb.many:
        return f"RETURN pgmnemo.{verb.name}({arguments})"
    columns = ", ".join(f"r.{name}{_result_cast(kind)}" for name, kind in verb.columns)
    where = "" if verb.writes else " WHERE pgmnemo_shard._here($1)"
    return f"RETURN QUERY SELECT {columns} FROM pgmnemo.{verb.name}({arguments}) r{where}"


def _argument_cast(kind: str) -> str:
    return f"::{SENT_AS_TEXT[kind.removesuffix('[]')]}.{kind}" if transport_type(kind) != kind else ""


def _result_cast(kind: str) -> str:
    return f"::{transport_type(kind)}" if transport_type(kind) != kind else ""
