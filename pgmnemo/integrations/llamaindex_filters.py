"""Convert MetadataFilters of LlamaIndex to conditions, and to checks for operators that the memory lacks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pgmnemo.errors import UsageError
from pgmnemo.integrations.documents import KEPT, Condition, any_of, conjunction, missing_package

try:
    from llama_index.core.vector_stores.types import (
        FilterCondition,
        FilterOperator,
        MetadataFilter,
        MetadataFilters,
    )
except ModuleNotFoundError:
    raise missing_package("llama-index-core", "llamaindex") from None

Check = Callable[[Mapping[str, Any]], bool]
COMPARED = {
    FilterOperator.EQ: "eq",
    FilterOperator.NE: "ne",
    FilterOperator.GT: "gt",
    FilterOperator.GTE: "gte",
    FilterOperator.LT: "lt",
    FilterOperator.LTE: "lte",
    FilterOperator.CONTAINS: "eq",  # a list counts as each of its elements
}
WITHIN: dict[FilterOperator, Callable[[str], str]] = {
    FilterOperator.TEXT_MATCH: str,
    FilterOperator.TEXT_MATCH_INSENSITIVE: str.lower,
}
NOT_WITHIN = "text_match is served among conditions of which all must hold, not under `or`, `not` or nested"


def conditions(filters: MetadataFilters | None) -> tuple[Condition | None, list[Check]]:
    """Return MetadataFilters as conditions of the extension, and as checks for text containment.

    The extension has no text containment. Raise UsageError for such a check under OR, NOT or in nested
    filters, and for a value that an operator does not take.
    """
    if filters is None or not filters.filters:
        return None, []
    within = [one for one in filters.filters if isinstance(one, MetadataFilter) and one.operator in WITHIN]
    rest = [one for one in filters.filters if one not in within]
    joined = filters.condition or FilterCondition.AND
    if within and joined != FilterCondition.AND:
        raise UsageError(NOT_WITHIN)
    told = _join_filters(MetadataFilters(filters=rest, condition=joined)) if rest else None
    return told, [_text_check(one) for one in within]


def _join_filters(filters: MetadataFilters) -> Condition:
    told = [
        _join_filters(one) if isinstance(one, MetadataFilters) else _comparison(one)
        for one in filters.filters
    ]
    if not told:
        raise UsageError("a nested filter is empty; leave it out")
    if filters.condition == FilterCondition.OR:
        return {"or": told}
    return {"not": {"or": told}} if filters.condition == FilterCondition.NOT else conjunction(told) or {}


def _comparison(one: MetadataFilter) -> Condition:
    path, operator, value = path_of(one.key), one.operator, one.value
    if operator == FilterOperator.IS_EMPTY:
        return {"or": [{path: {"exists": False}}, {path: {"in": [None, ""]}}]}
    if operator in COMPARED:
        if value is None or isinstance(value, list):
            raise UsageError(f"the operator {operator.value} of {one.key!r} takes one text or number")
        return {path: {COMPARED[operator]: value}}
    if operator in WITHIN:
        raise UsageError(NOT_WITHIN)
    if not isinstance(value, list):
        raise UsageError(f"the operator {operator.value} of {one.key!r} takes a list")
    if operator == FilterOperator.ALL:
        return {"and": [{path: {"exists": True, "ne": None}}, *({path: {"eq": each}} for each in value)]}
    found = any_of(path, value)
    return {"not": found} if operator == FilterOperator.NIN else found


def _text_check(one: MetadataFilter) -> Check:
    fold, wanted, key = WITHIN[one.operator], one.value, stored_key(one.key)
    if not isinstance(wanted, str):
        raise UsageError(f"the operator {one.operator.value} of {one.key!r} takes a text")

    def check(metadata: Mapping[str, Any]) -> bool:
        held = metadata.get(key)
        return isinstance(held, str) and fold(wanted) in fold(held)

    return check


def is_one_of(node_ids: Sequence[str]) -> Check:
    """Return a check whether a node has one of more ids than a filter can contain."""
    wanted = set(node_ids)
    return lambda metadata: metadata.get(KEPT) in wanted


def path_of(key: str) -> str:
    """Return a metadata key for a filter; the leading dot distinguishes a key named `and` from the
    operator.
    """
    return f".{stored_key(key)}"


def stored_key(key: str) -> str:
    """Return a metadata key as it is stored, without dots, which would lead into nested metadata."""
    return key.replace("%", "%25").replace(".", "%2E") or "%"
