"""What an import leaves out is counted and named, and no text, file or place stops it or has no end."""

from __future__ import annotations

import json
import os
import sqlite3
import time
import zipfile
from collections.abc import Iterable
from pathlib import Path

import pytest

from pgmnemo import Item
from pgmnemo.client.records import BatchResult
from pgmnemo.client.sync.scope import Scope
from pgmnemo.errors import RefusedError, UsageError
from pgmnemo.importers import ImportOptions, claude
from pgmnemo.importers.markdown import _front
from pgmnemo.importers.run_import import import_lessons
from pgmnemo.progress import QUIET, Progress
from tests.pgmnemo.importers.conftest import Read, Write, lines
from tests.pgmnemo.importers.test_chats import TALK, node
from tests.pgmnemo.importers.test_run_import import Kept


class Picky(Kept):
    """A memory that refuses texts with a word, and with them the whole set, as a server does."""

    def project(self, name: str) -> Picky:
        other = Picky()
        other.items, other.sent, other._name = self.items, self.sent, name
        return other

    def add_many(self, items: Iterable[Item], *, batch: int = 500, progress: Progress = QUIET) -> BatchResult:
        items = list(items)
        if any("refuse me" in str(item.text) for item in items):
            raise RefusedError("a text is refused")
        return super().add_many(items, batch=batch, progress=progress)


def test_a_refused_text_is_left_out_with_its_key_and_the_rest_is_stored(write: Write) -> None:
    place = write(
        "a.jsonl",
        lines(*({"key": f"k{n}", "text": "refuse me" if n in (3, 40) else f"t{n}"} for n in range(50))),
    )
    scope = Picky()
    done = import_lessons(scope, place)
    assert (done.outcomes, len(scope.items)) == ({"inserted": 48}, 48)
    assert done.left.counts == {"refused": 2}
    assert [sentence.partition(" ")[0] for sentence in done.left.named] == ["k3", "k40"]


def test_a_fault_says_how_much_of_the_import_is_stored(write: Write) -> None:
    place = write(
        "a.jsonl", lines(*({"key": f"k{n}", "text": f"t{n}", "project": "ab"[n // 5]} for n in range(10)))
    )
    with pytest.raises(Exception, match="the server is gone") as raised:
        import_lessons(Kept(fails_at=7), place)
    assert any("before that: 5 inserted" in note for note in raised.value.__notes__)


def test_a_server_refuses_a_text_and_the_rest_is_stored_in_the_order_of_the_file(
    scope: Scope, write: Write
) -> None:
    bad = " ".join(f"w{n:x}" for n in range(300_000))  # more lexemes than a tsvector holds
    keys = ["z", "a", "bad", "m", "b"]
    place = write(
        "a.jsonl", lines(*({"key": key, "text": bad if key == "bad" else f"text {key}"} for key in keys))
    )
    done = import_lessons(scope, place, project="boats")
    kept = [lesson.key for lesson in scope.list()]
    assert kept == [key for key in keys if key in kept]
    assert done.outcomes.total() + done.left.counts.total() == len(keys)


def test_add_many_and_import_keep_the_order_of_what_is_given(scope: Scope, tmp_path: Path) -> None:
    scope.add_many([Item(f"text {key}", key) for key in "zamby"])
    assert [lesson.key for lesson in scope.list()] == list("zamby")
    assert [lesson.key for lesson in scope.list(newest=True)] == list("ybmaz")
    scope.export(tmp_path / "a.jsonl")
    other = scope.project("other")
    other.import_(tmp_path / "a.jsonl")
    assert [lesson.key for lesson in other.list()] == list("zamby")


def test_another_text_under_a_superseded_key_is_in_force_again(scope: Scope) -> None:
    scope.add_many([Item("The boat lies at the pier.", "old"), Item("The boat lies on land.", "new")])
    scope.supersede("old", "new")
    assert scope.add("The boat lies at the pier.", key="old").outcome == "unchanged"
    assert "old" not in [lesson.key for lesson in scope.recall("boat")]
    assert scope.add("The boat is sold.", key="old").outcome == "restored"
    assert "old" in [lesson.key for lesson in scope.recall("boat")]


def test_blanks_make_no_other_fact_and_capital_letters_do(scope: Scope) -> None:
    scope.fact("Ada", "lives in", "Rome", exclusive=True)
    assert scope.fact(" Ada  ", "lives \t in", "Rome ").outcome == "unchanged"
    scope.fact("Ada ", "lives in", "Leipzig", exclusive=True)
    scope.fact("ada", "lives in", "Oslo", exclusive=True)
    held = {(fact.subject, fact.object) for fact in scope.facts() if fact.valid_to is None}
    assert held == {("Ada", "Leipzig"), ("ada", "Oslo")}


def test_chatgpt_counts_documents_pictures_attachments_and_other_branches(write: Write, read: Read) -> None:
    told = {
        **node("root", None, None),
        **node("q", "root", "user", "Where?", metadata={"attachments": [{"name": "map.pdf"}]}),
        **node("other", "q", "assistant", "An answer made again."),
        **node("doc", "q", "assistant", "{}", content_type="code", recipient="canmore.create_textdoc"),
        **node(
            "picture", "doc", "user", {"content_type": "image_asset_pointer"}, content_type="multimodal_text"
        ),
        **node("end", "picture", "assistant", "There."),
    }
    options = ImportOptions()
    place = write("export/conversations.json", [{**TALK, "mapping": told, "current_node": "end"}])
    write("export/memories.json", [])
    found = read("chatgpt", place.parent, options)
    assert [one.item.text for one in found] == ["Where?", "There."]
    assert options.left.counts == {"of another branch": 1, "canvas": 1, "without text": 1}
    assert options.left.beside == {"attachments": 1, "other files": 1}
    assert any("map.pdf" in sentence for sentence in options.left.named)
    assert any("memories.json" in sentence for sentence in options.left.named)


def test_claude_names_attachments_and_the_files_beside(write: Write, read: Read) -> None:
    message = {"uuid": "m", "sender": "human", "text": "Read it.", "attachments": [{"file_name": "a.txt"}]}
    place = write("export/conversations.json", [{"uuid": "c", "name": "n", "chat_messages": [message]}])
    write("export/projects.json", [])
    options = ImportOptions()
    assert len(read("claude", place.parent, options)) == 1
    assert options.left.beside == {"attachments": 1, "other files": 1}


def test_what_is_no_utf8_names_the_way_on(tmp_path: Path, read: Read) -> None:
    place = tmp_path / "a.jsonl"
    place.write_bytes(b'{"text": "caf\xe9"}\n{"text": "tea"}\n')
    with pytest.raises(UsageError, match=r"line 1.*--skip-faults"):
        read("jsonl", place)
    options = ImportOptions(skip_faults=True)
    assert [one.item.text for one in read("jsonl", place, options)] == ["tea"]
    assert options.left.counts == {"damaged": 1}


@pytest.mark.parametrize(
    "text",
    ["---\na:" + " " * 40_000 + "x", "---\n" + "a: b\n" * 40_000, "---\na" + " -" * 40_000 + "\n---\n"],
)
def test_front_matter_takes_linear_time(text: str) -> None:
    begun = time.process_time()
    _front(text + " " * 40_000)
    assert time.process_time() - begun < 0.5


def test_front_matter_is_read_as_before() -> None:
    assert _front('---\ntitle: "A b" \nx y: 1\n- no\n: no\n--- \n# Head') == (
        {"title": "A b", "x y": "1"},
        "# Head",
    )
    assert _front("---\nno end") == ({}, "---\nno end")
    assert _front("---\n---") == ({}, "")


@pytest.mark.parametrize("name", ["history", "HISTORY"])
def test_a_view_without_end_is_refused(name: str, tmp_path: Path, read: Read) -> None:
    place = tmp_path / "history.db"
    with sqlite3.connect(place) as connection:
        connection.execute(
            f"CREATE VIEW {name} AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
            "SELECT i AS memory_id, 'a' AS new_memory, 'ADD' AS event, '' AS created_at, '' AS updated_at "
            "FROM n"
        )
    connection.close()
    with pytest.raises(UsageError, match="history is a view, and a table is read here"):
        read("mem0", place)


def test_an_archive_has_a_bound_on_all_of_its_entries(tmp_path: Path, read: Read) -> None:
    place = tmp_path / "notes.zip"
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(12):
            archive.writestr(f"{number:02}.md", b"# a\n\n" + b"b " * 450_000)
    with pytest.raises(UsageError, match="unpacks to more than 10,000,000 bytes"):
        read("markdown", place)


def test_a_named_pipe_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "claude.json")
    with pytest.raises(
        UsageError, match=r"claude\.json is a pipe; save it as a file, or give an export to `mn"
    ):
        list(claude.read(tmp_path / "claude.json", options=ImportOptions()))


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
