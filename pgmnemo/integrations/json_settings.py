"""Edits of settings in JSON, with comments or without: hooks of events, and one member of an object."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pgmnemo.errors import UsageError
from pgmnemo.integrations import jsonc
from pgmnemo.integrations.agent_files import FileEdit, IsOwn, Text, at_path, check_own


def hook_edit(
    path: Path, entries: Mapping[str, Sequence[Any]], is_own: IsOwn, base: Mapping[str, Any] | None = None
) -> FileEdit:
    """Return the edit for hooks: entries for each event, at the end of the event's list.

    base: what a file without it gets besides the hooks.
    """
    return FileEdit(
        path, partial(_add_hooks, path, entries, is_own, base or {}),
        partial(_remove_hooks, path, is_own, base or {}),
    )  # fmt: skip


def member_edit(path: Path, names: Sequence[str], value: Any, is_own: IsOwn) -> FileEdit:
    """Return the edit for one member of an object of JSON; another program's member of the name is kept."""

    def apply(text: Text) -> str:
        given = text or ""
        there = at_path(_parse(path, given), names)
        if there is None:
            return jsonc.add(given, names, value)
        check_own(path, names, there, is_own)
        return given if there == value else jsonc.replace(given, names, value)

    def undo(text: Text) -> Text:
        there = at_path(_parse(path, text or ""), names)
        if text is None or there is None or not is_own(there):
            return text
        return _unless_empty(jsonc.remove(text, names), {})

    return FileEdit(path, apply, undo)


def _add_hooks(
    path: Path, entries: Mapping[str, Sequence[Any]], is_own: IsOwn, base: Mapping[str, Any], text: Text
) -> str:
    new = text or ""
    for name, value in base.items():
        if name not in _parse(path, new):
            new = jsonc.add(new, [name], value)
    for event, wanted in entries.items():
        there = _event(path, new, event)
        own = [at for at, one in enumerate(there) if is_own(one)]
        for at, entry in zip(own, wanted, strict=False):
            if there[at] != entry:
                new = jsonc.replace(new, ["hooks", event, at], entry)
        for at in reversed(own[len(wanted) :]):
            new = jsonc.remove(new, ["hooks", event, at])
        for entry in wanted[len(own) :]:
            new = jsonc.add(new, ["hooks", event], entry, item=True)
    return new


def _remove_hooks(path: Path, is_own: IsOwn, base: Mapping[str, Any], text: Text) -> Text:
    if text is None:
        return None
    new = text
    for event in at_path(_parse(path, text), ["hooks"]) or {}:
        for at, one in reversed([*enumerate(_event(path, text, event))]):
            if is_own(one):
                new = jsonc.remove(new, ["hooks", event, at])
    return text if new == text else _unless_empty(new, base)


def _event(path: Path, text: str, event: str) -> list[Any]:
    """Return the hooks of an event."""
    hooks = at_path(_parse(path, text), ["hooks"])
    if not isinstance({} if hooks is None else hooks, dict):
        raise UsageError(f"{path}: hooks is no object; mend it first")
    there = (hooks or {}).get(event, [])
    if not isinstance(there, list):
        raise UsageError(f"{path}: hooks.{event} is no list; mend it first")
    return there


def _unless_empty(text: str, base: Mapping[str, Any]) -> Text:
    return None if jsonc.parse(text).value in ({}, base) and "//" not in text and "/*" not in text else text


def _parse(path: Path, text: str) -> dict[str, Any]:
    try:
        found = jsonc.parse(text).value
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise UsageError(f"{path} is no JSON, {where}: {error.msg}; mend it first") from None
    except RecursionError:
        raise UsageError(f"{path} is nested too deeply; mend it first") from None
    if not isinstance(found, dict):
        raise UsageError(f"{path} is no object of JSON; mend it first")
    return found
