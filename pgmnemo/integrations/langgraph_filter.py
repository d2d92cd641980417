"""The filters of LangGraph's stores: matching of values, and conditions that the extension checks first."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

from pgmnemo.errors import UsageError

ORDERS = {"$gt": operator.gt, "$gte": operator.ge, "$lt": operator.lt, "$lte": operator.le}
OPERATORS = ("$eq", "$ne", *ORDERS)


class StoreError(UsageError, ValueError):
    """An operation that the store refuses: a ValueError, as LangGraph's own stores raise it."""


def check_filter(wanted: Any) -> None:
    """Raise StoreError for an invalid filter."""
    if not isinstance(wanted, Mapping):
        return
    for name, given in wanted.items():
        if _operates(wanted) and name not in OPERATORS:
            raise StoreError(f"Unsupported operator: {name}; those are {', '.join(OPERATORS)}")
        if name in ORDERS and _order_type(given) is None:
            raise StoreError(f"{name} compares with a number or a text, not with {given!r:.40}")
        if not _operates(wanted):
            check_filter(given)


def matches(value: Any, wanted: Any) -> bool:
    """Return whether a JSON value matches a filter: an object by the filter's fields, others by equality.

    A missing field matches nothing, not even `$ne`. Numbers are compared with numbers, texts with texts in
    the order of their characters.
    """
    if not isinstance(wanted, Mapping):
        return _same(value, wanted)
    if _operates(wanted):
        return all(_holds(value, name, given) for name, given in wanted.items())
    return isinstance(value, dict) and all(
        name in value and matches(value[name], given) for name, given in wanted.items()
    )


def sql_conditions(path: str, wanted: Any) -> dict[str, Any]:
    """Return conditions of the extension that each value accepted by `matches` meets; others may meet them.

    The extension reads a list as each of its elements, and a name with a dot as two names.
    """
    if not isinstance(wanted, Mapping):
        wanted = {"$eq": wanted}
    if _operates(wanted):
        asked = {
            name[1:]: given
            for name, given in wanted.items()
            if name != "$ne" and not isinstance(given, dict | list)
        }
        return {path: asked} if asked else {}
    parts = [sql_conditions(f"{path}.{name}", given) for name, given in wanted.items() if "." not in name]
    return {name: asked for part in parts for name, asked in part.items()}


def _operates(wanted: Mapping[str, Any]) -> bool:
    return any(name.startswith("$") for name in wanted)


def _holds(value: Any, name: str, given: Any) -> bool:
    if name in ORDERS:
        return _order_type(value) == _order_type(given) and bool(ORDERS[name](value, given))
    return _same(value, given) == (name == "$eq")


def _order_type(value: Any) -> type | None:
    """Return the kind of an orderable value, number or text; None for other values."""
    if isinstance(value, str):
        return str
    return float if isinstance(value, int | float) and not isinstance(value, bool) else None


def _same(one: Any, other: Any) -> bool:
    """Return whether two JSON values are equal: 1 equals 1.0, but not true."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)
