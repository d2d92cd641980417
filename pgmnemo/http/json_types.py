"""Types for the JSON requests and responses of verbs, derived from their signatures and records."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from functools import cache, reduce
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta
from msgspec.inspect import FloatType, IntType, ListType, StructType, UnionType, type_info

NO_JSON = {"self", "place", "progress"}  # parameters of verbs without a JSON form
LISTS = (Sequence, Iterable)
INTEGER = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
shape_of = cache(type_info)
TIME = Annotated[datetime, Meta(tz=True)]


def request_type(name: str, verb: Callable[..., Any], most: Mapping[str, int]) -> type[msgspec.Struct]:
    """Return the type of a verb's body: its parameters that have a JSON form, and the project.

    `most` maps names of whole-number parameters to their upper bounds; the lower bound is 1.
    """
    hints = get_type_hints(verb)
    hints |= {each: Annotated[int, Meta(ge=1, le=bound)] for each, bound in most.items()}
    given: list[Any] = [
        _field(one.name, hints[one.name], one.default, one.empty)
        for one in inspect.signature(verb).parameters.values()
        if one.name not in NO_JSON and get_origin(hints[one.name]) is not Callable
    ]
    return _struct(name, [*given, ("project", str | None, None)])


@cache
def response_type(kind: type, **more: Any) -> type[msgspec.Struct]:
    """Return the response type of a record, as in the output of `mnemo --json`; `more` adds or replaces
    fields.
    """
    hints = get_type_hints(kind)
    names = [one.name for one in fields(kind) if one.compare and one.name not in more]
    return _struct(kind.__name__, [*((name, _json_type(hints[name])) for name in names), *more.items()])


@cache
def _request_record(kind: type) -> type[msgspec.Struct]:
    """Return the request type of a record; unknown fields are refused."""
    hints = get_type_hints(kind)
    absent = inspect.Parameter.empty
    signature = inspect.signature(kind).parameters.values()
    struct = _struct(
        kind.__name__, [_field(one.name, hints[one.name], one.default, absent) for one in signature]
    )
    RECORDS[struct] = kind
    return struct


RECORDS: dict[type[msgspec.Struct], type] = {}


def _struct(name: str, given: Sequence[Any]) -> type[msgspec.Struct]:
    return msgspec.defstruct(name, given, kw_only=True, frozen=True, forbid_unknown_fields=True)


def _field(name: str, hint: Any, default: Any, absent: Any) -> tuple[Any, ...]:
    return (name, _json_type(hint)) if default is absent else (name, _json_type(hint), default)


def _json_type(hint: Any) -> Any:
    """Return the JSON type for a type of the library."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint is datetime:
        return TIME
    if hint is int:
        return INTEGER
    if is_dataclass(hint):
        return _request_record(hint)  # type: ignore[arg-type]
    if origin in (Union, types.UnionType):
        return Union[tuple(_json_type(one) for one in inner)]  # noqa: UP007
    if origin in LISTS or (origin is tuple and inner[-1] is ...):
        return list[_json_type(inner[0])]  # type: ignore[misc]
    if origin is tuple:
        return tuple[tuple(_json_type(one) for one in inner)]  # type: ignore[misc]
    if origin in (Mapping, dict):
        return dict[str, _json_type(inner[1])]  # type: ignore[misc]
    return hint


def with_whole_numbers(value: Any, shape: Any) -> Any:
    """Return a decoded value with each whole float as an int where its type, `shape`, takes an int.

    JSON Schema counts 1.0 as an integer, and msgspec does not.
    """
    shape = getattr(shape, "type", shape)  # without metadata
    if isinstance(shape, UnionType):
        return reduce(with_whole_numbers, shape.types, value)
    if isinstance(shape, IntType) and isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(shape, StructType) and isinstance(value, Mapping):
        inner = {field.name: field.type for field in shape.fields}
        return {name: with_whole_numbers(each, inner.get(name)) for name, each in value.items()}
    if isinstance(shape, ListType) and not isinstance(shape.item_type, FloatType) and isinstance(value, list):
        return [with_whole_numbers(each, shape.item_type) for each in value]
    return value


def to_native(value: Any) -> Any:
    """Return a decoded value as the type that the library expects."""
    if isinstance(value, msgspec.Struct):
        return RECORDS[type(value)](**{name: to_native(one) for name, one in struct_items(value)})
    return [to_native(one) for one in value] if isinstance(value, list) else value


def struct_items(value: msgspec.Struct) -> list[tuple[str, Any]]:
    """Return the fields of a struct with their values."""
    return [(name, getattr(value, name)) for name in value.__struct_fields__]
