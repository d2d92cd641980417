"""Convert LangChain's metadata filters with operators to conditions of the memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pgmnemo.errors import UsageError
from pgmnemo.integrations.documents import Condition, any_of, conjunction

COMPARED = {f"${name}": name for name in ("eq", "ne", "gt", "gte", "lt", "lte", "prefix", "exists")}


def conditions(given: Mapping[str, Any] | None) -> Condition | None:
    """Return a LangChain filter as conditions of the extension; raise UsageError for an invalid filter.

    Each key names a field of metadata; a dot in it leads into nested metadata. Its value is the wanted value,
    or operators: $eq, $ne, $gt, $gte, $lt, $lte, $in, $nin, $between, $prefix, $exists. $and, $or and $not
    combine filters.
    """
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise UsageError(f"filter is a mapping such as {{'lang': 'de'}}, not {type(given).__name__}")
    return conjunction(_condition(key, value) for key, value in given.items())


def _condition(key: str, value: Any) -> Condition | None:
    if key in ("$and", "$or"):
        if not isinstance(value, list | tuple) or not value:
            raise UsageError(f"filter: {key} takes a list of filters, such as [{{'lang': 'de'}}]")
        return {key[1:]: [_some(one, key) for one in value]}
    if key == "$not":
        return {"not": _some(value, key)}
    if not isinstance(key, str) or key.startswith("$"):
        raise UsageError(f"filter: there is no {key!r}; $and, $or and $not join conditions")
    if not isinstance(value, Mapping):
        value = {"$eq": value}
    if not value:
        raise UsageError(f"filter: {key!r} has no operator in it; leave it out")
    return conjunction(_comparison(key, operator, operand) for operator, operand in value.items())


def _some(given: Any, key: str) -> Condition:
    told = conditions(given)
    if not told:
        raise UsageError(f"filter: {key} has an empty filter in it; leave it out")
    return told


def _comparison(key: str, operator: str, operand: Any) -> Condition:
    path = f".{key}"  # the dot distinguishes a key named `and` from the operator
    if operator in ("$in", "$nin", "$between") and not isinstance(operand, list | tuple | set | frozenset):
        raise UsageError(f"filter: {operator} of {key!r} takes a list, not {type(operand).__name__}")
    if operator == "$in":
        return any_of(path, list(operand))
    if operator == "$nin":
        return {"not": any_of(path, list(operand))}
    if operator == "$between" and len(operand) == 2:
        return {path: {"gte": operand[0], "lte": operand[1]}}
    if operator not in COMPARED:
        told = ", ".join([*COMPARED, "$in", "$nin", "$between"])
        raise UsageError(f"filter: {key!r} has no operator {operator!r}; those are {told}")
    return {path: {COMPARED[operator]: operand}}
