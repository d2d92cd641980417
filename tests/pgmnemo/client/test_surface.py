"""The API itself: both shells alike, documented, immutable and cheap to import; that sync is made of
aio, `make lint` holds."""

from __future__ import annotations

import dataclasses
import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any, get_type_hints

import pytest

import pgmnemo
from pgmnemo import AsyncMemory, AsyncScope, Memory, Scope
from pgmnemo.client import records

PAIRS = [(Memory, AsyncMemory), (Scope, AsyncScope)]
RECORDS = [one for one in vars(records).values() if dataclasses.is_dataclass(one)]
WAITING = {"tenant", "project", "with_"}  # they ask nobody, and so nobody waits for them
HEAVY = {"psycopg", "psycopg_pool", "numpy", "rich", "torch", "onnxruntime", "cyclopts", "asyncio"}


def verbs(kind: type) -> dict[str, Any]:
    return {
        name: inspect.getattr_static(kind, name)
        for name in dir(kind)
        if not name.startswith("_") and callable(getattr(kind, name))
    }


def plain(function: Any) -> Any:
    return getattr(function, "__func__", function)


def spelled(told: object) -> str:
    """As the synchronous shell writes it."""
    return str(told).replace("Async", "")


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair[0].__name__)
def test_both_shells_have_the_same_verbs_with_the_same_arguments(pair: tuple[type, type]) -> None:
    ours, theirs = map(verbs, pair)
    assert list(ours) == list(theirs)
    for name in ours:
        one, other = (inspect.signature(plain(found[name])) for found in (ours, theirs))
        assert spelled(other) == str(one), name
        assert [_waits(found[name]) for found in (ours, theirs)] == [False, name not in WAITING], name


def _waits(verb: Any) -> bool:
    return inspect.iscoroutinefunction(plain(verb)) or inspect.isasyncgenfunction(verb)


@pytest.mark.parametrize("kind", [kind for pair in PAIRS for kind in pair], ids=lambda kind: kind.__name__)
def test_every_public_method_says_what_it_does_and_its_annotations_can_be_resolved(kind: type) -> None:
    assert inspect.getdoc(kind)
    for name, verb in verbs(kind).items():
        assert inspect.getdoc(plain(verb)), name
        assert "return" in get_type_hints(plain(verb), {**vars(sys.modules[kind.__module__]), "list": list})


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.__name__)
def test_records_are_frozen_slotted_and_documented(record: Any) -> None:
    assert record.__dataclass_params__.frozen
    assert "__slots__" in vars(record)
    assert inspect.getdoc(record)
    given = {field.name: None for field in dataclasses.fields(record) if field.default is dataclasses.MISSING}
    made = record(**given)
    assert not hasattr(made, "__dict__")
    with pytest.raises((dataclasses.FrozenInstanceError, TypeError, AttributeError)):
        setattr(made, dataclasses.fields(record)[0].name, 1)


def test_every_record_that_a_verb_takes_or_answers_is_in_the_package() -> None:
    missing = {record.__name__ for record in RECORDS} - set(pgmnemo.__all__)
    assert not missing


def test_every_name_of_the_package_is_there() -> None:
    for name in pgmnemo.__all__:
        assert getattr(pgmnemo, name).__name__ == name
    assert set(pgmnemo.__all__) <= set(dir(pgmnemo))
    with pytest.raises(AttributeError, match="no attribute 'Memories'"):
        pgmnemo.Memories  # noqa: B018


def test_types_are_told() -> None:
    assert (Path(pgmnemo.__file__).parent / "py.typed").is_file()


@pytest.mark.parametrize(
    ("code", "light"),
    [
        ("import pgmnemo", HEAVY),
        ("from pgmnemo import Memory", HEAVY),
        ("from pgmnemo import AsyncMemory", HEAVY - {"asyncio"}),
        ("from pgmnemo import Turn, Item, Hit, Context, PgmnemoError", HEAVY),
    ],
)
def test_an_import_loads_nothing_heavy(code: str, light: set[str]) -> None:
    told = f"{code}\nimport sys\nprint(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert light.intersection(done.stdout.split()) == set()
