"""Checks that name the item and the key that is wrong, in one sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

from runner.errors import CorpusError
from runner.records import Json

T = TypeVar("T")
KINDS = {str: "a string", int: "a whole number", list: "a list", dict: "an object", float: "a number"}


def take(record: Json, key: str, kind: type[T], where: str) -> T:
    """`record[key]`, which must be a `kind`; `where` says which item it is."""
    if key not in record:
        raise CorpusError(f"{where} has no {key!r}; its keys are: {', '.join(list(record)[:8]) or 'none'}")
    return typed(record[key], kind, f"{key!r} of {where}")


def typed(value: Any, kind: type[T], where: str) -> T:
    """`value`, which must be a `kind` (a bool is no number)."""
    if not isinstance(value, kind) or isinstance(value, bool):
        raise CorpusError(f"{where} must be {KINDS[kind]}, but is {_shown(value)}")
    return value


def each(record: Json, key: str, kind: type[T], where: str) -> list[T]:
    """`record[key]`, which must be a list of `kind`."""
    values = take(record, key, list, where)
    return [typed(value, kind, f"{key!r}[{at}] of {where}") for at, value in enumerate(values)]


def one_of(value: T, known: Sequence[T], where: str) -> T:
    """`value`, which must be one of `known`."""
    if value not in known:
        raise CorpusError(f"{where} is {_shown(value)}, which is none of: {', '.join(map(str, known))}")
    return value


def distinct(values: Iterable[str], what: str) -> None:
    """CorpusError when a value occurs twice."""
    seen: set[str] = set()
    for value in values:
        if value in seen:
            raise CorpusError(f"{what} {value!r} occurs twice")
        seen.add(value)


def numbered(values: Iterable[str]) -> Iterator[str]:
    """`values`, of which one that stands there again becomes `<value>#2` and so on."""
    times: Counter[str] = Counter()
    for value in values:
        times[value] += 1
        yield value if times[value] == 1 else f"{value}#{times[value]}"


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
