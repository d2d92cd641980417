"""mem0's memories: what get_all answers, and the history, as mem0ai 2.2.1 and its documents have them."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pgmnemo.errors import UsageError
from pgmnemo.importers import ImportOptions
from tests.pgmnemo.importers.conftest import Read, Write, lines

MEMORY: dict[str, Any] = {
    "id": "892db2ae-06d9-49e5-8b3e-585ef9b85b8e", "memory": "Sails on Fridays", "hash": "f1a9",
    "metadata": {"kind": "habit"}, "created_at": "2024-09-03T10:16:05.490548-07:00", "updated_at": None,
    "user_id": "ada", "role": "user", "categories": ["sport"], "score": 0.3, "expiration_date": "2030-01-01",
}  # fmt: skip
WRITTEN: dict[str, Any] = {  # by get_all of mem0ai 2.2.1, after add(infer=False) and update
    "results": [
        {"id": "4f4b062c-f207-4301-9609-ac3c3f29cff4", "memory": "Likes green tea",
         "hash": "d33c030345a490c9d80c1f970b21bfab", "metadata": None,
         "created_at": "2026-11-30T01:29:01.423127+00:00", "updated_at": "2026-11-30T01:29:01.481947+00:00",
         "user_id": "bob", "agent_id": "chef", "role": "user"},
    ],
}  # fmt: skip
HISTORY = """
CREATE TABLE history (
    id TEXT PRIMARY KEY, memory_id TEXT, old_memory TEXT, new_memory TEXT, event TEXT, created_at DATETIME,
    updated_at DATETIME, is_deleted INTEGER, actor_id TEXT, role TEXT);
INSERT INTO history (id, memory_id, new_memory, event, created_at, updated_at) VALUES
    ('1', 'a', 'Sails on Mondays', 'ADD', '2024-09-03T10:00:00', NULL),
    ('2', 'b', 'Likes tea', 'ADD', '2024-09-03T10:00:00', NULL),
    ('3', 'a', 'Sails on Fridays', 'UPDATE', '2024-09-03T10:00:00', '2024-10-01T00:00:00+00:00'),
    ('4', 'b', NULL, 'DELETE', '2024-09-03T10:00:00', NULL);
"""


def test_each_memory_is_a_lesson_of_its_user(write: Write, read: Read) -> None:
    [found] = read("mem0", write("x.json", {"results": [MEMORY], "relations": []}))
    assert found.project == "ada"
    item = found.item
    assert (item.key, item.text, item.role) == (f"mem0/{MEMORY['id']}", "Sails on Fridays", "user")
    assert item.at == datetime(2024, 9, 3, 17, 16, 5, 490548, tzinfo=UTC)
    assert item.expires_at == datetime(2030, 1, 1, tzinfo=UTC)
    assert item.metadata == {
        "kind": "habit", "user_id": "ada", "hash": "f1a9", "categories": ["sport"], "source": "mem0",
        "created_at": MEMORY["created_at"],
    }  # fmt: skip


def test_what_the_package_wrote_is_read(write: Write, read: Read) -> None:
    [found] = read("mem0", write("x.json", WRITTEN))
    assert (found.project, found.item.text, found.item.role) == ("bob", "Likes green tea", "user")
    assert found.item.at == datetime(2026, 11, 30, 1, 29, 1, 481947, tzinfo=UTC)


def test_lists_lines_and_folders_of_them_are_read(tmp_path: Path, write: Write, read: Read) -> None:
    write("a.json", [MEMORY, {**MEMORY, "id": "2", "user_id": None, "agent_id": 7}])
    write("b.jsonl", lines({**MEMORY, "id": "3", "updated_at": "2025-01-01T00:00:00"}))
    found = read("mem0", tmp_path)
    assert [one.project for one in found] == ["ada", "7", "ada"]
    assert found[2].item.at == datetime(2025, 1, 1, tzinfo=UTC)


def test_a_history_gives_the_last_text_of_what_was_not_deleted(tmp_path: Path, read: Read) -> None:
    connection = sqlite3.connect(tmp_path / "history.db")
    connection.executescript(HISTORY)
    connection.close()
    [found] = read("mem0", tmp_path / "history.db")
    assert (found.item.key, found.item.text) == ("mem0/a", "Sails on Fridays")
    assert found.item.at == datetime(2024, 10, 1, tzinfo=UTC)


def test_what_is_no_memory_is_a_fault(tmp_path: Path, write: Write, read: Read) -> None:
    path = write("x.json", {"results": [{"id": "1"}, MEMORY, {"memory": "x"}]})
    with pytest.raises(UsageError, match="entry 1 is no memory: it has no `id` or no `memory`"):
        read("mem0", path)
    options = ImportOptions(skip_faults=True)
    assert len(read("mem0", path, options)) == 1
    assert options.left.counts == {"damaged": 2}
    sqlite3.connect(tmp_path / "empty.db").executescript("CREATE TABLE other (a)").connection.close()
    with pytest.raises(UsageError, match="no such table: history"):
        read("mem0", tmp_path / "empty.db")
