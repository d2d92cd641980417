"""A stranger's files: each thing that was read is counted, and a file of another format is called so."""

from __future__ import annotations

import gzip
import json
import sqlite3
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pgmnemo.cli.commands import main
from pgmnemo.errors import UsageError
from pgmnemo.importers import IMPORTERS, ImportOptions
from pgmnemo.importers.run_import import detect_format, import_lessons
from tests.pgmnemo.importers import test_chats as chats
from tests.pgmnemo.importers import test_langgraph as langgraph
from tests.pgmnemo.importers import test_mem0 as mem0
from tests.pgmnemo.importers.conftest import Read, Write, lines
from tests.pgmnemo.importers.test_agents import SESSION
from tests.pgmnemo.importers.test_run_import import CODEX, Kept

TALK: Any = chats.TALK
SAID = [one for one in TALK["mapping"].values() if one["message"]]
OLD_CODEX = [
    {"id": "s", "timestamp": "2025-05-26T07:27:40Z", "instructions": None},
    {"record_type": "state"}, {"type": "reasoning", "encrypted_content": "x"},
    {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "rules"}]},
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Paint it."}]},
]  # fmt: skip
OTHER_TALK = {**chats.CLAUDE, "uuid": "c3", "chat_messages": []}
HAND = [{"text": "a"}, {"text": "\u200b"}, {"text": "a"}, *({"text": one, "key": "k"} for one in "bc")]
FILES: dict[str, tuple[str, Callable[[], Any], int]] = {
    "jsonl": ("h.jsonl", lambda: iter(HAND), len(HAND)),
    "claude-code": ("s.jsonl", lambda: iter([*SESSION, SESSION[3]]), len(SESSION) + 1),
    "codex": ("r.jsonl", lambda: iter([*CODEX, *OLD_CODEX[1:]]), len(CODEX) + len(OLD_CODEX) - 1),
    "chatgpt": ("a.json", lambda: [TALK], len(SAID)),
    "claude": ("b.json", lambda: [chats.CLAUDE, OTHER_TALK], len(chats.CLAUDE["chat_messages"]) + 1),
    "mem0": ("x.json", lambda: {"results": [mem0.MEMORY] * 2, "relations": [{"source": "ada"}]}, 2),
    "langgraph": ("y.json", lambda: [langgraph.ITEM] * 2, 2),
}  # fmt: skip
"""Of each format a file, and how many messages, memories, items or lines it has."""


@pytest.mark.parametrize("name", FILES)
def test_what_was_read_is_stored_or_left_out(write: Write, name: str) -> None:
    file, value, things = FILES[name]
    done = import_lessons(Kept(), write(file, value()), name)
    assert done.read == things == done.outcomes.total() + done.left.counts.total()
    assert done.outcomes["inserted"] == sum(done.projects.values()) > 0


def test_sections_drawers_and_histories_add_up_too(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n\n## B\nx\n\n## C\n\n# D\ny\n")
    (tmp_path / "b.md").write_text("\n")
    done = import_lessons(Kept(), tmp_path, "markdown")
    assert (done.read, done.outcomes, done.left.counts) == (4, {"inserted": 2}, {"empty": 2})
    assert [sentence.rpartition("/")[2] for sentence in done.left.named] == [
        "a.md, C has no text", "b.md has no text",
    ]  # fmt: skip
    with sqlite3.connect(tmp_path / "history.db") as connection:
        connection.executescript(mem0.HISTORY)
        things = len(set(connection.execute("SELECT memory_id FROM history")))
    connection.close()
    done = import_lessons(Kept(), tmp_path / "history.db", "mem0")
    assert done.read == things == done.outcomes["inserted"] + done.left.counts["deleted"]


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_another_format_is_called_so(write: Write, name: str) -> None:
    path = write(FILES[name][0], FILES[name][1]())
    assert detect_format(path) == name
    for other in IMPORTERS:
        if other != name:
            for options in (ImportOptions(), ImportOptions(skip_faults=True)):
                with pytest.raises(UsageError, match=rf"is not of {other}; .*\(--from {name}\)"):
                    import_lessons(Kept(), path, other, options=options)


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_nothing_is_called_so(tmp_path: Path, name: str) -> None:
    for number, data in enumerate([b"", b"  \n \n", b"\xef\xbb\xbf"]):
        (path := tmp_path / f"{number}.json").write_bytes(data)
        with pytest.raises(
            UsageError, match=f"nothing in .*{number}.json is recognised as {name}, or as ano"
        ):
            import_lessons(Kept(), path, name)


def test_lines_of_no_transcript_are_not_recognised_and_lines_of_tools_are(write: Write) -> None:
    tools = [one for one in SESSION if one["type"] != "assistant"][:2]
    assert import_lessons(Kept(), write("a.jsonl", lines(*tools)), "claude-code").left.counts == {
        "of tools, or hidden": 2
    }
    for name in ("claude-code", "codex"):
        with pytest.raises(UsageError, match="is recognised as"):
            import_lessons(
                Kept(), write("b.jsonl", lines({"type": "gemini", "content": "hi"}, {"sessionId": "s"})), name
            )


@pytest.mark.parametrize("name", [*FILES, "markdown"])
@pytest.mark.parametrize(
    ("pack", "sentence"),
    [
        (lambda data: data.decode().encode("utf-16"), "is UTF-16; save it as UTF-8"),
        (gzip.compress, "is packed by gzip; unpack it"),
        (lambda data: b"SQLite format 3\0" + data, "is a database of SQLite; name a file of text"),
    ],
)
def test_what_is_no_text_is_named(
    write: Write, name: str, pack: Callable[[bytes], bytes], sentence: str
) -> None:
    path = write("a.json", lines({"text": "a"}))
    path.write_bytes(pack(path.read_bytes()))
    if (name, sentence[5]) == ("mem0", "d"):
        sentence = "cannot be read"  # a database is what it reads
    with pytest.raises(UsageError, match=rf"a.json.* {sentence}") as raised:
        import_lessons(Kept(), path, name)
    assert str(raised.value).count("--skip-faults") == 1


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ("[]".encode("utf-16"), "is UTF-16; save it as UTF-8"),
        (gzip.compress(b"[]", mtime=0), "is packed by gzip; unp"),
    ],
)
def test_a_place_of_no_known_format_says_what_it_is(tmp_path: Path, data: bytes, sentence: str) -> None:
    (path := tmp_path / "a.json").write_bytes(data)
    with pytest.raises(UsageError, match=sentence) as raised:
        detect_format(path)
    assert "skip_faults" not in str(raised.value)  # which would leave out all of it


def test_a_damaged_line_names_the_way_on_once(tmp_path: Path) -> None:
    (path := tmp_path / "a.jsonl").write_bytes(b'{"text": "a"}\n{"text"\n')
    with pytest.raises(UsageError) as raised:
        import_lessons(Kept(), path, "jsonl")
    assert str(raised.value).count("--skip-faults") == 1


@pytest.mark.parametrize("more", ['[{"text": "b"}]', "x", "]"])
def test_what_follows_a_list_is_not_lost(tmp_path: Path, read: Read, more: str) -> None:
    (path := tmp_path / "a.json").write_text(json.dumps([langgraph.ITEM]) + " " * 70_000 + "\n" + more)
    with pytest.raises(UsageError, match="goes on behind its list; give each list a file of its own"):
        read("langgraph", path)
    path.write_text(json.dumps([langgraph.ITEM]) + " " * 70_000 + "\n")
    assert len(read("langgraph", path)) == 1


def test_hidden_files_of_an_archive_and_links_are_not_read_and_counted(tmp_path: Path, read: Read) -> None:
    with zipfile.ZipFile(tmp_path / "notes.zip", "w") as archive:
        for name in ("n/a.md", "n\\b.md", "__MACOSX/n/._a.md", "n/.trash/c.md", "n/c.png", "n/d.md/"):
            archive.writestr(name, b"\xff" if "MAC" in name else b"# A\nx")
    options = ImportOptions()
    assert [one.item.key for one in read("markdown", tmp_path / "notes.zip", options)] == [
        "n/a.md#A",
        "n/b.md#A",
    ]
    assert options.left.beside == {"other files": 3}
    folder = tmp_path / "folder"
    (folder / ".obsidian").mkdir(parents=True)
    (folder / "a.md").write_text("# A\nx")
    (folder / "odd\nname.md").write_text("# A\nx")
    (folder / "b.md").symlink_to(folder / "a.md")
    (folder / "below").symlink_to(tmp_path)
    options = ImportOptions()
    assert len(read("markdown", folder, options)) == 2
    assert options.left.beside == {"other files": 3}


def test_the_name_of_a_file_breaks_no_sentence(tmp_path: Path) -> None:
    (tmp_path / "a\nb.jsonl").write_text('{"text"')
    for ask in (
        lambda place: import_lessons(Kept(), place, "jsonl"),
        detect_format,
        lambda place: import_lessons(Kept(), place, "mempalace"),
    ):
        for place in (tmp_path / "a\nb.jsonl", tmp_path / "no\nne"):
            with pytest.raises(UsageError):
                ask(place)
    import_lessons(Kept(), tmp_path, "jsonl", options=(options := ImportOptions(skip_faults=True)))
    assert "\n" not in options.left.named[0]


def test_a_time_that_is_not_read_is_counted_and_the_lesson_is_kept(write: Write, read: Read) -> None:
    options = ImportOptions()
    memory = {"id": "m", "memory": "x", "updated_at": "May 8th", "created_at": "2024-05-08"}
    (found,) = read("mem0", write("m.json", [memory]), options)
    assert found.item.at == datetime(2024, 5, 8, tzinfo=UTC)
    assert options.left.beside == {"times": 1}
    assert "the time 'May 8th', which is not read" in options.left.named[0]


@pytest.mark.parametrize(
    "at",
    [
        "2024-05-08",
        "2024-05-08 00:00",
        "20240508T000000Z",
        1715126400,
        1.7151264e12,
        "2024-05-08T02:00+02:00",
    ],
)
def test_lines_by_hand_may_have_dates_of_many_forms_and_null_everywhere(
    write: Write, read: Read, at: str | float
) -> None:
    record = {"text": "a", "at": at, "importance": None, "metadata": None, "project": None, "passages": None}
    (found,) = read("jsonl", write("a.jsonl", lines(record)))
    assert (found.item.at, found.item.importance) == (datetime(2024, 5, 8, tzinfo=UTC), None)


def test_a_project_that_is_no_text_is_a_fault(write: Write, read: Read) -> None:
    with pytest.raises(UsageError, match="line 1: `project` is no text"):
        read("jsonl", write("a.jsonl", lines({"text": "a", "project": 7})))


def test_lists_beside_the_memories_and_further_pages_are_counted(write: Write) -> None:
    page = FILES["mem0"][1]() | {"next": "https://a.example/?page=2", "previous": None}
    done = import_lessons(Kept(), write("x.json", page), "mem0")
    assert done.left.beside == {"other lists": 1, "further pages": 1}
    assert "the list 'relations' is not read" in done.left.named[0]
    assert "the next page, https://a.example/?page=2, is not in it" in done.left.named[1]


def test_the_command_says_how_much_it_read(
    write: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = ["import", str(write("h.jsonl", lines(*HAND))), "--dry-run", "--memory", str(tmp_path / "none")]
    assert main(told) == 0
    assert capsys.readouterr().out.splitlines() == [
        "jsonl, dry run: 2 inserted", "left out of 5 read: 1 empty, 2 repeated",
    ]  # fmt: skip
    assert main([*told, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["read"] == 5
