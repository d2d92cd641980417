"""Edit a file of JSON, with comments or without: what is not edited keeps every byte and its order."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

BLANK = re.compile(r"(?:[\s\ufeff]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
INDENT = re.compile(r"^\s*\{\s*?\n([ \t]+)")
DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Node:
    """A value, its place in the text, and the nodes of an object's or an array's members."""

    start: int
    end: int
    value: Any
    members: Mapping[Any, Node] = field(default_factory=dict)


def parse(text: str) -> Node:
    """Return the value of a text; blank text is an empty object. Raise json.JSONDecodeError for a fault."""
    if not text.strip():
        return Node(0, len(text), {})
    root = _value(text, _skip(text, 0))
    if (end := _skip(text, root.end)) != len(text):
        raise json.JSONDecodeError("there is more after the value", text, end)
    return root


def find(text: str, names: Sequence[str]) -> Node | None:
    """Return the node at a path of names; None if it is missing.

    Raise ValueError if a value on the path is no object.
    """
    node = parse(text)
    for depth, name in enumerate(names):
        _check_holder(node, dict, names[:depth])
        if name not in node.members:
            return None
        node = node.members[name]
    return node


def add(text: str, path: Sequence[str], value: Any, *, item: bool = False) -> str:
    """Return the text with a new member at the end of the object that holds it, or with `item` a new item at
    the end of the array that the path names. Objects and the array that are missing are made. Raise
    ValueError if a value on the path is of another kind.
    """
    if not text.strip():
        text = "{}\n"
    root = node = parse(text)
    depth = 0
    while depth < len(path) and path[depth] in node.members:
        node, depth = node.members[path[depth]], depth + 1
    _check_holder(node, list if depth == len(path) else dict, path[:depth])
    if depth == len(path):
        node.value.append(value)
        return _checked(_insert(text, node, _dump(text, value, depth + 1), depth), root)
    value = [value] if item else value
    for name in reversed(path[depth + 1 :]):
        value = {name: value}
    node.value[path[depth]] = value
    told = f"{json.dumps(path[depth], ensure_ascii=False)}: {_dump(text, value, depth + 1)}"
    return _checked(_insert(text, node, told, depth), root)


def replace(text: str, path: Sequence[Any], value: Any) -> str:
    """Return the text with another value at a path of names and positions."""
    *above, name = path
    root = parse(text)
    holder = _node(root, above)
    holder.value[name] = value
    node = holder.members[name]
    return _checked(text[: node.start] + _dump(text, value, len(path)) + text[node.end :], root)


def remove(text: str, path: Sequence[Any], *, prune: bool = True) -> str:
    """Return the text without a member or an item, and with `prune` without objects and arrays that it leaves
    without a member and a comment.
    """
    *above, name = path
    root = parse(text)
    holder = _node(root, above)
    if prune and above and len(holder.members) == 1 and not _has_comments(text, holder):
        return remove(text, above)
    del holder.value[name]
    return _checked(_cut(text, holder, name), root)


def _cut(text: str, holder: Node, name: Any) -> str:
    """Return the text without a member or an item; comments around it stay."""
    nodes = [*holder.members.values()]
    at = [*holder.members].index(name)
    start, end = _member_start(text, holder, nodes, at), nodes[at].end
    comma = _skip(text, end)
    has_comma = text[comma] == ","
    rest = text[end:comma] + text[comma + 1 :] if has_comma else text[end:]
    if at + 1 < len(nodes):
        return text[:start] + rest.lstrip()
    if at == 0 or has_comma:  # after the last member: the comma before it takes its place
        return _join(text[:start], rest if at else rest.lstrip())
    comma = _skip(text, nodes[at - 1].end)
    return _join(f"{text[:comma]}{text[comma + 1 : start]}", rest)


def _has_comments(text: str, holder: Node) -> bool:
    """Return whether there are comments around the only member of an object or an array."""
    [node] = nodes = [*holder.members.values()]
    return "/" in text[holder.start : _member_start(text, holder, nodes, 0)] + text[node.end : holder.end]


def _check_holder(node: Node, kind: type, names: Sequence[str]) -> None:
    if not isinstance(node.value, kind):
        raise ValueError(f"{'.'.join(names) or 'its value'} is no {'object' if kind is dict else 'list'}")


def _checked(text: str, root: Node) -> str:
    """Return an edited text; raise ValueError unless its value is that of `root`, which has the same edit."""
    if json.dumps(parse(text).value) != json.dumps(root.value):
        raise ValueError("it has a form that this command cannot edit")
    return text


def _join(left: str, right: str) -> str:
    """Return both parts without the blanks between them, but with the end of a comment's line."""
    left = left.rstrip()
    in_comment = "//" in left.rpartition("\n")[2] and not right.lstrip(" \t").startswith(("\r", "\n"))
    return f"{left}\n{right}" if in_comment else f"{left}{right}"


def _node(node: Node, path: Sequence[Any]) -> Node:
    for name in path:
        node = node.members[name]
    return node


def _member_start(text: str, holder: Node, nodes: Sequence[Node], at: int) -> int:
    """Return where a member begins, in an object with its name."""
    before = holder.start if at == 0 else _skip(text, nodes[at - 1].end)
    return _skip(text, before + 1)


def _insert(text: str, holder: Node, told: str, depth: int) -> str:
    """Return the text with a member at the end of an object or an array."""
    line, unit = _line_end(text), _indent(text)
    close = holder.end - 1
    last = max((node.end for node in holder.members.values()), default=holder.start + 1)
    comma = "," if holder.members and text[_skip(text, last)] != "," else ""
    kept = text[last:close].rstrip()
    tail = text[last + len(kept) : close]
    tail = tail if "\n" in tail else f"{line}{unit * depth}"
    return f"{text[:last]}{comma}{kept}{line}{unit * (depth + 1)}{told}{tail}{text[close:]}"


def _dump(text: str, value: Any, depth: int) -> str:
    unit = _indent(text)
    told = json.dumps(value, indent=unit, ensure_ascii=False)
    return told.replace("\n", f"{_line_end(text)}{unit * depth}")


def _indent(text: str) -> str:
    found = INDENT.match(text)
    return found[1] if found else "  "


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _skip(text: str, at: int) -> int:
    """Return the next place that is no blank and in no comment."""
    found = BLANK.match(text, at)
    assert found is not None
    return found.end()


def _value(text: str, at: int) -> Node:
    if text[at : at + 1] in ("{", "["):
        return _members(text, at)
    value, end = DECODER.raw_decode(text, at)
    return Node(at, end, value)


def _members(text: str, start: int) -> Node:
    """Return an object or an array; a comma after its last member is permitted."""
    is_object = text[start] == "{"
    close, members, at = "}" if is_object else "]", dict[Any, Node](), _skip(text, start + 1)
    while text[at : at + 1] != close:
        name: Any = len(members)
        if is_object:
            name, end = DECODER.raw_decode(text, at)
            if not isinstance(name, str) or name in members:
                raise json.JSONDecodeError("a name is a text, and once in an object", text, at)
            at = _skip(text, _expect(text, _skip(text, end), ":"))
        members[name] = _value(text, at)
        at = _skip(text, members[name].end)
        if text[at : at + 1] != close:
            at = _skip(text, _expect(text, at, ","))
    values = {name: node.value for name, node in members.items()}
    return Node(start, at + 1, values if is_object else [*values.values()], members)


def _expect(text: str, at: int, char: str) -> int:
    if text[at : at + 1] != char:
        raise json.JSONDecodeError(f"there should be a {char!r}", text, at)
    return at + 1
