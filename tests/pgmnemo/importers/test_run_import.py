"""An import stores what is new, leaves what is there, goes on where it was cut off, and knows formats."""

from __future__ import annotations

import json
import random
import re
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from pgmnemo.client.jsonl_format import ExportHeader, LessonLine, write_line
from pgmnemo.client.records import BatchResult, Item
from pgmnemo.client.scope_calls import text_digest
from pgmnemo.client.sync.scope import Scope as RealScope
from pgmnemo.errors import DatabaseError, UsageError
from pgmnemo.importers import IMPORTERS, ImportOptions
from pgmnemo.importers.run_import import detect_format, import_lessons
from pgmnemo.progress import QUIET, Progress
from tests.pgmnemo.importers import test_agents as agents
from tests.pgmnemo.importers import test_chats as chats
from tests.pgmnemo.importers import test_langgraph as langgraph
from tests.pgmnemo.importers import test_mem0 as mem0
from tests.pgmnemo.importers import test_mempalace as mempalace
from tests.pgmnemo.importers.conftest import Write, lines


class Kept:
    """A memory that keeps what it is given, and may fail at a lesson."""

    def __init__(self, fails_at: int = -1) -> None:
        self.items: dict[tuple[str, str], Item] = {}
        self.sent: list[int] = []
        self.fails_at, self._name = fails_at, ""

    def project(self, name: str) -> Kept:
        other = Kept(self.fails_at)
        other.items, other.sent, other._name = self.items, self.sent, name
        return other

    def known(self, keys: Sequence[str]) -> Mapping[str, str]:
        found = {key: self.items.get((self._name, key)) for key in keys}
        return {key: text_digest(str(item.text)) for key, item in found.items() if item}

    def add_many(self, items: Iterable[Item], *, batch: int = 500, progress: Progress = QUIET) -> BatchResult:
        items = list(items)
        self.sent.append(len(items))
        for item in items:
            if len(self.items) == self.fails_at:
                raise DatabaseError("the server is gone; start it again")
            self.items[self._name, str(item.key)] = item
        return BatchResult({"inserted": len(items)})

    def import_(self, place: Path | str, *, dry_run: bool = False, **others: Any) -> BatchResult:
        return BatchResult({"inserted": 7}, links=3, dry_run=dry_run)


def memories(count: int, **more: Any) -> list[dict[str, Any]]:
    return [{"id": f"m{n}", "memory": f"text {n}", "user_id": f"u{n % 3}", **more} for n in range(count)]


def test_a_second_import_changes_nothing(write: Write) -> None:
    kept, path = Kept(), write("x.json", memories(1000))
    first = import_lessons(kept, path, batch=64)
    assert first.format == "mem0"
    assert first.outcomes == {"inserted": 1000}
    assert first.projects == {"u0": 334, "u1": 333, "u2": 333}
    assert first.keys == ["mem0/m0", "mem0/m3", "mem0/m6", "mem0/m9", "mem0/m12"]
    sent = len(kept.sent)
    assert import_lessons(kept, path).outcomes == {"unchanged": 1000}
    assert len(kept.sent) == sent
    assert import_lessons(kept, path, refresh=True).outcomes["inserted"] == 1000


def test_an_import_that_was_cut_off_goes_on(write: Write) -> None:
    kept, path = Kept(fails_at=500), write("x.json", memories(1000))
    with pytest.raises(DatabaseError):
        import_lessons(kept, path, batch=100)
    kept.fails_at = -1
    outcomes = import_lessons(kept, path, batch=100).outcomes
    assert outcomes["unchanged"] == 500
    assert outcomes["inserted"] == 500


def test_a_dry_run_stores_nothing_and_says_what_would_happen(write: Write) -> None:
    kept = Kept()
    import_lessons(kept, write("x.json", memories(10)))
    kept.sent.clear()
    changed = [*memories(20)[5:], {"id": "m0", "memory": "other", "user_id": "u0"}]
    told = import_lessons(kept, write("y.json", changed), dry_run=True)
    assert told.outcomes == {"unchanged": 5, "inserted": 10, "updated": 1}
    assert kept.sent == []


def test_all_goes_into_one_project_where_that_is_said(write: Write) -> None:
    kept = Kept()
    told = import_lessons(kept, write("x.json", memories(9)), project="mine")
    assert told.projects == {"mine": 9}
    assert {name for name, _ in kept.items} == {"mine"}


def test_of_two_lessons_of_one_key_the_first_counts(write: Write) -> None:
    kept, options = Kept(), ImportOptions()
    path = write("x.jsonl", lines(*({"text": f"t{n}", "key": "a"} for n in range(3))))
    import_lessons(kept, path, options=options, batch=1)
    assert [item.text for item in kept.items.values()] == ["t0"]
    assert options.left.counts == {"repeated": 2}
    assert options.left.named[0].endswith("x.jsonl, line 2 repeats the key a")


def test_an_export_goes_in_whole_unless_faults_are_skipped(write: Write) -> None:
    path = write("x.jsonl", iter(EXPORT))
    kept = Kept()
    told = import_lessons(kept, path, dry_run=True)
    assert (told.outcomes, told.links, told.dry_run) == ({"inserted": 7}, 3, True)
    assert import_lessons(kept, path, options=ImportOptions(skip_faults=True)).outcomes["inserted"] == 1
    assert list(kept.items) == [(LESSON.project, "a")]


LESSON = LessonLine(project=UUID(int=7), key="a", text="b")
EXPORT = [json.loads(write_line(one)) for one in (ExportHeader(extension="0.5.0"), LESSON)]
CODEX = [agents.codex("session_meta", id="s"), agents.codex("response_item", **agents.message("user", "hi"))]
PLACES: dict[str, tuple[str, Callable[[], Any]]] = {
    "jsonl": ("x.jsonl", lambda: iter(EXPORT)), "claude-code": ("p/s.jsonl", lambda: iter(agents.SESSION)),
    "codex": ("p/r.jsonl", lambda: iter(CODEX)), "chatgpt": ("p/conversations.json", lambda: [chats.TALK]),
    "claude": ("p/conversations.json", lambda: [chats.CLAUDE]),
    "mem0": ("p/x.json", lambda: {"results": [mem0.MEMORY]}),
    "langgraph": ("p/x.json", lambda: [langgraph.ITEM]),
}  # fmt: skip


@pytest.mark.parametrize("name", PLACES)
def test_a_format_is_known_by_its_beginning(write: Write, tmp_path: Path, name: str) -> None:
    file, value = PLACES[name]
    path = write(file, value())
    (tmp_path / "README.md").write_text("what this is")
    assert detect_format(path) == name
    assert detect_format(tmp_path) == name


def test_folders_of_notes_palaces_histories_and_lines_by_hand_are_known(tmp_path: Path, write: Write) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("# A\nx")
    assert detect_format(tmp_path / "notes") == "markdown"
    assert detect_format(write("hand.jsonl", lines({"text": "a"}))) == "jsonl"
    for name, script in (("chroma.sqlite3", mempalace.TABLES), ("history.db", mem0.HISTORY)):
        connection = sqlite3.connect(tmp_path / name)
        connection.executescript(script)
        connection.close()
    assert detect_format(tmp_path / "history.db") == "mem0"
    (tmp_path / "hand.jsonl").unlink()
    assert detect_format(tmp_path) == "mempalace"


def test_a_place_of_no_or_of_two_formats_is_one_sentence(tmp_path: Path, write: Write) -> None:
    with pytest.raises(
        UsageError, match=r"x\.json begins like no format that is known; name the format, one"
    ):
        detect_format(write("x.json", {"a": 1}))
    (tmp_path / "x.json").unlink()
    write("a.json", [mem0.MEMORY | langgraph.ITEM])
    with pytest.raises(UsageError, match="could be mem0 or langgraph; name the format"):
        detect_format(tmp_path)
    with pytest.raises(UsageError, match="there is no file or folder"):
        detect_format(tmp_path / "none")
    with pytest.raises(UsageError, match="there is no format to import named 'word'; choose one of: jsonl, "):
        import_lessons(Kept(), tmp_path, "word")


def test_no_password_is_told_of_an_address() -> None:
    address = "postgresql://ada:secret@127.0.0.1:1/x"
    with pytest.raises(DatabaseError, match="cannot be reached") as unknown:
        detect_format(address)
    with pytest.raises(UsageError, match="mem0 is read from files") as wrong:
        import_lessons(Kept(), address, "mem0")
    with pytest.raises(DatabaseError, match="cannot be reached") as refused:
        import_lessons(Kept(), address, "langgraph")
    assert "secret" not in f"{unknown.value} {wrong.value} {refused.value}"


def test_every_format_has_a_sentence_of_help() -> None:
    for name in IMPORTERS:
        told = str(IMPORTERS[name].__doc__)
        assert told.endswith(".")
        assert "\n" not in told


@pytest.mark.parametrize("name", ["claude-code", "chatgpt", "mem0"])
def test_a_real_memory_takes_them_and_a_second_time_nothing(
    scope: RealScope, write: Write, name: str
) -> None:
    file, value = PLACES[name]
    path = write(file, value())
    first = import_lessons(scope, path)
    assert first.outcomes["inserted"] == sum(first.projects.values()) > 0
    lessons = [
        one for project in first.projects for one in (scope.project(project) if project else scope).list()
    ]
    assert len(lessons) == first.outcomes["inserted"]
    assert import_lessons(scope, path).outcomes == {"unchanged": len(lessons)}
    assert import_lessons(scope, path, refresh=True).outcomes == {"unchanged": len(lessons)}


def test_what_a_memory_exported_it_takes_again(scope: RealScope, tmp_path: Path) -> None:
    scope.add("I moved to Lisbon.", key="a")
    scope.add("I live in Porto.", key="b")
    scope.link("a", "b")
    scope.export(tmp_path / "x.jsonl")
    told = import_lessons(scope, tmp_path / "x.jsonl", project="copy")
    assert told.outcomes["inserted"] == 2
    assert told.links == 1
    assert import_lessons(scope, tmp_path / "x.jsonl", project="copy").outcomes["unchanged"] == 2


@pytest.mark.parametrize("name", PLACES)
def test_damage_of_any_kind_is_a_sentence_or_left_out(write: Write, name: str) -> None:
    path = write(PLACES[name][0], PLACES[name][1]())
    sound, chance = path.read_bytes(), random.Random(name)
    for _ in range(60):
        path.write_bytes(damaged(sound, chance))
        with suppress(UsageError):
            list(IMPORTERS[name](path, options=ImportOptions()))
        list(IMPORTERS[name](path, options=ImportOptions(skip_faults=True)))


def damaged(data: bytes, chance: random.Random) -> bytes:
    """Cut off, with other bytes, or with another value of JSON in the place of one."""
    at = chance.randrange(len(data))
    kind = chance.randrange(3)
    if kind == 0:
        return data[:at]
    if kind == 1:
        return data[:at] + chance.randbytes(chance.randrange(1, 4)) + data[at + 1 :]
    values = list(re.finditer(rb'"[^"]*"|null|-?\d[\d.]*', data))
    old = chance.choice(values)
    deep = b"[" * 700 + b"]" * 700
    new = chance.choice(
        [b"null", b"1e400", b"[]", b"{}", b'""', b"[{}]", b"-1", b"true", b'"\\ud800"', b"1e30", deep]
    )
    return data[: old.start()] + new + data[old.end() :]


def test_secrets_are_redacted_and_counted_and_a_second_import_changes_nothing(write: Write) -> None:
    kept, token = Kept(), "gl" + "pat-" + "a1B2" * 5
    path = write("x.json", [{"id": "m1", "memory": f"Use {token} there"}, *memories(2)])
    forecast = import_lessons(kept, path, dry_run=True)
    assert (forecast.redacted, kept.items) == ({"gitlab token": 1}, {})
    first = import_lessons(kept, path)
    assert (first.redacted, first.read) == ({"gitlab token": 1}, 3)
    texts = [item.text for item in kept.items.values()]
    assert texts[0] == "Use [redacted: gitlab token] there"
    assert import_lessons(kept, path).outcomes["unchanged"] == first.outcomes["inserted"]
    whole = import_lessons(kept, path, options=ImportOptions(keep_secrets=True))
    assert whole.redacted == {}
    assert token in str(kept.items)
    import_lessons(kept, path)  # which cleans what was stored before
    assert token not in str(kept.items)
