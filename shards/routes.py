"""The functions of the router: one for each verb, of the same name, around one with PL/Proxy for its body.

The outer one refuses what writes in a read-only transaction, and gives a shard's error as the shard gave it.
"""

from __future__ import annotations

from shards.doors import AGED, returns
from shards.verbs import Columns, Verb, passing

FAILED = (
    "EXCEPTION WHEN OTHERS THEN GET STACKED DIAGNOSTICS _state = RETURNED_SQLSTATE, _message = MESSAGE_TEXT, "
    "_detail = PG_EXCEPTION_DETAIL, _hint = PG_EXCEPTION_HINT; "
    "PERFORM pgmnemo._fail($1, _state, _message, _detail, _hint);"
)


def inner(verb: Verb) -> str:
    """Return the name of the function that goes to the shard, without its schema."""
    return f"_to_{verb.name}"


def arguments(verb: Verb) -> list[tuple[str, str, str]]:
    """Name, type and default (with its word before it) of each argument of the two functions for `verb`."""
    given = [
        (name, passing(kind), _default(verb.defaults[place]))
        for place, (name, kind) in enumerate(verb.arguments)
    ]
    given.append(("settings", "jsonb", " DEFAULT pgmnemo._settings()"))
    if verb.name == AGED:
        given.append(("staleness", "interval", " DEFAULT NULL"))
    return given


def row(verb: Verb) -> tuple[str, Columns] | None:
    """Return the type of the rows of `verb`, where it needs one of its own: a column has the name of an
    argument.
    """
    if not {name for name, _ in verb.arguments} & {name for name, _ in verb.columns}:
        return None
    return f"{verb.name}_row", tuple((name, passing(kind)) for name, kind in verb.columns)


def route(verb: Verb) -> list[str]:
    """Return the statements that make the two functions of the router for `verb`, the inner one first."""
    taken = arguments(verb)
    answer = f"SETOF pgmnemo.{verb.name}_row" if row(verb) else returns(verb)
    asked = "tenant, staleness" if verb.name == AGED else "tenant"
    given = ", ".join(f"{name} {kind}{default}" for name, kind, default in taken)
    plain = ", ".join(f"{name} {kind}" for name, kind, _ in taken)
    call = f"pgmnemo.{inner(verb)}({', '.join(f'${place}' for place in range(1, len(taken) + 1))})"
    told = _literal(f"{verb.comment}. On the shard of the tenant")
    does = f"RETURN QUERY SELECT * FROM {call};" if verb.many else f"RETURN {call};"
    first = f"PERFORM pgmnemo._writing('{verb.name}'); " if verb.writes else ""
    return [
        f"CREATE OR REPLACE FUNCTION pgmnemo.{inner(verb)}({plain}) RETURNS {answer} "
        "LANGUAGE plproxy VOLATILE SET extra_float_digits = 1 "
        f"AS $route$ CONNECT pgmnemo._place({asked}); TARGET pgmnemo_shard.{verb.name}; $route$",
        f"CREATE OR REPLACE FUNCTION pgmnemo.{verb.name}({given}) "
        f"RETURNS {answer} LANGUAGE plpgsql VOLATILE AS $route$\n#variable_conflict use_column\n"
        "DECLARE _state text; _message text; _detail text; _hint text; "
        f"BEGIN {first}{does} {FAILED} END $route$",
        f"COMMENT ON FUNCTION pgmnemo.{verb.name} IS {told}",
    ]


def composite(name: str, attributes: Columns) -> str:
    """Return the statement that creates a composite type for values sent to or received from a shard."""
    inside = ", ".join(f"{attribute} {_domain(kind)}" for attribute, kind in attributes)
    return f"CREATE TYPE pgmnemo.{name} AS ({inside})"


def _default(expression: str | None) -> str:
    if expression is None:
        return ""
    return " DEFAULT " + expression.replace("::vector[]", "::text[]")


def _domain(kind: str) -> str:
    return f"public.{kind}" if passing(kind) != kind else kind


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
