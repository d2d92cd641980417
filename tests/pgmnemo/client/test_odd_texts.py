"""Lessons of odd texts, keys, names, times and metadata are the same after an export and an import."""

from __future__ import annotations

import io
import json
import random
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pgmnemo import Item
from pgmnemo.errors import ForeignProjectWarning
from tests.pgmnemo.client.driving import Place

pytestmark = pytest.mark.filterwarnings("ignore::pgmnemo.errors.ForeignProjectWarning")
ODD = [
    "\u2028", "\x85", "\x0b", "\x0c", "\x1c", "\r", "\r\n", "\t", "\x1b[31m", "\ufeff", "\u200b", "\u00ad",
    "\ufb01", "e\u0301", "\u0130", "\u1e9e", "\u202e", "\U000e0041", "\ufffd", "\uffff", "\ue000", "\x7f",
    "\\u0000", "\\", '"', "%s", "{}", "#", "</memory>", "a_" * 50, "\U0001f469\u200d\U0001f4bb",
]  # fmt: skip
WORDS = ["boat", "Zürich", "東京", "กรุงเทพ", "Привет", "سلام", "नमस्ते", "한국어", "running"]
LONG = "\n\n" + "A sentence of a long text. " * 30
DAY = datetime(2024, 5, 8, tzinfo=UTC)
TIMES = [
    None, DAY + timedelta(microseconds=1), datetime(1, 1, 1, tzinfo=UTC),
    datetime(1969, 12, 31, 23, 59, 59, 1, UTC), datetime(9999, 12, 31, 23, 59, 59, 999999, UTC),
]  # fmt: skip
METADATA: list[dict[str, Any] | None] = [
    None, {}, {"a": None}, {"n": 1e300}, {"n": 0.1}, {"n": 2**53 + 1}, {"n": 1.0}, {"": {"x": [[], {}]}},
    {"\u2028": "\U0001f469"}, {"a.b": "c"}, {"l": "x" * 2000},
]  # fmt: skip
PROJECTS = ["one", "two\u2028x", "zé"]


def items(chance: random.Random, number: int) -> list[Item]:
    """Lessons whose keys are in no order, some of equal texts."""
    return [
        Item(
            f"{chance.choice(WORDS)} {ODD[n % 31]} note {n % 90}{LONG * (n % 7 < 1)}{chance.choice(ODD)}",
            f"{'é' if n % 2 else 'z'}{n}{ODD[n * 3 % 31]}",
            chance.choice([None, "user", "ünï"]), chance.choice([None, "t \u2028", "x > y"]),
            chance.choice([None, 1, 5]), METADATA[n % len(METADATA)], TIMES[n % len(TIMES)],
            [None, None, DAY, TIMES[-1]][n % 4], position=chance.choice([None, n, -n]),
            language=[None, "english", "german", "simple", "ja"][n % 5],
        )
        for n in range(number)
    ]  # fmt: skip


def change(scope: Any, keys: list[str]) -> None:
    """Link, supersede in chains, forget, and state facts of which some take the place of others."""
    for n, (a, b, c, d, e) in enumerate(zip(*(iter(keys),) * 5, strict=False)):
        scope.link(a, b, weight=0.1 if n % 2 else 1.0)
        scope.supersede(b, c, at=DAY + timedelta(days=n), reason="because \u2028 of it" if n % 2 else None)
        scope.supersede(c, d)
        scope.forget(e)
        for place in ("R\u2028me", "Oslo"):
            scope.fact(f"Ada {n}", "lives in", f"{place} {n}", exclusive=True)


def exported(scope: Any) -> list[dict[str, Any]]:
    """The lines in their order, without what is another tenant's or another moment's."""
    scope.export(file := io.BytesIO())
    moved = ("tenant", "stored_at", "recorded_at")
    lines = file.getvalue().decode().split("\n")[:-1]
    return [{name: value for name, value in json.loads(line).items() if name not in moved} for line in lines]


def test_an_import_gives_the_export_that_it_was_made_of(memory: Any, place: Place) -> None:
    chance, source, target = random.Random(1), memory.tenant(place.tenant()), memory.tenant(place.tenant())
    for name in PROJECTS:
        source.project(name).add_many(given := items(chance, 124))
        change(source.project(name), [str(one.key) for one in given[:100]])
    told = exported(source)
    assert len([line for line in told if line.get("kind") == "lesson"]) == len(PROJECTS) * (124 + 40)
    assert {line.get("kind") for line in told} == {None, "lesson", "supersession", "link"}
    source.export(file := io.BytesIO())
    target.import_(io.BytesIO(file.getvalue()))
    assert exported(target) == told
    for name in PROJECTS:
        one, other = (tenant.project(source.project(name).project_id) for tenant in (source, target))
        assert [lesson.key for lesson in other.list()] == [lesson.key for lesson in one.list()]
        assert [(fact.text, fact.valid_to) for fact in other.facts()] == [
            (fact.text, fact.valid_to) for fact in one.facts()
        ]
    assert set(target.import_(io.BytesIO(file.getvalue())).outcomes) == {"unchanged"}


def test_projects_keep_their_names_in_another_tenant_where_they_are_told(memory: Any, place: Place) -> None:
    source, plain, named = (memory.tenant(place.tenant()) for _ in range(3))
    for name in ("home", "work"):
        source.project(name).add(f"A note of {name}.", key="a")
    source.project("home").add("More.", key="a2")
    source.project("home").link("a", "a2")
    source.project("home").supersede("a", "a2")
    source.export(file := io.BytesIO())
    with pytest.warns(ForeignProjectWarning, match="no name reaches them here: 3;"):
        plain.import_(io.BytesIO(file.getvalue()))
    assert list(plain.project("home").list()) == []
    named.import_(io.BytesIO(file.getvalue()), keep_projects=("home", "work"))
    assert [one.key for one in named.project("home").list()] == ["a2"]
    assert [one.text for one in named.project("work").list()] == ["A note of work."]
