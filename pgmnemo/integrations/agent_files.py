"""Edits of the settings files of other programs: shown before, undone later, and nothing else is changed.

An edit is a pair of functions from the text of a file to its new text; text None is a file that is missing.
Each edit is read again before it counts: what is not this project's must have the same value as before.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pgmnemo.errors import UsageError

IsOwn = Callable[[Any], bool]
Text = str | None


@dataclass(frozen=True, slots=True)
class FileEdit:
    """An edit of a file, and the edit that undoes it."""

    path: Path
    apply: Callable[[Text], Text]
    undo: Callable[[Text], Text]


def read(path: Path) -> Text:
    """Return the text of a file with its line ends; None for a missing file."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not UTF-8; mend it first") from None


def write(path: Path, before: Text, after: Text) -> None:
    """Replace a file at once, if it still is as it was read. A link stays, and its target is replaced."""
    path = Path(os.path.realpath(path))
    if read(path) != before:
        raise UsageError(f"another program changed {path} meanwhile; run the command again")
    if after is None:
        path.unlink()
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with new.open("x", encoding="utf-8", newline="") as file:
            file.write(after)
        if before is not None:
            shutil.copymode(path, new)
        new.replace(path)
    except OSError as error:
        error.filename = str(path)
        raise
    finally:
        new.unlink(missing_ok=True)


def table_edit(path: Path, names: Sequence[str], value: Mapping[str, Any], is_own: IsOwn) -> FileEdit:
    """Return the edit for one table of a file of TOML, at its end."""
    head = f"[{'.'.join(names)}]"
    lines = [head, *(f"{name} = {json.dumps(one, ensure_ascii=False)}" for name, one in value.items())]
    more_lines, key_line = r"(?:\n(?![^\S\n]*\[)[^\n]*)*", r"\n(?![^\S\n]*(?:[\[#\n]|\Z))[^\n]*"
    block = re.compile(
        rf"(?:^[^\S\n]*\n)?^[^\S\n]*{re.escape(head)}[^\n]*(?:{more_lines}{key_line})?\n?", re.MULTILINE
    )

    def without(text: str) -> str:
        before = _parse_toml(path, text)
        there = at_path(before, names)
        if there is None:
            return text
        check_own(path, names, there, is_own)
        rest = block.sub("", text)
        after = _parse_toml(path, rest)
        if at_path(after, names) is not None or _others(after, names) != _others(before, names):
            raise UsageError(f"{path} has {head} in another form; remove it by hand")
        return rest

    def apply(text: Text) -> str:
        given = text or ""
        if at_path(_parse_toml(path, given), names) == value:
            return given
        rest = without(given)
        rest += "\n" if rest and not rest.endswith("\n") else ""
        new = "\n".join([*([rest] if rest else []), *lines, ""])
        try:
            tomllib.loads(new)
        except tomllib.TOMLDecodeError:
            raise UsageError(f"{path} takes no {head} at its end; add it by hand: {lines[1:]}") from None
        return new

    return FileEdit(path, apply, lambda text: None if text is None else without(text) or None)


def whole_file_edit(path: Path, content: str) -> FileEdit:
    """Return the edit for a file of this project's own, which its first line says."""
    first = content.partition("\n")[0]

    def check(text: Text) -> bool:
        return text is None or text.startswith(first)

    def apply(text: Text) -> str:
        if not check(text):
            raise UsageError(f"{path} is of another program; rename it, and run the command again")
        return content

    return FileEdit(path, apply, lambda text: None if check(text) else text)


def check_own(path: Path, names: Sequence[str], there: Any, is_own: IsOwn) -> None:
    if not is_own(there):
        raise UsageError(f"{path} has {'.'.join(names)} of another program; rename it there first")


def at_path(value: Any, names: Sequence[str]) -> Any:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _others(found: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return a table without the member at a path, and without tables that it leaves empty."""
    first, *more = names
    others = {name: value for name, value in found.items() if name != first}
    inner = _others(found.get(first, {}), more) if more else {}
    return {**others, first: inner} if inner else others


def _parse_toml(path: Path, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is no TOML: {error}; mend it first") from None
