"""What stops a set of lessons names its key, and says how many are stored."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pgmnemo import Item
from pgmnemo.client.sync.scope import Scope
from pgmnemo.errors import UsageError


@pytest.mark.parametrize("bad", [Item("a\0b", "bad"), Item(" ", "bad"), Item("a", "bad", importance=9)])
def test_a_lesson_that_is_refused_is_named_with_the_number_that_is_stored(scope: Scope, bad: Item) -> None:
    items = [*(Item(f"text {number}", f"k{number}") for number in range(5)), bad]
    with pytest.raises(UsageError, match="lesson 'bad'") as raised:
        scope.add_many(items, batch=2)
    assert any(note.startswith("4 lessons before them are stored") for note in raised.value.__notes__)
    assert scope.count().lessons == 4


def test_an_export_that_is_refused_says_how_many_lessons_are_stored(scope: Scope, tmp_path: Path) -> None:
    scope.add_many([Item(f"text {number}", f"k{number}") for number in range(600)])
    scope.export(tmp_path / "a.jsonl")
    lines = (tmp_path / "a.jsonl").read_text().splitlines()
    line = json.loads(lines[590])
    lines[590] = json.dumps({**line, "text": "a\0b"})
    (tmp_path / "a.jsonl").write_text("\n".join(lines) + "\n")
    with pytest.raises(UsageError, match=f"lesson '{line['key']}'") as raised:
        scope.project("other").import_(tmp_path / "a.jsonl")
    stored = scope.project("other").count().lessons
    assert any(
        note.startswith(f"{stored:,} lessons before that are stored") for note in raised.value.__notes__
    )
