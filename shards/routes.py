"""The functions of the router: one for each verb, of the same name, with PL/Proxy for its body."""

from __future__ import annotations

from shards.doors import AGED, returns
from shards.verbs import Columns, Verb, passing


def route(verb: Verb) -> str:
    """The statements that make the router's function for `verb`.

    Where a column has the name of an argument, its rows are of a type of their own: a table would not do.
    """
    arguments = [
        f"{name} {passing(kind)}{_default(verb.defaults[place])}"
        for place, (name, kind) in enumerate(verb.arguments)
    ]
    arguments.append("settings jsonb DEFAULT pgmnemo._settings()")
    asked = "tenant"
    if verb.name == AGED:
        arguments.append("staleness interval DEFAULT NULL")
        asked = "tenant, staleness"
    made = f"pgmnemo.{verb.name}"
    row, answer = "", returns(verb)
    if {name for name, _ in verb.arguments} & {name for name, _ in verb.columns}:
        row = f"CREATE TYPE {made}_row AS {answer.removeprefix('TABLE ')};\n"
        answer = f"SETOF {made}_row"
    return (
        f"{row}CREATE FUNCTION {made}({', '.join(arguments)}) RETURNS {answer} "
        "LANGUAGE plproxy VOLATILE SET extra_float_digits = 1 "
        f"AS $route$ CONNECT pgmnemo._place({asked}); TARGET pgmnemo_shard.{verb.name}; $route$;\n"
        f"COMMENT ON FUNCTION {made} IS {_literal(f'{verb.comment}. On the shard of the tenant')};"
    )


def composite(name: str, attributes: Columns) -> str:
    """The statement that makes a composite type whose values pass to the shard."""
    inside = ", ".join(f"{attribute} {_domain(kind)}" for attribute, kind in attributes)
    return f"CREATE TYPE pgmnemo.{name} AS ({inside});"


def _default(expression: str | None) -> str:
    if expression is None:
        return ""
    return " DEFAULT " + expression.replace("::vector[]", "::text[]")


def _domain(kind: str) -> str:
    return f"public.{kind}" if passing(kind) != kind else kind


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
