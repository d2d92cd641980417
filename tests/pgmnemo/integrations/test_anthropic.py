"""Anthropic's memory tool over lessons gives the answers of the SDK's own files, but for a table of
deliberate differences; others' changes are never lost, and no path leads to another's files."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import pytest
from anthropic.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError
from anthropic.tools.memory import BetaLocalFilesystemMemoryTool

from pgmnemo import AsyncMemory, Memory, Scope
from pgmnemo.errors import UsageError
from pgmnemo.integrations.anthropic import AsyncMemoryTool, MemoryTool
from tests.pgmnemo.client.driving import Place

SEQUENCES = int(os.environ.get("PGMNEMO_SEQUENCES", "5"))  # of each shell; 150 take some minutes
NAMES = ["a", "b", "a.txt", "A.txt", ".hidden", "n n", "ü", "_", "%", "%2e%2e", "back\\slash", "b'\"c"]
TEXTS = ["", "\n", "one", "one\n", "one\ntwo\nthree\n", "two\r\none two", "\n\none\n\n", " ", "日本\n" * 5]


def answer(tool: Any, command: dict[str, Any]) -> tuple[str, str]:
    """What a command answers, or how it is refused; `fault`: an exception of no tool."""
    try:
        return "answer", tool.call(command)
    except ToolError as error:
        return "refused", str(error)
    except (OSError, ValueError) as error:
        return "fault", repr(error)


def without_folder_sizes(told: tuple[str, str]) -> tuple[str, str]:
    """A folder has bytes of its own on a disk, and here those of what is in it."""
    kind, text = told
    if text.startswith("Here're the files"):
        head, first, *rest = text.split("\n")
        lines = [re.sub(r"^\S+\t", "?\t", line) if line.endswith("/") else line for line in rest]
        text = "\n".join([head, re.sub(r"^\S+\t", "?\t", first), *lines])
    return kind, text


def without_empty_folders(root: Path) -> None:
    for folder, _, _ in os.walk(root, topdown=False):
        if folder != str(root) and not os.listdir(folder):
            os.rmdir(folder)


def path(chance: random.Random) -> str:
    parts = [
        chance.choice(NAMES[:6] if chance.random() < 0.7 else NAMES)
        for _ in range(chance.choice((1, 1, 2, 2, 3)))
    ]
    if (odd := chance.random()) < 0.04:
        return chance.choice(
            ("/memories", "/memories/", "/etc/passwd", "memories/a", "", "/memories/../x", "/")
        )
    if odd < 0.12:
        parts.insert(chance.randrange(len(parts) + 1), chance.choice(("", ".", "a/..")))
    return "/memories/" + "/".join(parts) + chance.choice(("", "", "", "", "/"))


def command(chance: random.Random) -> dict[str, Any]:
    name = chance.choice(
        ("view", "view", "create", "create", "str_replace", "insert", "delete", "rename", "rename")
    )
    given: dict[str, Any] = {"command": name, "path": path(chance)}
    if name == "view" and chance.random() < 0.3:
        given["path"] = "/memories"
    elif name == "view" and chance.random() < 0.4:
        given["view_range"] = chance.choice(([1, 2], [2, -1], [0, 1], [-3, 9], [3, 1], [9, 12], [2], [1, -2]))
    elif name == "create":
        given["file_text"] = chance.choice(TEXTS)
    elif name == "str_replace":
        given |= {
            "old_str": chance.choice(("one", "two", "e\n", "nothing", "", "\n")),
            "new_str": chance.choice(TEXTS),
        }
    elif name == "insert":
        given |= {"insert_line": chance.choice((0, 0, 1, 2, 9, -1)), "insert_text": chance.choice(TEXTS)}
    elif name == "rename":
        given = {"command": name, "old_path": path(chance), "new_path": path(chance)}
    return given


class Awaited:
    """An asynchronous tool, called as the other."""

    def __init__(self, runner: asyncio.Runner, tool: AsyncMemoryTool) -> None:
        self.runner, self.tool = runner, tool

    def call(self, given: object) -> str:
        return self.runner.run(self.tool.call(given))


@pytest.fixture(scope="module")
def tools(open_memory: Callable[..., Memory], place: Place) -> Any:
    """A new tool of each shell, by the shell's name."""
    with asyncio.Runner() as runner:
        memory = runner.run(AsyncMemory.open(place.dsn(), embedder=None))

        def made(kind: str) -> Any:
            if kind == "async":
                return Awaited(runner, AsyncMemoryTool(memory.tenant(place.tenant()).project("files")))
            return MemoryTool(open_memory().tenant(place.tenant()).project("files"))

        yield made
        runner.run(memory.close())


@pytest.fixture
def tool(scope: Scope) -> MemoryTool:
    return MemoryTool(scope)


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_random_commands_are_answered_as_by_the_files_of_the_sdk(
    kind: str, tools: Any, tmp_path: Path
) -> None:
    told = 0
    for seed in range(SEQUENCES):
        chance = random.Random(f"{kind} {seed}")
        theirs, ours = BetaLocalFilesystemMemoryTool(str(tmp_path / str(seed))), tools(kind)
        done: list[Any] = []
        for _ in range(60):
            done.append(given := command(chance))
            expected, found = answer(theirs, given), answer(ours, given)
            without_empty_folders(tmp_path / str(seed) / "memories")
            if expected[0] == "fault":
                assert found[0] == "refused", (seed, done, expected, found)
            else:
                assert without_folder_sizes(found) == without_folder_sizes(expected), (seed, done)
                told += expected[0] == "answer"
    assert told > SEQUENCES * 15


def create(path: str, text: str = "x") -> dict[str, Any]:
    return {"command": "create", "path": f"/memories{path}", "file_text": text}


def rename(old: str, new: str) -> dict[str, Any]:
    return {"command": "rename", "old_path": f"/memories{old}", "new_path": f"/memories{new}"}


def delete(path: str) -> dict[str, Any]:
    return {"command": "delete", "path": f"/memories{path}"}


def insert(path: str, line: int, text: str) -> dict[str, Any]:
    return {"command": "insert", "path": f"/memories{path}", "insert_line": line, "insert_text": text}


def replace(path: str, old: str, new: str) -> dict[str, Any]:
    return {"command": "str_replace", "path": f"/memories{path}", "old_str": old, "new_str": new}


def shown(path: str, **given: Any) -> dict[str, Any]:
    return {"command": "view", "path": f"/memories{path}", **given}


HALF, IN_A_FILE = "half a surrogate pair", "is a file, so nothing can be in it"
DIFFERENCES: list[tuple[list[dict[str, Any]], str, str]] = [
    # commands of which the last differs, what the SDK's files answer, what the lessons do
    ([create("foo")], "answer", "Path must start with /memories, got: /memoriesfoo"),
    ([create("/../memories/a")], "answer", "Path /memories/../memories/a would escape /memories directory"),
    ([create("/a\0b")], "fault", "NUL"), ([create("/a", "x\0y")], "answer", "has a NUL character"),
    ([create("/a", "x\ud800")], "fault", HALF), ([shown("/\udfff")], "fault", HALF),
    ([create("/a"), create("/a/b")], "fault", f"/memories/a {IN_A_FILE}"),
    ([create("/a"), create("/b"), rename("/a", "/b/c")], "fault", f"/memories/b {IN_A_FILE}"),
    ([create("/a/b"), rename("/a", "/a/c")], "fault", "Cannot move /memories/a into itself"),
    ([create("/" + "n" * 300)], "fault", "File created successfully"),
    ([create("/" + "n/" * 5_000)], "fault", "a key is a text of 1 to 1,000 bytes"),
    ([create("/a", "x" * 10_000_001)], "answer", "10,000,000 are stored at most"),
    ([create("/a/b"), delete("/a/b"), shown("/a")], "answer", "The path /memories/a does not exist"),
]  # fmt: skip


@pytest.mark.parametrize(("commands", "theirs", "ours"), DIFFERENCES, ids=lambda one: str(one)[:40])
def test_what_differs_on_purpose(
    commands: list[dict[str, Any]], theirs: str, ours: str, tool: MemoryTool, tmp_path: Path
) -> None:
    files = BetaLocalFilesystemMemoryTool(str(tmp_path))
    for given in commands[:-1]:
        assert answer(files, given)[0] == answer(tool, given)[0] == "answer"
    expected, found = answer(files, commands[-1]), answer(tool, commands[-1])
    assert expected[0] == theirs
    assert found[0] != "fault"
    assert re.search(ours, found[1])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (None, "Unknown command: None. Those are view, create"),
        ({}, "Unknown command: None"),
        ({"command": "format", "path": "/memories"}, "Unknown command: format"),
        ({"command": ["view"]}, "Unknown command: ['view']"),
        ({"command": "view"}, "The parameter `path` of view is wrong: Field required."),
        ({"command": "view", "path": 7}, "The parameter `path` of view is wrong"),
        (
            {"command": "view", "path": "/memories", "view_range": ["x"]},
            "The parameter `view_range.0` of view",
        ),
        ({"command": "create", "path": "/memories/a"}, "The parameter `file_text` of create is wrong"),
    ],
)
def test_what_is_no_command_is_refused_in_one_sentence(given: Any, said: str, tool: MemoryTool) -> None:
    with pytest.raises(ToolError, match=f"^{re.escape(said)}"):
        tool.call(given)


def test_it_is_the_tool_of_the_sdk(tool: MemoryTool, scope: Scope) -> None:
    assert isinstance(tool, BetaAbstractMemoryTool)
    assert issubclass(AsyncMemoryTool, BetaAsyncAbstractMemoryTool)
    cached = MemoryTool(scope, cache_control={"type": "ephemeral"})
    assert tool.to_dict() == {"type": "memory_20250818", "name": "memory"}
    assert cached.to_dict() == {**tool.to_dict(), "cache_control": {"type": "ephemeral"}}


def test_the_runner_of_the_sdk_calls_it_and_gives_its_errors_back(tool: MemoryTool) -> None:
    """The API's end of the wire is a script: three answers of a model."""
    said = [
        {"command": "create", "path": "/memories/cat.md", "file_text": "The cat is called Miso.\n"},
        {"command": "create", "path": "/memories/cat.md", "file_text": "Again."},
    ]
    heard: list[Any] = []

    def api(request: httpx2.Request) -> httpx2.Response:
        asked = json.loads(request.content)
        heard.append(asked["messages"][-1]["content"])
        turn = len(heard) - 1
        block = (
            {"type": "tool_use", "id": f"toolu_{turn}", "name": "memory", "input": said[turn]}
            if turn < len(said)
            else {"type": "text", "text": "Noted."}
        )
        return httpx2.Response(
            200,
            json={
                "id": f"msg_{turn}", "type": "message", "role": "assistant", "model": "none",
                "content": [block], "stop_reason": "tool_use" if turn < len(said) else "end_turn",
                "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1},
            },
        )  # fmt: skip

    with anthropic.Anthropic(
        api_key="none", http_client=httpx2.Client(transport=httpx2.MockTransport(api))
    ) as client:
        runner = client.beta.messages.tool_runner(
            model="none", max_tokens=9, tools=[tool],
            messages=[{"role": "user", "content": "My cat is Miso."}],
        )  # fmt: skip
        runner.until_done()
    (made,), (refused,) = heard[1:]
    assert made["content"] == "File created successfully at: /memories/cat.md"
    assert not made.get("is_error")
    assert refused["content"] == "File /memories/cat.md already exists"
    assert refused["is_error"]


def view(tool: MemoryTool, path: str) -> str:
    """What is in a file."""
    told = tool.call({"command": "view", "path": path})
    lines = told.removeprefix(f"Here's the content of {path}").split("\n")[1:]
    return "\n".join(line.split("\t", 1)[1] for line in lines)


def test_files_are_lessons_that_recall_finds(tool: MemoryTool, scope: Scope) -> None:
    tool.call(create("/people/ada.md", "# Ada\nShe moved to Lisbon in May.\n"))
    tool.call(create("/empty.md", ""))
    [hit, *_] = scope.recall("Where did Ada move?")
    assert (hit.key, hit.text) == ("/memories/people/ada.md", "# Ada\nShe moved to Lisbon in May.\n")
    scope.add("- cheese", key="/memories/list.md", importance=5)
    tool.call(insert("/list.md", 1, "- bread"))
    lesson = scope.get("/memories/list.md")
    assert lesson is not None
    assert (lesson.text, lesson.importance) == ("- cheese\n- bread\n", 5)


@pytest.mark.parametrize("text", ["", " ", "\n", "\r\n\t\n", "(empty file)"])
def test_a_file_without_a_word_is_kept_as_it_is(text: str, tool: MemoryTool, scope: Scope) -> None:
    tool.call(create("/a", text))
    assert view(tool, "/memories/a") == text
    assert f"{len(text)}B\t/memories/a" in tool.call(shown(""))
    tool.call(rename("/a", "/b"))
    assert view(tool, "/memories/b") == text
    tool.call(insert("/b", 0, "bread"))
    assert "bread" in view(tool, "/memories/b")
    assert scope.get("/memories/b").metadata == {}  # type: ignore[union-attr]
    scope.add("by hand", key="/memories/b")
    assert view(tool, "/memories/b") == "by hand"


def test_a_long_file_is_kept_and_found(tool: MemoryTool, scope: Scope) -> None:
    text = (
        "".join(f"line {number} of nothing much\n" for number in range(40_000)) + "the needle is in the hay\n"
    )
    tool.call(create("/long.txt", text))
    assert view(tool, "/memories/long.txt") == text
    told = tool.call(shown("/long.txt", view_range=[40_001, 40_001]))
    assert told.endswith(" 40001\tthe needle is in the hay")
    assert scope.recall("needle")[0].key == "/memories/long.txt"


def test_a_file_of_a_million_lines_is_not_shown(tool: MemoryTool) -> None:
    tool.call(create("/lines", "x" + "\n" * 999_999))
    assert answer(tool, shown("/lines")) == (
        "refused",
        "File /memories/lines exceeds maximum line limit of 999,999 lines.",
    )


def test_places_of_a_text_that_is_everywhere_are_not_all_named(tool: MemoryTool) -> None:
    tool.call(create("/a", "x\n" * 200_000))
    kind, said = answer(tool, replace("/a", "x", "y"))
    assert (kind, said.count(",")) == ("refused", 99)


def test_what_is_deleted_is_gone_for_good(tool: MemoryTool, scope: Scope) -> None:
    for path in ("/a/b", "/a/c/d", "/ab"):
        tool.call(create(path, f"words of {path}"))
    scope.add("no file", key="chat/1")
    tool.call(delete("/a"))
    assert sorted(lesson.key for lesson in scope.list(include_inactive=True)) == ["/memories/ab", "chat/1"]
    assert tool.clear_all_memory() == "All memory cleared"
    assert [lesson.key for lesson in scope.list(include_inactive=True)] == ["chat/1"]


@pytest.mark.parametrize("end", ["forgotten", "superseded", "expired"])
def test_what_recall_no_longer_answers_with_is_no_file(end: str, tool: MemoryTool, scope: Scope) -> None:
    tool.call(create("/a", "old words"))
    if end == "forgotten":
        scope.forget("/memories/a")
    elif end == "superseded":
        scope.supersede("/memories/a", at=datetime.now(UTC) - timedelta(hours=1))
    else:
        scope.update("/memories/a", expires_at=datetime.now(UTC) - timedelta(hours=1))
    gone = shown("/a")
    assert answer(tool, gone)[1] == "The path /memories/a does not exist. Please provide a valid path."
    assert "/memories/a" not in tool.call(shown(""))
    tool.call(create("/a", "new words"))
    assert view(tool, "/memories/a") == "new words"
    assert [hit.text for hit in scope.recall("words")] == ["new words"]
    tool.call(rename("/a", "/b"))
    assert view(tool, "/memories/b") == "new words"


def test_a_renamed_file_keeps_what_else_is_known_of_it(tool: MemoryTool, scope: Scope) -> None:
    when = datetime(2026, 5, 1, tzinfo=UTC)
    scope.add("words", key="/memories/a/b", topic="home", importance=5, metadata={"by": "hand"}, at=when)
    tool.call(rename("/a", "/c/d"))
    found = scope.get("/memories/c/d/b")
    assert found is not None
    assert (found.topic, found.importance, found.metadata, found.at) == ("home", 5, {"by": "hand"}, when)
    assert scope.get("/memories/a/b") is None


def test_lines_of_many_writers_are_all_there(open_memory: Callable[..., Memory], place: Place) -> None:
    tenant = place.tenant()
    writers = [MemoryTool(open_memory(role).tenant(tenant).project("files")) for role in ("alice", "bob")]
    writers[0].call(create("/log", "begin\n"))

    def write(number: int) -> None:
        for turn in range(5):
            tool = writers[(number + turn) % 2]
            tool.call(insert("/log", 0, f"{number}.{turn}"))
            tool.call(replace("/log", "begin\n", "begin\n|"))
            tool.call(create(f"/new/{number}.{turn}", "x"))

    with ThreadPoolExecutor(5) as pool:
        list(pool.map(write, range(5)))
    lines = view(writers[0], "/memories/log").split("\n")
    assert {line for line in lines if "." in line} == {f"{n}.{t}" for n in range(5) for t in range(5)}
    assert lines.count("|" * 25) == 1
    assert writers[0].call(shown("/new")).count("\n") == 26


def test_a_new_file_is_made_once(tool: MemoryTool) -> None:
    start = threading.Barrier(8)

    def make(number: int) -> tuple[str, str]:
        start.wait()
        return answer(tool, create("/a" if number % 2 else "/a/b"))

    with ThreadPoolExecutor(8) as pool:
        assert [kind for kind, _ in pool.map(make, range(8))].count("answer") == 1


@pytest.mark.parametrize("given", ["str_replace", "insert", "rename", "create"])
def test_a_plain_writer_in_between_loses_nothing(
    given: str, tool: MemoryTool, scope: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = tool._files._with_vectors
    if given != "create":
        tool.call(create("/a", "one two\n"))

    def overtaken(items: Any) -> Any:
        """After the file was read, and before it is written."""
        monkeypatch.setattr(tool._files, "_with_vectors", made)
        scope.add("one two three\n", key="/memories/a")
        return made(items)

    monkeypatch.setattr(tool._files, "_with_vectors", overtaken)
    commands = {
        "str_replace": replace("/a", "one", "1"), "insert": insert("/a", 1, "more"),
        "rename": rename("/a", "/b"), "create": create("/a", "mine"),
    }  # fmt: skip
    found = answer(tool, commands[given])
    there = view(tool, "/memories/b" if given == "rename" else "/memories/a")
    expected = {"str_replace": "1 two three\n", "insert": "one two three\nmore\n"}.get(
        given, "one two three\n"
    )
    assert there == expected
    assert found[0] == ("refused" if given == "create" else "answer")


def test_who_is_always_overtaken_is_told(tool: MemoryTool, monkeypatch: pytest.MonkeyPatch) -> None:
    tool.call(create("/a", "one\n"))
    monkeypatch.setattr(tool._files, "write", lambda *given: False)
    assert answer(tool, insert("/a", 0, "x")) == (
        "refused", "Nothing was changed: others keep changing the same files. Try again.",
    )  # fmt: skip


OTHERS = ["acme-corp", "acme ", "ACME", "acme_", "acme%", "a\u0441me", "acme/", "acme'--"]


@pytest.mark.parametrize("other", OTHERS)
def test_no_project_sees_the_files_of_another(
    other: str, open_memory: Callable[..., Memory], place: Place
) -> None:
    tenant, memory = place.tenant(), open_memory()
    mine = MemoryTool(memory.tenant(tenant).project("acme"))
    theirs = [
        MemoryTool(memory.tenant(tenant).project(f"{other}x" if other == "acme " else other)),
        MemoryTool(memory.tenant(place.tenant()).project("acme")),
    ]
    mine.call(create("/secret", "mine"))
    for tool in theirs:
        for path in ("/secret", "/%", "/_ecret", "//secret", "/*"):
            assert answer(tool, shown(path))[0] == answer(tool, delete(path))[0] == "refused"
        tool.call(create("/secret", "theirs"))
        tool.clear_all_memory()
    assert view(mine, "/memories/secret") == "mine"


ODD = ["%", "_", "a%b", "'; DROP TABLE x; --", '"', "a\nb", "a\tb", "\\", "..%2f", "\u202egnp", "n" * 900,
       "~", "…", "..."]  # fmt: skip


@pytest.mark.parametrize("name", ODD)
def test_odd_names_are_names(name: str, tool: MemoryTool, scope: Scope) -> None:
    tool.call(create(f"/{name}", name))
    tool.call(create(f"/{name}x", "other"))
    assert view(tool, f"/memories/{name}") == name
    tool.call(delete(f"/{name}"))
    assert [lesson.key for lesson in scope.list()] == [f"/memories/{name}x"]


def test_a_path_of_either_form_of_unicode_is_one_file(tool: MemoryTool, scope: Scope) -> None:
    tool.call(create("/cafe\u0301/a", "old"))
    assert answer(tool, create("/caf\u00e9/a", "again"))[0] == "refused"
    assert view(tool, "/memories/caf\u00e9/a") == "old"
    tool.call(rename("/caf\u00e9", "/the\u0301"))
    tool.call(rename("/the\u0301/a", "/th\u00e9/b"))
    assert [lesson.key for lesson in scope.list()] == ["/memories/th\u00e9/b"]


def test_a_database_that_is_away_is_told_to_the_model(place: Place) -> None:
    with Memory.open(place.dsn(), embedder=None, retry_timeout=0) as memory:
        tool = MemoryTool(memory.tenant(place.tenant()).project("files"))
        lone = MemoryTool(memory.tenant("nobody let me in").project("files"))
        assert answer(lone, shown(""))[0] == "refused"
    kind, said = answer(tool, shown(""))
    assert (kind, said) == ("refused", "The memory says: this memory was closed; open it again")


def test_files_are_written_in_the_transaction_of_the_caller(place: Place) -> None:
    tenant = place.tenant()
    with place.connect("alice") as connection, Memory.open(connection, embedder=None) as memory:
        tool = MemoryTool(memory.tenant(tenant).project("files"))
        with connection.transaction(force_rollback=True):
            tool.call(create("/a", "one"))
            tool.call(rename("/a", "/b"))
            assert view(tool, "/memories/b") == "one"
        assert "/memories/b" not in tool.call(shown(""))


def test_a_scope_without_a_project_is_refused(open_memory: Callable[..., Memory]) -> None:
    with pytest.raises(UsageError, match="this needs a project"):
        MemoryTool(open_memory().tenant("ada"))
