"""Items of LangGraph as lessons: namespace, key, value, time to live. This module imports no framework."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any
from unicodedata import is_normalized

from pgmnemo.client.records import Hit, Item, Lesson
from pgmnemo.client.rendering import without_blocks
from pgmnemo.client.scope_calls import NUL, nesting_depth
from pgmnemo.client.staging import LONGEST_KEY
from pgmnemo.integrations.langgraph_filter import StoreError
from pgmnemo.passages.pieces import MOST as MOST_PASSAGES

ROOT = "langgraph."  # prefix of items' topics; LangGraph reserves this label
NOT_INDEXED = "(not indexed)"  # the text of an item that questions do not find
DEEPEST = 250  # levels of a value
CHANGED = re.compile(r"\de\+|-0\.0(?!\d)")  # floats that PostgreSQL would return as whole numbers


def key_of(namespace: Sequence[str], key: object) -> str:
    """Return the key of a lesson: namespace and key as a list of JSON, or its hash if that is too long.

    The database keeps keys and topics in Unicode's composed form (NFC), but LangGraph distinguishes the
    forms, so a name in another form is written in ASCII. The extension's upgrade to 1.0.0 follows this rule.
    """
    names = [*namespace, str(key)]
    told = json.dumps(names, ensure_ascii=False, separators=(",", ":"))
    kept = told if is_normalized("NFC", told) else json.dumps(names, separators=(",", ":"))
    if len(kept.encode("utf-8", "surrogatepass")) <= LONGEST_KEY:
        return kept
    return f"sha256 {sha256(told.encode('utf-8', 'surrogatepass')).hexdigest()}"


def topic_of(namespace: Iterable[str]) -> str:
    """Return the topic of a namespace: its labels, each followed by a dot.

    So a prefix of labels is a prefix of the topic; labels contain no dots.
    """
    return ROOT + "".join(f"{_topic_label(label)}." for label in namespace)


def namespace_of(topic: str) -> tuple[str, ...]:
    """Return the labels of a topic."""
    labels = iter(topic.removeprefix(ROOT).split(".")[:-1])
    return tuple(label or json.loads(f'"{next(labels)}"') for label in labels)


def _topic_label(label: str) -> str:
    """Return a label as it is in a topic: preceded by a dot and in ASCII if it is not in the composed
    form.
    """
    return label if is_normalized("NFC", label) else f".{json.dumps(label)[1:-1]}"


def fits(space: Sequence[str], path: Sequence[str], kind: str) -> bool:
    """Return whether a namespace begins, or ends (`suffix`), with a path; `*` is any label."""
    part = space[: len(path)] if kind == "prefix" else space[max(len(space) - len(path), 0) :]
    return len(part) == len(path) and all(
        wanted in ("*", label) for label, wanted in zip(part, path, strict=True)
    )


def is_item(found: Lesson | Hit) -> bool:
    """Return whether a lesson is an item of a store, not another lesson of the project."""
    key, value = found.metadata.get("key"), found.metadata.get("value")
    return (found.topic or "").startswith(ROOT) and isinstance(key, str) and isinstance(value, dict)


def value_of(found: Lesson | Hit) -> dict[str, Any]:
    """Return the value of an item in its original form."""
    metadata = found.metadata
    value: dict[str, Any] = json.loads(metadata["json"]) if "json" in metadata else metadata["value"]
    return value


def fields_of(lesson: Lesson) -> dict[str, Any]:
    """Return the arguments of LangGraph's Item for a lesson."""
    created = lesson.stored_at
    return {
        "namespace": namespace_of(lesson.topic or ""), "key": lesson.metadata["key"],
        "value": value_of(lesson), "created_at": created, "updated_at": max(lesson.at or created, created),
    }  # fmt: skip


def item_as_lesson(
    namespace: Sequence[str], key: object, value: Mapping[str, Any], texts: Sequence[str], ttl: float | None
) -> Item:
    """Return an item as a lesson, which questions find by `texts`; without texts they do not find it."""
    metadata = {"key": json_value({"key": str(key)}, "a key")["key"], "value": value, "indexed": bool(texts)}
    if ttl is not None:
        metadata["ttl"] = ttl
    if CHANGED.search(told := json.dumps(value, ensure_ascii=False)):
        metadata["json"] = told
    return Item(
        "\n".join(texts) or NOT_INDEXED, key_of(namespace, key), topic=topic_of(namespace),
        metadata=metadata, at=datetime.now(UTC), expires_at=expiry(ttl),
        passages=texts if 1 < len(texts) <= MOST_PASSAGES else None,
    )  # fmt: skip


def expiry(ttl: float | None) -> datetime | None:
    """Return the time at which an item touched now expires; None without a time to live.

    `ttl` is in minutes; raise StoreError if it is invalid.
    """
    if ttl is None:
        return None
    try:
        return datetime.now(UTC) + timedelta(minutes=ttl)
    except OverflowError:
        raise StoreError(f"a ttl is a number of minutes, not {ttl!r:.40}") from None


def json_value(given: Any, what: str) -> dict[str, Any]:
    """Return an object as it is after a round trip through JSON.

    Raise StoreError for values that JSON, or a database, cannot store.
    """
    try:
        told = json.dumps(dict(given), ensure_ascii=False, allow_nan=False)
        told.encode()
        value: dict[str, Any] = json.loads(told)
    except (TypeError, ValueError, RecursionError) as error:
        raise StoreError(f"{what} cannot be written as JSON: {error}") from None
    if NUL.search(told):
        raise StoreError(f"{what} has a NUL character, which no database takes; take it out")
    if nesting_depth(value) > DEEPEST:
        raise StoreError(f"{what} nests deeper than {DEEPEST} levels, which not every reader can follow")
    return value


def without_context(value: Any) -> Any:
    """Return a value without the context blocks in its texts: recalled text is not stored again."""
    if isinstance(value, dict):
        return {name: without_context(one) for name, one in value.items()}
    if isinstance(value, list):
        return [without_context(one) for one in value]
    return without_blocks(value) if isinstance(value, str) else value
