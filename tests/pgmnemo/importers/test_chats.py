"""Exports of ChatGPT and Claude, in the shapes that are published: messages of the branch that counts."""

from __future__ import annotations

import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pgmnemo.errors import UsageError
from pgmnemo.importers import ImportOptions
from pgmnemo.importers.chatgpt import branch
from tests.pgmnemo.importers.conftest import Read, Write

START = 1_712_345_678.5
SECOND = 1_712_345_678 - 1_500_000_000


def node(name: str, parent: str | None, role: str | None, *parts: Any, **more: Any) -> dict[str, Any]:
    content = {"content_type": more.pop("content_type", "text"), "parts": list(parts)}
    said = {"id": f"m-{name}", "author": {"role": role}, "create_time": START, "content": content, **more}
    return {name: {"id": name, "parent": parent, "children": [], "message": said if role else None}}


MAPPING: dict[str, Any] = {
    **node("root", None, None),
    **node("system", "root", "system", "", metadata={"is_visually_hidden_from_conversation": True}),
    **node("hidden", "system", "user", "custom", metadata={"is_visually_hidden_from_conversation": True}),
    **node("q", "hidden", "user", "Where is the boat?"),
    **node("old", "q", "assistant", "an answer that was made again"),
    **node("call", "q", "assistant", "search()", content_type="code", recipient="browser"),
    **node("tool", "call", "tool", "a page"),
    **node("a", "tool", "assistant", "At the", "north pier.", metadata={"model_slug": "m"}, recipient="all"),
    **node(
        "voice", "a", "user", {"content_type": "image_asset_pointer"},
        {"content_type": "audio_transcription", "text": "Thanks"}, content_type="multimodal_text",
    ),
    **node("thoughts", "voice", "assistant", content_type="thoughts"),
}  # fmt: skip
TALK = {
    "title": "Boats", "create_time": START, "mapping": MAPPING, "current_node": "thoughts",
    "conversation_id": "c1",
}  # fmt: skip


def test_chatgpt_gives_the_branch_that_leads_to_the_current_node(write: Write, read: Read) -> None:
    path = write("conversations.json", [TALK])
    found = [one.item for one in read("chatgpt", path.parent)]
    assert [(one.role, one.text, one.key, one.position) for one in found] == [
        ("user", "Where is the boat?", "chatgpt/c1/m-q", SECOND),
        ("assistant", "At the\n\nnorth pier.", "chatgpt/c1/m-a", SECOND + 1),
        ("user", "Thanks", "chatgpt/c1/m-voice", SECOND + 2),
    ]
    assert found[1].topic == "Boats"
    assert found[1].at == datetime.fromtimestamp(START, UTC)
    assert found[1].metadata == {"source": "chatgpt", "conversation": "c1", "model": "m"}


def test_a_tree_that_turns_in_a_circle_or_lacks_its_end_is_read(write: Write, read: Read) -> None:
    circle = {**node("a", "b", "user", "a"), **node("b", "a", "user", "b")}
    assert [name for name, _ in branch(circle, "a")] == ["b", "a"]
    assert [name for name, _ in branch({**node("a", "gone", "user", "a"), "x": None}, None)] == ["a"]
    assert branch({}, "x") == []
    odd = {**TALK, "title": 3, "mapping": {**node("a", None, "user", "a", create_time="never", metadata=[])}}
    [found] = read("chatgpt", write("x.json", [odd]))
    assert (found.item.topic, found.item.at, found.item.position) == (None, None, None)


def test_an_archive_of_chatgpt_is_read_in_its_parts(tmp_path: Path, write: Write, read: Read) -> None:
    parts = [write(f"conversations-00{n}.json", [{**TALK, "conversation_id": f"c{n}"}]) for n in (0, 1)]
    with zipfile.ZipFile(tmp_path / "export.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("chat.html", "<html>")
        archive.writestr("user.json", "{}")
        for part in parts:
            archive.write(part, part.name)
    assert len(read("chatgpt", tmp_path / "export.zip")) == 6


CLAUDE = {
    "uuid": "c2", "name": "Boats", "created_at": "2024-05-08T13:56:00.000000Z", "account": {"uuid": "x"},
    "chat_messages": [
        {"uuid": "m1", "sender": "human", "text": "Where is it?", "created_at": "2024-05-08T13:56:00.123456Z",
         "content": [{"type": "text", "text": "Where is it?"}], "attachments": [{"file_name": "a.txt"}]},
        {"uuid": "m2", "sender": "assistant", "text": "This block is not supported.\n\nAt the pier.",
         "created_at": "2024-05-08T13:56:10Z",
         "content": [{"type": "tool_use", "name": "search"}, {"type": "tool_result", "content": []},
                     {"type": "text", "text": "At the pier."}]},
        {"uuid": "m3", "sender": "human", "text": "Older exports have no blocks.", "created_at": None},
        {"uuid": "m4", "sender": "assistant", "text": "", "content": []},
    ],
}  # fmt: skip


def test_claude_gives_a_lesson_for_each_message(write: Write, read: Read) -> None:
    found = [one.item for one in read("claude", write("conversations.json", [CLAUDE]))]
    assert [(one.role, one.text, one.key) for one in found] == [
        ("user", "Where is it?", "claude/c2/m1"),
        ("assistant", "At the pier.", "claude/c2/m2"),
        ("user", "Older exports have no blocks.", "claude/c2/m3"),
    ]
    assert found[0].at == datetime(2024, 5, 8, 13, 56, 0, 123456, tzinfo=UTC)
    assert [one.position for one in found] == [215_176_560, 215_176_561, 215_176_562]
    assert found[0].topic == "Boats"


@pytest.mark.parametrize("name", ["chatgpt", "claude"])
def test_what_is_no_conversation_is_a_fault(write: Write, read: Read, name: str) -> None:
    path = write(
        "conversations.json", [{"id": 1}, {"chat_messages": [1, {}], "mapping": {"a": 1}}, CLAUDE, TALK]
    )
    with pytest.raises(UsageError, match="entry 1 is no conversation: it has no "):
        read(name, path)
    options = ImportOptions(skip_faults=True)
    assert len(read(name, path, options)) == 3
    assert options.left.counts["damaged"] == (2 if name == "chatgpt" else 3)
