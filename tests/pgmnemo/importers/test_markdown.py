"""Markdown is a lesson a section, text a lesson a file; neither has a time of its own unless asked."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pgmnemo.errors import UsageError
from pgmnemo.importers import ImportOptions
from tests.pgmnemo.importers.conftest import Read

NOTE = """---
title: "Boats"
date: 2024-05-08
tags: [sea, wind]
nested:
  - left out
---
Before any heading.

# Harbour

## North pier
The red boat.

```
# no heading
```

Setext too
----------
A blue one.

> ## quoted

## North pier
Again.
"""


def test_each_section_is_a_lesson(tmp_path: Path, read: Read) -> None:
    (tmp_path / "sea").mkdir()
    (tmp_path / "sea" / "boats.md").write_bytes(NOTE.replace("\n", "\r\n").encode())
    os.utime(tmp_path / "sea" / "boats.md", (1e9, 1e9))
    found = [one.item for one in read("markdown", tmp_path)]
    assert [(one.key, one.topic) for one in found] == [
        ("sea/boats.md", "Boats"),
        ("sea/boats.md#Harbour/North pier", "Harbour > North pier"),
        ("sea/boats.md#Harbour/Setext too", "Harbour > Setext too"),
        ("sea/boats.md#Harbour/North pier~2", "Harbour > North pier"),
    ]
    assert found[1].text == "## North pier\nThe red boat.\n\n```\n# no heading\n```"
    assert found[2].text == "Setext too\n----------\nA blue one.\n\n> ## quoted"
    assert all(one.at is None for one in found)
    assert found[0].metadata == {
        "title": "Boats", "date": "2024-05-08", "tags": "[sea, wind]", "source": "markdown",
        "path": "sea/boats.md", "modified": "2001-09-09T01:46:40+00:00",
    }  # fmt: skip


def test_keys_are_in_the_composed_form_of_unicode(tmp_path: Path, read: Read) -> None:
    (tmp_path / "cafe\u0301.md").write_text("# E\u0301te\nOne.\n# \u00c9te\nTwo.\n", encoding="utf-8")
    keys = [one.item.key for one in read("markdown", tmp_path)]
    assert keys == ["caf\u00e9.md#\u00c9te", "caf\u00e9.md#\u00c9te~2"]


def test_a_date_in_front_matter_is_a_time_where_that_is_asked(tmp_path: Path, read: Read) -> None:
    (tmp_path / "boats.md").write_text(NOTE)
    assert {one.item.at for one in read("markdown", tmp_path, dated=True)} == {
        datetime(2024, 5, 8, tzinfo=UTC)
    }


def test_a_file_is_one_lesson_where_that_is_asked_and_a_text_always(tmp_path: Path, read: Read) -> None:
    (tmp_path / "a.md").write_text("# A\nx\n# B\ny")
    (tmp_path / "b.txt").write_text("# A\nx\n# B\ny")
    assert [one.item.key for one in read("markdown", tmp_path)] == ["a.md#A", "a.md#B", "b.txt"]
    assert [one.item.key for one in read("markdown", tmp_path, whole=True)] == ["a.md", "b.txt"]


def test_a_file_that_is_no_utf8_or_too_long_does_not_stop_the_others(tmp_path: Path, read: Read) -> None:
    (tmp_path / "a.md").write_bytes("# Ä".encode("latin-1"))
    (tmp_path / "b.md").write_bytes(b"x" * 10_000_001)
    (tmp_path / "c.md").write_text("")
    (tmp_path / "d.md").write_text("\ufeffkept")
    with pytest.raises(UsageError, match=r"a.md cannot be read \(it is not UTF-8\)"):
        read("markdown", tmp_path)
    options = ImportOptions(skip_faults=True)
    assert [one.item.text for one in read("markdown", tmp_path, options)] == ["kept"]
    assert options.left.counts == {"damaged": 1, "too long": 1, "empty": 1}


@pytest.mark.parametrize(
    "text", ["---", "---\n---\n", "---\na: b\n---", "# A\n", "#\n", "---\nno end\n\n# A\nx"]
)
def test_odd_files_are_read(tmp_path: Path, read: Read, text: str) -> None:
    (tmp_path / "a.md").write_text(text)
    read("markdown", tmp_path)
