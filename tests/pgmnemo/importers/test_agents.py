"""Transcripts of coding agents, in the shapes that are published: what people and models say."""

from __future__ import annotations

from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from pgmnemo.client.rendering import FIRST, LAST
from pgmnemo.importers import IMPORTERS, ImportOptions
from tests.pgmnemo.importers.conftest import Read, Write, lines

AT = datetime(2025, 5, 26, 7, 27, 40, 79000, tzinfo=UTC)
SECOND = int(AT.timestamp()) - 1_500_000_000


def claude(number: int, kind: str, content: Any, **more: Any) -> dict[str, Any]:
    return {
        "parentUuid": None, "isSidechain": False, "cwd": "/home/ada/boats", "sessionId": "s1",
        "version": "2.1.12", "gitBranch": "main", "type": kind, "uuid": f"u{number}",
        "timestamp": "2025-05-26T07:27:40.079Z", "message": {"role": kind, "content": content}, **more,
    }  # fmt: skip


def block(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, **more}


SESSION = (
    {"type": "summary", "summary": "Boats", "leafUuid": "u2"},
    {"type": "file-history-snapshot", "messageId": "x", "snapshot": {}},
    claude(1, "user", "Paint the boat red."),
    claude(2, "assistant", [block("thinking", thinking="hm"), block("text", text="On it."),
                            block("text", text="Now.")]),
    claude(3, "assistant", [block("tool_use", id="t", name="Edit", input={})]),
    claude(4, "user", [block("tool_result", tool_use_id="t", content="done")], toolUseResult={}),
    claude(5, "user", "<command-name>/clear</command-name>"),
    claude(6, "user", "Caveat: …", isMeta=True),
    claude(10, "user", "SessionStart:compact hook success: <memory> …"),
    claude(7, "assistant", [block("text", text="of a subagent")], isSidechain=True),
    claude(8, "user", "This session is being continued", isCompactSummary=True),
    claude(9, "user", [block("text", text="<system-reminder>x</system-reminder>"),
                       block("text", text="Thanks!"), block("image", source={})]),
    {"type": "user", "sessionId": "s1"},
)  # fmt: skip


def test_claude_code_gives_a_lesson_for_each_message(write: Write, read: Read) -> None:
    path = write("p/s1.jsonl", lines(*SESSION))
    found = read("claude-code", path.parent)
    assert [(one.item.role, one.item.text, one.item.key) for one in found] == [
        ("user", "Paint the boat red.", "claude-code/u1"),
        ("assistant", "On it.\n\nNow.", "claude-code/u2"),
        ("user", "Thanks!", "claude-code/u9"),
    ]
    assert {one.project for one in found} == {"/home/ada/boats"}
    assert {one.item.at for one in found} == {AT}
    assert [one.item.position for one in found] == [SECOND, SECOND + 1, SECOND + 2]
    assert found[1].where == f"{path}, line 4"
    assert found[1].item.metadata == {"source": "claude-code", "conversation": "s1", "branch": "main"}


def codex(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": "2025-05-26T07:27:40.079Z", "type": kind, "payload": payload}


def mark(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:16]


def message(role: str, text: str, **more: Any) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}], **more}


def test_codex_gives_a_lesson_for_each_message(write: Write, read: Read) -> None:
    path = write(
        "2025/05/26/rollout-x.jsonl",
        lines(
            codex("session_meta", id="s1", cwd="/home/ada/boats", git={"branch": "main"}),
            codex("session_meta", id="of the session that this one is a fork of", cwd="/other"),
            codex("response_item", **message("developer", "instructions")),
            codex("response_item", **message("user", "<environment_context>x</environment_context>")),
            codex("response_item", **message("user", "what is 2+2?")),
            codex("event_msg", type="user_message", message="what is 2+2?"),
            codex("turn_context", cwd="/home/ada/boats", model="m"),
            codex("response_item", type="reasoning", summary=[{"type": "summary_text", "text": "hm"}]),
            codex("response_item", type="function_call", name="shell", arguments="{}"),
            codex("response_item", type="function_call_output", output="4"),
            codex("event_msg", type="agent_message", message="4"),
            codex("response_item", **message("assistant", "4")),
        ),
    )
    found = read("codex", path.parents[3])
    assert [(one.item.role, one.item.text, one.item.key) for one in found] == [
        ("user", "what is 2+2?", f"codex/s1/{mark('what is 2+2?')}/1"),
        ("assistant", "4", f"codex/s1/{mark('4')}/1"),
    ]
    assert found[0].project == "/home/ada/boats"
    assert found[0].item.at == AT
    assert found[0].item.metadata == {"source": "codex", "conversation": "s1", "branch": "main"}


def test_the_older_transcripts_of_codex_are_read_too(write: Write, read: Read) -> None:
    path = write(
        "rollout-old.jsonl",
        lines(
            {"id": "s0", "timestamp": "2025-05-26T07:27:40.079Z", "instructions": None},
            {"record_type": "state"},
            message("user", "hello"),
            {"type": "reasoning", "summary": []},
            message("assistant", "hi"),
        ),
    )
    assert [(one.item.text, one.item.key, one.item.at) for one in read("codex", path)] == [
        ("hello", f"codex/s0/{mark('hello')}/1", None),
        ("hi", f"codex/s0/{mark('hi')}/1", None),
    ]


def test_a_message_without_an_id_has_the_same_key_when_lines_before_it_are_gone(
    write: Write, read: Read
) -> None:
    meta = codex("session_meta", id="s1", cwd="/x")
    said = [codex("response_item", **message("user", text)) for text in ("a", "yes", "b", "yes", "c")]
    whole = {one.item.key: one.item.text for one in read("codex", write("r.jsonl", lines(meta, *said)))}
    rest = {one.item.key: one.item.text for one in read("codex", write("r.jsonl", lines(meta, *said[2:])))}
    assert list(whole.values()) == ["a", "yes", "b", "yes", "c"]
    assert rest.items() < whole.items()


def test_what_was_recalled_is_no_part_of_a_message(write: Write, read: Read) -> None:
    block = f"{FIRST}\n[1] user\n> Paint it red.\n{LAST}\n"
    texts = (block, f"{block}And now?", f"See:\n{block}")
    path = write("s.jsonl", lines(*(claude(n, "user", text) for n, text in enumerate(texts))))
    assert [one.item.text for one in read("claude-code", path)] == ["And now?", "See:"]


OUTPUT = [block("text", text="x" * 3000), block("text", text="y" * 3000), block("image", source={})]
WITH_TOOLS = (
    claude(1, "assistant", [block("tool_use", id="t1", name="Bash", input={"command": "make\nstaging"})]),
    claude(2, "user", [block("tool_result", tool_use_id="t1", content="permission denied", is_error=True)]),
    claude(3, "assistant", [block("text", text="Ask Jonas."),
                            block("tool_use", id="t2", name="Read", input={"file_path": "a.py"}),
                            block("tool_use", id="t3", name="mcp__mnemo__recall", input={"query": "x"})]),
    claude(4, "user", [block("tool_result", tool_use_id="t2", content=OUTPUT),
                       block("tool_result", tool_use_id="t3", content="A memory."),
                       block("text", text="I did.")]),
    claude(5, "user", [block("tool_result", tool_use_id="t9", content=f"{FIRST}\n[1] k\n> x\n{LAST}\n"), 7]),
)  # fmt: skip


def test_the_output_of_tools_is_read_where_it_is_asked_for(write: Write) -> None:
    path = write("p/s1.jsonl", lines(*WITH_TOOLS))
    said = [("claude-code/u3", "assistant"), ("claude-code/u4", "user")]
    for tools, expected in (
        (False, said),
        (True, [("claude-code/t1", "tool"), said[0], ("claude-code/t2", "tool"), said[1]]),
    ):
        found = [one.item for one in IMPORTERS["claude-code"](path, options=ImportOptions(tools=tools))]
        assert [(item.key, item.role) for item in found] == expected
        assert [item.position for item in found if item.role != "tool"] == [SECOND, SECOND + 1]
    assert found[0].text == "Bash: make staging\npermission denied"
    assert found[0].metadata == {"source": "claude-code", "from_tool": "Bash", "conversation": "s1"}
    assert found[0].position is None
    first, second, gap, last = found[2].text.split("\n")[:2] + found[2].text.split("\n")[-2:]
    assert (first, second[:1], gap, last) == ("Read: a.py", "x", "…", "y" * 1000)
    assert len(found[2].text) < 4100


def test_the_output_of_codex_tools_is_read_where_it_is_asked_for(write: Write) -> None:
    path = write(
        "rollout-x.jsonl",
        lines(
            codex("session_meta", id="s1", cwd="/home/ada/boats"),
            codex("response_item", type="function_call", name="shell", call_id="c1",
                  arguments='{"command": ["make", "staging"]}'),
            codex("response_item", type="function_call_output", call_id="c1",
                  output='{"output": "permission denied", "metadata": {"exit_code": 2}}'),
            codex("response_item", type="custom_tool_call", name="apply_patch", call_id="c2",
                  input="*** Begin"),
            codex("response_item", type="custom_tool_call_output", call_id="c2", output="{no JSON"),
            codex("response_item", type="function_call_output", call_id="c3", output=None),
            codex("response_item", **message("assistant", "Ask Jonas.")),
        ),
    )  # fmt: skip
    found = [one.item for one in IMPORTERS["codex"](path, options=ImportOptions(tools=True))]
    assert [(item.key, item.role, item.text) for item in found] == [
        ("codex/s1/c1", "tool", "shell: make staging\npermission denied"),
        ("codex/s1/c2", "tool", "apply_patch: *** Begin\n{no JSON"),
        (f"codex/s1/{mark('Ask Jonas.')}/1", "assistant", "Ask Jonas."),
    ]
