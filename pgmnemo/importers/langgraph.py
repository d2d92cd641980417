"""LangGraph's long-term memory: the table `store` of its PostgresStore by a DSN, or `Item.dict()` as JSON.

The namespace, its parts joined with dots as in the store itself, is the project. The text is the value's
`text`, `content`, `memory` or `data`, its other fields become metadata; a value without such a text is stored
as JSON. Tested on a store made by langgraph-checkpoint-postgres 3.2, and on its items.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pgmnemo.importers import ImportedLesson, ImportOptions
from pgmnemo.importers.lessons import lesson, time_of
from pgmnemo.importers.sources import JSON, MEND, all_objects, database_rows, is_dsn

TEXTS = ("text", "content", "memory", "data")
ROWS = "SELECT to_jsonb(s) FROM store AS s ORDER BY s.prefix, s.key"  # older stores lack columns


def read(place: Path | str, *, options: ImportOptions) -> Iterator[ImportedLesson]:
    """Read LangGraph's store: its DSN, or its items as JSON (tested with a store of its PostgresStore)."""
    if is_dsn(place):
        for item in database_rows(str(place), ROWS):
            where = f"the store, {item['prefix']}, {item['key']}"
            yield from _lesson({**item, "namespace": item["prefix"].split(".")}, where, options)
        return
    for where, item in all_objects(place, JSON, options):
        yield from _lesson(item, where, options)


def _lesson(item: Mapping[str, Any], where: str, options: ImportOptions) -> Iterator[ImportedLesson]:
    namespace, key, value = item.get("namespace"), item.get("key"), item.get("value")
    if not isinstance(namespace, list) or not isinstance(key, str) or not isinstance(value, dict):
        options.fault(f"{where} is no item: it lacks `namespace`, `key` or `value`; {MEND}")
        return iter(())
    prefix = ".".join(map(str, namespace))
    text, rest = _split(value)
    changed = {name: item.get(name) for name in ("created_at", "updated_at")}
    return lesson(
        options, where, f"langgraph/{prefix}/{key}", text, project=prefix,
        at=time_of(options, where, item.get("updated_at"), item.get("created_at")),
        expires_at=time_of(options, where, item.get("expires_at")),
        metadata={**rest, **changed, "source": "langgraph", "namespace": namespace},
    )  # fmt: skip


def _split(value: Mapping[str, Any]) -> tuple[object, dict[str, Any]]:
    """Return the text of a value and the value's other fields; without a text, the value itself.

    The text may be one level deeper, as in items of langmem.
    """
    for name in TEXTS:
        inner, rest = value.get(name), {key: one for key, one in value.items() if key != name}
        if isinstance(inner, str):
            return inner, rest
        if isinstance(inner, dict) and any(isinstance(inner.get(one), str) for one in TEXTS):
            text, more = _split(inner)
            return text, {**more, **rest}
    return value, {}
