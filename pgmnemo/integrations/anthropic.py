"""Anthropic's memory tool over a project: each file that a model keeps under /memories is a lesson.

`MemoryTool` and `AsyncMemoryTool` are tools of the SDK (`BetaAbstractMemoryTool`), with the answers of its
own `BetaLocalFilesystemMemoryTool`; docs/integrations/anthropic.md lists the differences. If another session
changes a file first, the command is retried on the new text, so no change is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from operator import methodcaller
from typing import Any, NoReturn

from pgmnemo.client.aio.files import AsyncFiles, is_free, is_in
from pgmnemo.client.aio.scope import AsyncScope
from pgmnemo.client.naming import nfc
from pgmnemo.client.sync.files import Files
from pgmnemo.client.sync.scope import Scope
from pgmnemo.errors import PgmnemoError, UsageError
from pgmnemo.integrations.sync_async import Work, arun, run

try:
    from anthropic.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError
    from anthropic.types import beta
    from pydantic import BaseModel, ValidationError
except ImportError:
    raise UsageError(
        "the memory tool needs anthropic, which is not installed; install the extra: "
        "pip install '.[anthropic]' in a checkout of pgmnemo"
    ) from None

ROOT = "/memories"
MOST_LINES, WIDTH = 999_999, 6
TRIES = 100  # tries of a change while other sessions change the file first
LEVELS = 2  # levels of a listing
MOST_PLACES = 100  # most places listed of a text that occurs more than once
UNITS = "BKMG"

Steps = Work[str | None]
"""A command in progress, as calls of the files; its result is None if another session was first."""


class MemoryTool(BetaAbstractMemoryTool):
    """The memory tool of a scope with a project; `call` takes a command of a model.

    Errors are ToolErrors of one sentence; a scope without a project raises UsageError.
    """

    def __init__(
        self, scope: Scope, *, cache_control: beta.BetaCacheControlEphemeralParam | None = None
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._files = Files(scope, ROOT)

    def call(self, input: object) -> str:
        """Return the answer to a command as a model sends it, such as {"command": "view", "path":
        "/memories"}.
        """
        return self._do(_command(input))

    def clear_all_memory(self) -> str:
        """Delete every file permanently."""
        with _memory_errors():
            self._files.remove(ROOT)
        return "All memory cleared"

    def _do(self, command: Any) -> str:
        with _memory_errors():
            for _ in range(TRIES):
                if (answer := run(self._files, COMMANDS[command.command][1](command))) is not None:
                    return answer
            _busy()

    execute = view = create = str_replace = insert = delete = rename = _do


class AsyncMemoryTool(BetaAsyncAbstractMemoryTool):
    """`MemoryTool` over an asynchronous scope."""

    def __init__(
        self, scope: AsyncScope, *, cache_control: beta.BetaCacheControlEphemeralParam | None = None
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._files = AsyncFiles(scope, ROOT)

    async def call(self, input: object) -> str:
        """Return the answer to a command as a model sends it."""
        return await self._do(_command(input))

    async def clear_all_memory(self) -> str:
        """Delete every file permanently."""
        with _memory_errors():
            await self._files.remove(ROOT)
        return "All memory cleared"

    async def _do(self, command: Any) -> str:
        with _memory_errors():
            for _ in range(TRIES):
                if (answer := await arun(self._files, COMMANDS[command.command][1](command))) is not None:
                    return answer
            _busy()

    execute = view = create = str_replace = insert = delete = rename = _do


def _command(given: object) -> BaseModel:
    """Return a command of the SDK's types; raise ToolError for an invalid command."""
    name = given.get("command") if isinstance(given, Mapping) else None
    if not isinstance(name, str) or name not in COMMANDS:
        raise ToolError(f"Unknown command: {name}. Those are {', '.join(COMMANDS)}.")
    try:
        return COMMANDS[name][0].model_validate(given, strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise ToolError(f"The parameter `{place}` of {name} is wrong: {first['msg']}.") from None


@contextmanager
def _memory_errors() -> Iterator[None]:
    """Convert an error of the memory in the block into a ToolError, which the model sees."""
    try:
        yield
    except PgmnemoError as error:
        raise ToolError(f"The memory says: {error}") from error


def _busy() -> NoReturn:
    raise ToolError("Nothing was changed: others keep changing the same files. Try again.")


def _view(command: beta.BetaMemoryTool20250818ViewCommand) -> Steps:
    path = _path(command.path)
    text = yield methodcaller("read", path)
    if text is not None:
        return _numbered_lines(command, text.split("\n"))
    files = yield methodcaller("sizes")
    if path != ROOT and not _is_folder(path, files):
        raise _missing(command.path)
    head = f"Here're the files and directories up to 2 levels deep in {command.path}, excluding hidden items:"
    listed = [f"{_size(size)}\t{command.path}{name}" for name, size in _directory_listing(path, files)]
    return "\n".join([head, *listed])


def _create(command: beta.BetaMemoryTool20250818CreateCommand) -> Steps:
    path = _path(command.path)
    files = yield methodcaller("sizes")
    if path == ROOT or path in files or _is_folder(path, files):
        raise ToolError(f"File {command.path} already exists")
    _check_above(path, files)
    written = yield methodcaller("write", path, command.file_text)
    return f"File created successfully at: {command.path}" if written else None


def _str_replace(command: beta.BetaMemoryTool20250818StrReplaceCommand) -> Steps:
    path, old = _path(command.path), command.old_str
    text = yield from _text(path, command.path)
    found = text.count(old)
    if found == 0:
        raise ToolError(
            f"No replacement was performed, old_str `{old}` did not appear verbatim in {command.path}."
        )
    if found > 1:
        places = islice(_places(text, old), MOST_PLACES)
        lines = ", ".join(str(text.count("\n", 0, place) + 1) for place in places)
        raise ToolError(
            f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {lines}. "
            "Please ensure it is unique"
        )
    new = text.replace(old, command.new_str)
    changed = text.count("\n", 0, text.find(old))
    first = max(0, changed - 2)
    shown = _with_numbers(new.split("\n")[first : changed + 3], first)
    done = "The memory file has been edited. Here is the snippet showing the change (with line numbers):"
    written = yield methodcaller("write", path, new, text)
    return f"{done}\n{shown}" if written else None


def _insert(command: beta.BetaMemoryTool20250818InsertCommand) -> Steps:
    path, line = _path(command.path), command.insert_line
    text = yield from _text(path, command.path)
    lines = text.removesuffix("\n").split("\n") if text else []
    if not 0 <= line <= len(lines):
        raise ToolError(
            f"Invalid `insert_line` parameter: {line}. It should be within the range [0, {len(lines)}]."
        )
    lines.insert(line, command.insert_text.rstrip("\n"))
    new = "\n".join(lines)
    written = yield methodcaller("write", path, new if new.endswith("\n") else f"{new}\n", text)
    return f"The file {command.path} has been edited." if written else None


def _delete(command: beta.BetaMemoryTool20250818DeleteCommand) -> Steps:
    if (path := _path(command.path)) == ROOT:
        raise ToolError("Cannot delete the /memories directory itself")
    if not (yield methodcaller("remove", path)):
        raise ToolError(f"The path {command.path} does not exist")
    return f"Successfully deleted {command.path}"


def _rename(command: beta.BetaMemoryTool20250818RenameCommand) -> Steps:
    old, new = _path(command.old_path), _path(command.new_path)
    if old == ROOT:
        raise ToolError("Cannot rename the /memories directory itself")
    files = yield methodcaller("sizes")
    if new == ROOT or new in files or _is_folder(new, files):
        raise ToolError(f"The destination {command.new_path} already exists")
    if not (old in files or _is_folder(old, files)):
        raise ToolError(f"The path {command.old_path} does not exist")
    if is_in(new, old):
        raise ToolError(f"Cannot move {command.old_path} into itself")
    _check_above(new, files)
    moved = yield methodcaller("move", old, new)
    return f"Successfully renamed {command.old_path} to {command.new_path}" if moved else None


COMMANDS: dict[str, tuple[type[BaseModel], Callable[[Any], Steps]]] = {
    "view": (beta.BetaMemoryTool20250818ViewCommand, _view),
    "create": (beta.BetaMemoryTool20250818CreateCommand, _create),
    "str_replace": (beta.BetaMemoryTool20250818StrReplaceCommand, _str_replace),
    "insert": (beta.BetaMemoryTool20250818InsertCommand, _insert),
    "delete": (beta.BetaMemoryTool20250818DeleteCommand, _delete),
    "rename": (beta.BetaMemoryTool20250818RenameCommand, _rename),
}


def _path(given: str) -> str:
    """Return the normalized path; raise ToolError for a path outside of /memories."""
    first, *parts = nfc(given).removeprefix("/").split("/")
    if f"/{first}" != ROOT or not given.startswith("/"):
        raise ToolError(f"Path must start with /memories, got: {given}")
    names: list[str] = []
    for part in parts:
        if part == ".." and not names:
            raise ToolError(f"Path {given} would escape /memories directory")
        if part == "..":
            names.pop()
        elif part not in ("", "."):
            names.append(part)
    return "/".join([ROOT, *names])


def _text(path: str, told: str) -> Work[str]:
    """Return the text of a file; raise ToolError if there is no file."""
    text = yield methodcaller("read", path)
    if text is None:
        files = yield methodcaller("sizes")
        raise (
            ToolError(f"The path {told} is not a file.")
            if (path == ROOT or _is_folder(path, files))
            else _missing(told)
        )
    return str(text)


def _missing(told: str) -> ToolError:
    return ToolError(f"The path {told} does not exist. Please provide a valid path.")


def _is_folder(path: str, files: Mapping[str, int]) -> bool:
    return any(one.startswith(f"{path}/") for one in files)


def _check_above(path: str, files: Mapping[str, int]) -> None:
    """Raise ToolError if a parent of a path is a file."""
    if not is_free(path, files):
        above = next(one for one in files if is_in(path, one))
        raise ToolError(f"{above} is a file, so nothing can be in it")


def _directory_listing(folder: str, files: Mapping[str, int]) -> list[tuple[str, int]]:
    """Return the folders and files of two levels with their sizes in bytes, ordered by name.

    A folder comes before its contents.
    """
    found: dict[tuple[str, ...], int] = {(): 0}
    folders: set[tuple[str, ...]] = set()
    for path, size in files.items():
        if not is_in(path, folder):
            continue
        names = tuple(path[len(folder) + 1 :].split("/"))
        found[()] += size
        for level in range(1, min(len(names), LEVELS) + 1):
            found[names[:level]] = found.get(names[:level], 0) + size
            if level < len(names):
                folders.add(names[:level])
    shown = sorted(names for names in found if not any(name.startswith(".") for name in names))
    return [("".join(f"/{n}" for n in names) + "/" * (names in folders), found[names]) for names in shown]


def _numbered_lines(command: beta.BetaMemoryTool20250818ViewCommand, lines: list[str]) -> str:
    if len(lines) > MOST_LINES:
        raise ToolError(f"File {command.path} exceeds maximum line limit of 999,999 lines.")
    first, last = 0, len(lines)
    if command.view_range and len(command.view_range) == 2:
        first = max(1, command.view_range[0]) - 1
        last = last if command.view_range[1] == -1 else command.view_range[1]
    told = _with_numbers(lines[first:last], first)
    return f"Here's the content of {command.path} with line numbers:\n{told}"


def _with_numbers(lines: list[str], first: int) -> str:
    return "\n".join(f"{number:>{WIDTH}}\t{line}" for number, line in enumerate(lines, first + 1))


def _places(text: str, part: str) -> Iterator[int]:
    place = text.find(part)
    while place != -1:
        yield place
        place = text.find(part, place + 1)


def _size(size: int) -> str:
    """Return a number of bytes in short form, such as 512B, 1.5K or 2M."""
    unit = min(max(size.bit_length() - 1, 0) // 10, len(UNITS) - 1)
    told = size / 1024**unit
    return f"{told:.0f}{UNITS[unit]}" if told.is_integer() else f"{told:.1f}{UNITS[unit]}"
