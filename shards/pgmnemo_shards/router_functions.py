"""The functions of the router: two for each verb, a PL/Proxy function and its caller.

The caller has the verb's name. It refuses a writing verb in a read-only transaction, and raises a shard's
error unchanged.
"""

from __future__ import annotations

from pgmnemo_shards.shard_functions import STALENESS_VERB, return_type
from pgmnemo_shards.verbs import Columns, Verb, transport_type

FAILED = (
    "EXCEPTION WHEN OTHERS THEN GET STACKED DIAGNOSTICS _state = RETURNED_SQLSTATE, _message = MESSAGE_TEXT, "
    "_detail = PG_EXCEPTION_DETAIL, _hint = PG_EXCEPTION_HINT; "
    "PERFORM pgmnemo._fail($1, _state, _message, _detail, _hint);"
)


def remote_function_name(verb: Verb) -> str:
    """Return the name of the PL/Proxy function of a verb, without its schema."""
    return f"_to_{verb.name}"


def router_parameters(verb: Verb) -> list[tuple[str, str, str]]:
    """Return name, type and default clause of each argument of the two router functions of `verb`."""
    with_defaults = [
        (name, transport_type(kind), _default(verb.defaults[place]))
        for place, (name, kind) in enumerate(verb.arguments)
    ]
    with_defaults.append(("settings", "jsonb", " DEFAULT pgmnemo._settings()"))
    if verb.name == STALENESS_VERB:
        with_defaults.append(("staleness", "interval", " DEFAULT NULL"))
    return with_defaults


def row_type(verb: Verb) -> tuple[str, Columns] | None:
    """Return the name and columns of a row type for `verb`; None if it needs no type of its own.

    It needs one if a column has the name of an argument.
    """
    if not {name for name, _ in verb.arguments} & {name for name, _ in verb.columns}:
        return None
    return f"{verb.name}_row", tuple((name, transport_type(kind)) for name, kind in verb.columns)


def routing_functions(verb: Verb) -> list[str]:
    """Return the statements for `verb`: the PL/Proxy function, the outer function, and its comment."""
    parameters = router_parameters(verb)
    returned = f"SETOF pgmnemo.{verb.name}_row" if row_type(verb) else return_type(verb)
    place_arguments = "tenant, staleness" if verb.name == STALENESS_VERB else "tenant"
    with_defaults = ", ".join(f"{name} {kind}{default}" for name, kind, default in parameters)
    signature = ", ".join(f"{name} {kind}" for name, kind, _ in parameters)
    numbers = ", ".join(f"${number}" for number in range(1, len(parameters) + 1))
    call = f"pgmnemo.{remote_function_name(verb)}({numbers})"
    comment = _literal(f"{verb.comment}. On the shard of the tenant")
    statement = f"RETURN QUERY SELECT * FROM {call};" if verb.many else f"RETURN {call};"
    check = f"PERFORM pgmnemo._writing('{verb.name}'); " if verb.writes else ""
    return [
        f"CREATE OR REPLACE FUNCTION pgmnemo.{remote_function_name(verb)}({signature}) RETURNS {returned} "
        "LANGUAGE plproxy VOLATILE SET extra_float_digits = 1 "
        f"AS $route$ CONNECT pgmnemo._place({place_arguments}); TARGET pgmnemo_shard.{verb.name}; $route$",
        f"CREATE OR REPLACE FUNCTION pgmnemo.{verb.name}({with_defaults}) "
        f"RETURNS {returned} LANGUAGE plpgsql VOLATILE AS $route$\n#variable_conflict use_column\n"
        "DECLARE _state text; _message text; _detail text; _hint text; "
        f"BEGIN {check}{statement} {FAILED} END $route$",
        f"COMMENT ON FUNCTION pgmnemo.{verb.name} IS {comment}",
    ]


def create_type_statement(name: str, attributes: Columns) -> str:
    """Return the statement that creates a composite type for values sent to or received from a shard."""
    inside = ", ".join(f"{attribute} {_domain(kind)}" for attribute, kind in attributes)
    return f"CREATE TYPE pgmnemo.{name} AS ({inside})"


def _default(expression: str | None) -> str:
    if expression is None:
        return ""
    return " DEFAULT " + expression.replace("::vector[]", "::text[]")


def _domain(kind: str) -> str:
    return f"public.{kind}" if transport_type(kind) != kind else kind


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
