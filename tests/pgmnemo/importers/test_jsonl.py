"""Lines of JSON: an export that this package wrote, and lines by hand."""

from __future__ import annotations

from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from uuid import UUID

import pytest
from msgspec import structs

from pgmnemo.client.jsonl_format import (
    FOREVER,
    ExportHeader,
    LessonLine,
    LinkLine,
    SupersessionLine,
    write_line,
)
from pgmnemo.client.records import Item
from pgmnemo.client.sync.scope import Scope
from pgmnemo.errors import UsageError
from pgmnemo.importers import ImportOptions
from pgmnemo.importers.jsonl import is_export
from pgmnemo.importers.run_import import detect_format, import_lessons
from tests.pgmnemo.importers.conftest import Read, Write, lines

AT = datetime(2024, 5, 8, 13, 56, tzinfo=UTC)
PROJECT = UUID(int=7)
LESSON = LessonLine(
    project=PROJECT, key="a/1", text="I moved to Lisbon.", role="user", topic="moving", importance=4,
    metadata={"from": "Porto"}, at=AT, expires_at=FOREVER, commit_sha="c0ffee", artifact_hash="a",
    verified_at=AT, position=0, passages=("I moved", "to Lisbon."),
)  # fmt: skip


def export(path: Path, *records: LessonLine | LinkLine | SupersessionLine) -> Path:
    path.write_text("\n".join(map(write_line, (ExportHeader(extension="0.5.0"), *records))))
    return path


def test_a_lesson_of_an_export_keeps_what_it_has(tmp_path: Path, read: Read) -> None:
    path = export(tmp_path / "export", LESSON)
    assert is_export(path)
    [found] = read("jsonl", path)
    assert found.project == PROJECT
    assert found.where == f"{path}, line 2"
    assert found.item == Item(
        "I moved to Lisbon.", "a/1", "user", "moving", 4, {"from": "Porto"}, AT, FOREVER, "c0ffee", "a",
        AT, 0, ["I moved", "to Lisbon."],
    )  # fmt: skip


def test_what_only_a_whole_import_takes_is_counted(tmp_path: Path, read: Read) -> None:
    link = LinkLine(project=PROJECT, source="a", target="b", type="related")
    forgotten = LessonLine(project=PROJECT, key="b", text="b", active=False)
    options = ImportOptions()
    assert len(read("jsonl", export(tmp_path / "x.jsonl", LESSON, link, forgotten), options)) == 1
    assert options.left.counts == {"not a lesson in force": 2}
    assert options.left.named[0].endswith(
        "line 3 is no lesson in force; to take it, import this file alone, without --skip-faults"
    )


def test_lines_by_hand_need_a_text_alone(write: Write, read: Read) -> None:
    path = write(
        "x.jsonl",
        lines(
            {"text": "Blue."},
            {"text": "Red.", "key": "r", "project": "p", "at": "2024-05-08T13:56:00", "tags": ["x"],
             "metadata": {"a": 1}},
        ),
    )  # fmt: skip
    assert not is_export(path)
    first, second = read("jsonl", path)
    assert (first.project, first.item.text, len(str(first.item.key))) == (None, "Blue.", 64)
    assert second.project == "p"
    assert second.item == Item("Red.", "r", at=AT, metadata={"tags": ["x"], "a": 1})


def test_equal_texts_of_other_times_or_speakers_are_lessons_of_their_own(
    scope: Scope, write: Write, read: Read
) -> None:
    again = {"text": "Went for a run.", "at": "2026-01-01", "role": "user"}
    said = [
        again, {**again, "at": "2026-01-08"}, {"text": "Yes.", "role": "user"},
        {"text": "Yes.", "role": "assistant"}, {"text": "Yes.", "topic": "user"},
        {"text": "Yes.", "position": 1}, {"text": "Yes."},
    ]  # fmt: skip
    equal = [again, {**again, "at": "2026-01-01T02:00+02:00", "topic": "", "importance": 5}]
    path = write("x.jsonl", lines(*said, *equal))
    keys = [one.item.key for one in read("jsonl", path)]
    assert len(set(keys)) == len(said)
    assert keys[len(said) - 1] == sha256(b"Yes.").hexdigest()  # as earlier releases stored it
    assert import_lessons(scope, path).outcomes == {"inserted": len(said)}
    assert {(one.text, one.role, one.at) for one in scope.list()} >= {
        ("Went for a run.", "user", datetime(2026, 1, 8, tzinfo=UTC)), ("Yes.", "assistant", None),
    }  # fmt: skip
    assert import_lessons(scope, path).outcomes == {"unchanged": len(said)}


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ({"key": "a"}, "line 1: Object missing required field `text`"),
        ({"text": 1}, "line 1: Expected `str | array`, got `int` - at `$.text`"),
        ({"text": []}, "line 1: `text` is a list; give one text a line"),
        ({"text": "a", "metadata": "x"}, "line 1: Expected `object | null`, got `str` - at `$.metadata`"),
        ({"text": "a", "at": "soon"}, "line 1: no time such as 2026-05-01T13:56:00Z - at `$.at`"),
        ({"text": "a", "importance": "high"}, "line 1: Expected `int | null`, got `str` - at `$.importance`"),
        ({"pgmnemo": "memory", "format": 9}, "line 1 is of format 9, and this package reads up to 1"),
    ],
)
def test_a_line_that_is_no_lesson_is_one_sentence(
    write: Write, read: Read, line: object, sentence: str
) -> None:
    path = write("x.jsonl", lines(line, {"text": "b", "key": "b"}))
    if line != {"key": "a"}:
        assert detect_format(path) == "jsonl"
    with pytest.raises(UsageError) as raised:
        read("jsonl", path)
    assert f"{path}, {sentence}" in str(raised.value)
    assert [one.item.key for one in read("jsonl", path, skip_faults=True)] == ["b"]


def test_an_export_that_is_cut_off_or_has_another_behind_it_names_the_line(
    scope: Scope, tmp_path: Path
) -> None:
    path = export(tmp_path / "x", structs.replace(LESSON, text="b" * 1000))
    whole = path.read_text()
    for text, sentence in (
        (whole[:900], f"{path}, line 2: Input data was truncated"),
        (
            f"{whole}\n{whole}",
            f"a second export begins at {path}, line 3; save it in a file of its own, and im",
        ),
    ):
        path.write_text(text)
        assert detect_format(path) == "jsonl"
        with pytest.raises(UsageError) as raised:
            import_lessons(scope, path)
        assert sentence in str(raised.value)
    options = ImportOptions(skip_faults=True)
    assert import_lessons(scope, path, options=options, dry_run=True).outcomes == {"inserted": 1}
    assert options.left.counts == {"damaged": 1, "repeated": 1}


def test_texts_that_no_memory_takes_are_counted_and_named(write: Write, read: Read) -> None:
    deep: object = 1
    for _ in range(600):
        deep = [deep]
    path = write(
        "x.jsonl",
        lines(
            {"text": " \n"},
            {"text": "x" * 10_000_001},
            {"text": "a", "metadata": {"a": list(range(10_001))}},
            {"text": "a", "metadata": {"a": "x" * 1_000_000}},
            {"text": "a", "metadata": {"a": deep}},
            {"text": "kept"},
        ),
    )
    options = ImportOptions(skip_faults=True)
    assert [one.item.text for one in read("jsonl", path, options)] == ["kept"]
    assert options.left.counts == {"empty": 1, "too long": 3, "damaged": 1}
    assert "line 2 has a text of 10,000,001 bytes, and 10,000,000 are stored" in options.left.named[1]


def test_what_postgresql_does_not_store_is_replaced(write: Write, read: Read) -> None:
    path = write("x.jsonl", lines({"text": "a\0b", "key": "k\0", "metadata": {"n\0": ["\0", 2**2000]}}))
    [found] = read("jsonl", path)
    assert found.item == Item("a\ufffdb", "k\ufffd", metadata={"n\ufffd": ["\ufffd", None]})


def test_a_key_that_is_too_long_keeps_its_beginning_and_stays_its_own(write: Write, read: Read) -> None:
    path = write("x.jsonl", lines(*({"text": "a", "key": "ä" * 600 + end} for end in "ab")))
    keys = [str(one.item.key) for one in read("jsonl", path)]
    assert len(set(keys)) == 2
    assert all(len(key.encode()) <= 1000 and key.startswith("ä" * 450) for key in keys)


def test_a_superseded_lesson_of_an_export_is_not_in_force(tmp_path: Path, read: Read) -> None:
    later = [SupersessionLine(project=PROJECT, old=key, at=at) for key, at in (("a/1", AT), ("b", FOREVER))]
    other = structs.replace(LESSON, key="b")
    options = ImportOptions()
    assert [
        one.item.key for one in read("jsonl", export(tmp_path / "x", LESSON, other, *later), options)
    ] == ["b"]
    assert options.left.counts == {"not a lesson in force": 3}
