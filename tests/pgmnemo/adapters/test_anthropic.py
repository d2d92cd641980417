"""Anthropic's memory tool over lessons gives the answers of the SDK's own, which keeps files, but for a table of
deliberate differences; others' changes are never lost, and no path leads to another's files."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anthropic
import httpx
import pytest
from anthropic.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError
from anthropic.tools.memory import BetaLocalFilesystemMemoryTool

from pgmnemo import AsyncMemory, Memory, Scope
from pgmnemo.adapters import anthropic as door
from pgmnemo.adapters.anthropic import AsyncMemoryTool, MemoryTool
from pgmnemo.errors import UsageError
from tests.pgmnemo.client.driving import Place

SEQUENCES = int(os.environ.get("PGMNEMO_SEQUENCES", "8"))  # of each shell; 400 take ten minutes
NAMES = ["a", "b", "a.txt", "A.txt", ".hidden", "n n", "ü", "_", "%", "%2e%2e", "back\\slash", "b'\"c"]
TEXTS = ["", "\n", "one", "one\n", "one\ntwo\nthree\n", "two\r\none two", "\n\none\n\n", " ", "日本\n" * 5]


def answer(tool: Any, command: dict[str, Any]) -> tuple[str, str]:
    """What a command answers, or how it is refused; `fault`: an exception that a model is not meant to see."""
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
    parts = [chance.choice(NAMES[:6] if chance.random() < 0.7 else NAMES) for _ in range(chance.choice((1, 1, 2, 2, 3)))]
    if (odd := chance.random()) < 0.04:
        return chance.choice(("/memories", "/memories/", "/etc/passwd", "memories/a", "", "/memories/../x", "/"))
    if odd < 0.12:
        parts.insert(chance.randrange(len(parts) + 1), chance.choice(("", ".", "a/..")))
    return "/memories/" + "/".join(parts) + chance.choice(("", "", "", "", "/"))


def command(chance: random.Random) -> dict[str, Any]:
    name = chance.choice(("view", "view", "create", "create", "str_replace", "insert", "delete", "rename", "rename"))
    given: dict[str, Any] = {"command": name, "path": path(chance)}
    if name == "view" and chance.random() < 0.3:
        given["path"] = "/memories"
    elif name == "view" and chance.random() < 0.4:
        given["view_range"] = chance.choice(([1, 2], [2, -1], [0, 1], [-3, 9], [3, 1], [9, 12], [2], [1, -2]))
    elif name == "create":
        given["file_text"] = chance.choice(TEXTS)
    elif name == "str_replace":
        given |= {"old_str": chance.choice(("one", "two", "e\n", "nothing", "", "\n")), "new_str": chance.choice(TEXTS)}
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
def test_random_commands_are_answered_as_by_the_files_of_the_sdk(kind: str, tools: Any, tmp_path: Path) -> None:
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
