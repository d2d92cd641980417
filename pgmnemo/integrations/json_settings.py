"""Edits of settings in JSON, with comments or without: hooks of events, and one member of an object."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pgmnemo.errors import UsageError
from pgmnemo.integrations import jsonc
from pgmnemo.integrations.agent_files import FileEdit, IsOwn, Text, check_own


def hook_edit(
    path: Path, entries: Mapping[str, Sequence[Any]], is_own: IsOwn, base: Mapping[str, Any] | None = None
) -> FileEdit:
    """Return the edit for hooks: entries for each event, at the end of the event's list.

    base: what a file without it gets besides the hooks.
    """
    return FileEdit(
        path, _named(path, partial(_add_hooks, entries, is_own, base or {})),
        _named(path, partial(_remove_hooks, is_own, base or {})),
    )  # fmt: skip


def member_edit(path: Path, names: Sequence[str], value: Any, is_own: IsOwn) -> FileEdit:
    """Return the edit for one member of an object of JSON; another program's member of the name is kept."""

    def apply(text: Text) -> str:
        given = text or ""
        there = jsonc.find(given, names)
        if there is None:
            return jsonc.add(given, names, value)
        check_own(path, names, there.value, is_own)
        return given if there.value == value else jsonc.replace(given, names, value)

    def undo(text: Text) -> Text:
        there = jsonc.find(text or "", names)
        if text is None or there is None or not is_own(there.value):
            return text
        without, kept = jsonc.remove(text, names), jsonc.remove(text, names, prune=False)
        return _original(text, partial(jsonc.add, path=names, value=there.value), without, kept, without)

    return FileEdit(path, _named(path, apply), _named(path, undo))


def _named(path: Path, edit: Callable[[Text], Text]) -> Callable[[Text], Text]:
    """Return the edit with the path in its errors."""

    def named(text: Text) -> Text:
        try:
            return edit(text)
        except json.JSONDecodeError as error:
            where = f"line {error.lineno}, column {error.colno}"
            raise UsageError(f"{path} is no JSON, {where}: {error.msg}; mend it first") from None
        except RecursionError:
            raise UsageError(f"{path} is nested too deeply; mend it first") from None
        except ValueError as error:
            raise UsageError(f"{path}: {error}; mend it first") from None

    return named


def _add_hooks(
    entries: Mapping[str, Sequence[Any]], is_own: IsOwn, base: Mapping[str, Any], text: Text
) -> str:
    new = text or ""
    for name, value in base.items():
        if jsonc.find(new, [name]) is None:
            new = jsonc.add(new, [name], value)
    for event, wanted in entries.items():
        own = [(at, one) for at, one in _handlers(new, event) if is_own(one)]
        for (at, there), entry in zip(own, wanted, strict=False):
            [(_, handler)] = _handlers_of(entry)
            if there != handler:
                new = jsonc.replace(new, at, handler)
        for at, _ in reversed(own[len(wanted) :]):
            new = _remove_handler(new, at)
        for entry in wanted[len(own) :]:
            new = jsonc.add(new, ["hooks", event], entry, item=True)
    return new


def _remove_hooks(is_own: IsOwn, base: Mapping[str, Any], text: Text) -> Text:
    hooks = jsonc.find(text or "", ["hooks"])
    if text is None or hooks is None:
        return text
    without, own = text, {}
    for event, node in hooks.members.items():
        if isinstance(node.value, list):
            mine = [(at, one) for at, one in _handlers(text, event) if is_own(one)]
            own[event] = [{"hooks": [one]} if "hooks" in at[1:] else one for at, one in mine]
            for at, _ in reversed(mine):
                without = _remove_handler(without, at)
    if without == text:
        return text
    bare = without
    for name in base:
        bare = jsonc.remove(bare, [name]) if jsonc.find(bare, [name]) else bare
    return _original(text, partial(_add_hooks, own, is_own, base), bare, without)


def _original(text: str, redo: Callable[[str], str], *candidates: str) -> Text:
    """Return the text before an edit: None or the first candidate of which `redo` makes the text, else the
    last.
    """
    return next((one for one in ("", *candidates) if redo(one) == text), candidates[-1]) or None


def _handlers(text: str, event: str) -> list[tuple[Sequence[Any], Any]]:
    """Return the handlers of an event with their paths."""
    there = jsonc.find(text, ["hooks", event])
    if there is not None and not isinstance(there.value, list):
        raise ValueError(f"hooks.{event} is no list")
    entries = [] if there is None else there.value
    return [one for at, entry in enumerate(entries) for one in _handlers_of(entry, ["hooks", event, at])]


def _handlers_of(entry: Any, path: Sequence[Any] = ()) -> list[tuple[Sequence[Any], Any]]:
    """Return the handlers of a group, or the entry itself, because Cursor has no groups."""
    group = entry.get("hooks") if isinstance(entry, dict) else None
    if not isinstance(group, list):
        return [(path, entry)]
    return [([*path, "hooks", at], one) for at, one in enumerate(group)]


def _remove_handler(text: str, path: Sequence[Any]) -> str:
    """Return the text without a handler, and without the group that it leaves empty."""
    hooks, event, at = path[:3]
    group = _handlers_of(jsonc.parse(text).value[hooks][event][at])
    return jsonc.remove(text, path if len(group) > 1 else path[:3])
