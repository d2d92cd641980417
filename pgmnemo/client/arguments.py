"""Check arguments against the type annotations of a function before it runs.

A rule that an annotation cannot express, such as a range, is checked where the argument is used. NumPy checks
vectors.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import is_dataclass
from datetime import datetime
from functools import cache, wraps
from numbers import Integral, Real
from types import FunctionType, UnionType
from typing import Any, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

from pgmnemo.errors import UsageError

Kind = TypeVar("Kind", bound=type)
TYPES: dict[Any, tuple[type, str]] = {  # by annotation: the type of a value, and its name in messages
    str: (str, "a text"), int: (Integral, "a whole number"), float: (Real, "a number"),
    bool: (bool, "True or False"), datetime: (datetime, "a datetime with a time zone"),
    Mapping: (Mapping, "a mapping of names to values"), Sequence: (Sequence, "a list"),
    Iterable: (Iterable, "a list"),
}  # fmt: skip
ABSTRACT_TYPES = {list: Sequence, tuple: Sequence, dict: Mapping}
EXACT_TYPES = (type(None), bool, int, datetime, Mapping)
SHOWN = 40  # characters of a wrong value


def check_arguments(kind: Kind) -> Kind:
    """Wrap the public methods of a class so that arguments of a wrong type raise UsageError."""
    for name, found in list(vars(kind).items()):
        verb = found.__func__ if isinstance(found, classmethod) else found
        if name.startswith("_") or not isinstance(verb, FunctionType) or verb.__module__ != kind.__module__:
            continue
        setattr(kind, name, type(found)(_with_checks(verb)) if verb is not found else _with_checks(verb))
    return kind


def check_fields(record: Any) -> None:
    """Raise UsageError if a field of a dataclass or a named tuple has a value of a wrong type."""
    kind: Any = type(record)
    for name, wanted in _hints(kind).items():
        _check(name, getattr(record, name), wanted)


def check(name: str, value: Any, hint: Any) -> None:
    """Raise UsageError if a value does not have the type `hint`, or is a text that no database can store."""
    _check(name, value, _argument_type(hint))


def _check(name: str, value: Any, wanted: ArgumentType) -> None:
    if type(value) in wanted.sure:
        return
    if type(value) is str and str in wanted.kinds:
        check_text(name, value)
        return
    if not any(_matches_type(value, kind) for kind in wanted.kinds):
        told = " or ".join(dict.fromkeys(_type_text(one) for one in wanted.choices if one is not type(None)))
        raise UsageError(f"{name} is {_value_text(value)}, but must be {told}")
    if isinstance(value, str):
        check_text(name, value)
    elif is_dataclass(type(value)) or hasattr(value, "_fields"):
        check_fields(value)
    elif Sequence in wanted.kinds and isinstance(value, Sequence):
        _check_elements(name, value, wanted)


def check_text(name: str, text: str) -> None:
    """Raise UsageError for a text with half a surrogate pair or a NUL character."""
    if text.isascii() and "\0" not in text:
        return
    if "\0" in text:
        raise UsageError(f"{name} has a NUL character, which no database takes; take it out")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UsageError(
            f"{name} holds {text[error.start]!a}, half a surrogate pair; decode it anew"
        ) from None


def _with_checks(verb: Any) -> Any:
    names = tuple(inspect.signature(verb).parameters)

    def check_all(given: tuple[Any, ...], named: Mapping[str, Any]) -> None:
        hints = _hints(verb)
        for name, value in (*zip(names, given, strict=False), *named.items()):
            if name in hints:
                _check(name, value, hints[name])

    if inspect.isasyncgenfunction(verb):

        @wraps(verb)
        async def generator(*given: Any, **named: Any) -> Any:
            check_all(given, named)
            async with aclosing(verb(*given, **named)) as found:
                async for one in found:
                    yield one

        return generator
    if inspect.iscoroutinefunction(verb):

        @wraps(verb)
        async def coroutine(*given: Any, **named: Any) -> Any:
            check_all(given, named)
            return await verb(*given, **named)

        return coroutine

    @wraps(verb)
    def function(*given: Any, **named: Any) -> Any:
        check_all(given, named)
        return verb(*given, **named)

    return function


class ArgumentType(NamedTuple):
    """A parsed annotation: its union members, their types without parameters, and the exact types that need
    no further check.
    """

    choices: tuple[Any, ...]
    kinds: tuple[Any, ...]
    sure: frozenset[type]


@cache
def _hints(of: Callable[..., Any]) -> dict[str, ArgumentType]:
    return {name: _argument_type(hint) for name, hint in get_type_hints(of).items()}


@cache
def _argument_type(hint: Any) -> ArgumentType:
    choices = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    kinds = tuple(Any if _is_vector(one) else _abstract_type(one) for one in choices)
    sure = {dict if kind is Mapping else kind for kind in kinds if kind in EXACT_TYPES}
    return ArgumentType(choices, kinds, frozenset(sure))


def _abstract_type(hint: Any) -> Any:
    kind = get_origin(hint) or hint
    return ABSTRACT_TYPES.get(kind, kind)


def _is_vector(hint: Any) -> bool:
    inner = get_args(hint)
    return _abstract_type(hint) is Sequence and bool(inner) and (inner[0] is float or _is_vector(inner[0]))


def _matches_type(value: Any, kind: Any) -> bool:
    if kind is Callable:
        return callable(value)
    if not isinstance(kind, type) or kind.__module__ == "typing":
        return True
    if isinstance(value, bool):
        return kind in (bool, object)
    if kind in (Sequence, Iterable) and isinstance(value, str | bytes | bytearray | Mapping):
        return False
    fits = isinstance(value, TYPES[kind][0] if kind in TYPES else kind)
    return fits and (kind is not float or abs(value) <= sys.float_info.max)


def _check_elements(name: str, value: Sequence[Any], wanted: ArgumentType) -> None:
    """Check each element of a list; skip pairs, which the called function checks."""
    inner, *_ = next((*get_args(one), Any) for one in wanted.choices if _abstract_type(one) is Sequence)
    for one in value if get_origin(inner) is not tuple else ():
        check(f"a part of {name}", one, inner)


def _value_text(value: Any) -> str:
    """Return the repr of a number or None, but only the type of other values, which may be private."""
    shown = value is None or isinstance(value, int | float)
    return repr(value)[:SHOWN] if shown else f"of type {type(value).__name__}"


def _type_text(hint: Any) -> str:
    kind, inner = _abstract_type(hint), get_args(hint)
    if kind in (Sequence, Iterable) and inner:
        return (
            "a list of texts" if inner[0] is str else f"a list of {getattr(inner[0], '__name__', 'values')}"
        )
    return TYPES[kind][1] if kind in TYPES else f"a {kind.__name__}"
