"""ChatGPT's data export: `conversations.json`, or its .zip; a lesson for each message.

A conversation is a tree; only the branch to `current_node` is read: regenerated answers and edited questions
are left out, and so are tools, hidden messages and pictures. The title is the topic, the key
`conversation/message`. Written from published shapes and other parsers, without a real file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pgmnemo.importers import ImportedLesson, ImportOptions
from pgmnemo.importers.lessons import Conversation, attachments, inner, message_text
from pgmnemo.importers.sources import MEND, all_objects

NAMES = r"conversations(-\d+)?\.json"
ROLES = ("user", "assistant")
CANVAS = "canmore"  # the tool that keeps documents


def read(place: Path | str, *, options: ImportOptions) -> Iterator[ImportedLesson]:
    """Read ChatGPT's export: conversations.json or its .zip (by its published format)."""
    for where, talk in all_objects(place, NAMES, options):
        if not isinstance(talk.get("mapping"), dict):
            options.fault(f"{where} is no conversation: it has no `mapping`; {MEND}")
            continue
        if not talk["mapping"]:
            options.left.add("empty", f"{where} has no messages")
        told, identity = Conversation("chatgpt", options), talk.get("conversation_id") or talk.get("id")
        way = branch(talk["mapping"], talk.get("current_node"))
        for node in talk["mapping"].keys() - {node for node, _ in way}:
            if inner(talk["mapping"][node], "message"):
                options.left.counts["of another branch"] += 1
        for node, message in way:
            attachments(options, f"{where}, message {node}", inner(message, "metadata").get("attachments"))
            if message and not is_spoken(message):
                _leave(options, message, f"{where}, message {node}")
            elif message:
                yield from told.message(
                    f"{where}, message {node}", f"{identity}/{message.get('id') or node}",
                    message_text(message["content"].get("parts")), message["author"]["role"],
                    message.get("create_time"), topic=talk.get("title"), conversation=identity,
                    model=inner(message, "metadata").get("model_slug"),
                )  # fmt: skip


def _leave(options: ImportOptions, message: Mapping[str, Any], where: str) -> None:
    """Count a message of a tool, a program or a thought as left out; describe a document of the canvas."""
    if str(message.get("recipient")).startswith(CANVAS):
        options.left.add("canvas", f"{where} is a document of the canvas")
    else:
        options.left.counts["of tools, or hidden"] += 1


def branch(nodes: Mapping[str, Any], node: object) -> list[tuple[str, dict[str, Any]]]:
    """Return the messages from the root to a node, in order; without a node, to the latest message."""
    if not isinstance(node, str) or node not in nodes:
        node = max(nodes, key=lambda one: _time(inner(nodes[one], "message")), default=None)
    way: dict[str, dict[str, Any]] = {}
    while isinstance(node, str) and node not in way and isinstance(nodes.get(node), dict):
        way[node] = inner(nodes[node], "message")
        node = nodes[node].get("parent")
    return list(reversed(way.items()))


def is_spoken(message: Mapping[str, Any]) -> bool:
    """Return whether a message is a visible text from the user to the assistant, or the reverse."""
    return (
        inner(message, "author").get("role") in ROLES
        and message.get("recipient") in (None, "all")
        and inner(message, "content").get("content_type") in ("text", "multimodal_text")
        and not inner(message, "metadata").get("is_visually_hidden_from_conversation")
    )


def _time(message: Mapping[str, Any]) -> float:
    time = message.get("create_time")
    return time if isinstance(time, int | float) else 0.0
