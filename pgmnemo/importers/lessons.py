"""Conversion of a source's entries to valid lessons: texts, times, keys, positions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, TypeVar, cast
from uuid import UUID

import msgspec

from pgmnemo.client.blank import is_blank
from pgmnemo.client.naming import nfc
from pgmnemo.client.records import Item
from pgmnemo.client.rendering import without_blocks
from pgmnemo.importers import UNKNOWN, ImportedLesson, ImportOptions

T = TypeVar("T")
MOST = 10_000_000  # bytes of a text
MOST_METADATA, MOST_VALUES = 800_000, 10_000  # bytes as JSON, and values
LONGEST_KEY, LONGEST_NAME = 1_000, 1_000  # bytes of a key, characters of a name or title
FIRST_SECOND = 1_500_000_000  # 2017-07-14, the second with position 0
LAST_POSITION = 1_000_000_000
GREATEST, BITS = 1e308, 63  # greatest number in metadata, and most bits of a whole number
MILLISECONDS = 1e11  # a greater number is in milliseconds, not seconds
TEXTS = ("text", "input_text", "output_text", "audio_transcription")  # blocks of a message
UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def lesson(
    options: ImportOptions, where: str, key: str, text: object, *, project: object = None,
    topic: object = None, role: object = None, metadata: Mapping[str, Any], **fields: Any,
) -> Iterator[ImportedLesson]:  # fmt: skip
    """Yield the lesson, or count and describe it as left out if it is blank or beyond the extension's limits.

    A value that is not a text becomes JSON; metadata fields with None are dropped.
    """
    try:
        text = clean(text) if isinstance(text, str) else msgspec.json.encode(clean(text)).decode()
        told = clean({name: one for name, one in metadata.items() if one is not None})
        great = len(msgspec.json.encode(told)) > MOST_METADATA or _values(told) > MOST_VALUES
    except RecursionError:
        options.fault(f"{where} is nested too deeply; mend it, or leave it out")
        return
    if is_blank(text):
        options.left.add("empty", f"{where} has no text")
    elif (size := len(text.encode())) > MOST:
        options.left.add("too long", f"{where} has a text of {size:,} bytes, and {MOST:,} are stored")
    elif great:
        options.left.add("too long", f"{where} has more metadata than is stored")
    else:
        item = Item(text, _short(nfc(clean(key))), _name(role), _name(topic), metadata=told, **clean(fields))
        yield ImportedLesson(project if isinstance(project, UUID) else _name(project), item, where)


def moment(value: object) -> datetime | None:
    """Return an ISO 8601 time, or seconds or milliseconds since 1970, as a datetime; None for another value.

    A time without a zone is in UTC.
    """
    try:
        if isinstance(value, str):
            return utc(datetime.fromisoformat(value.strip()))
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / 1000 if value > MILLISECONDS else value, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None


def time_of(options: ImportOptions, where: str, *values: object) -> datetime | None:
    """Return the first value that is a time, and count each value before it that is not."""
    for value in values:
        if (at := moment(value)) is not None:
            return at
        if value not in (None, ""):
            options.left.aside("times", f"{where} has the time {str(value)[:100]!r}, which is not read")
    return None


def utc(value: T) -> T:
    """Return a time without a zone as a time in UTC, and any other value unchanged."""
    if isinstance(value, datetime) and value.tzinfo is None:
        return cast(T, value.replace(tzinfo=UTC))
    return value


def inner(value: object, name: str) -> dict[str, Any]:
    """Return the object in a field of an object; an empty object if there is no object."""
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


class Conversation:
    """A conversation of one source, which gives its messages consecutive positions.

    The first position is the second at which the first message was sent. So the messages of a conversation
    are neighbours, and messages of two conversations rarely are.
    """

    def __init__(self, source: str, options: ImportOptions) -> None:
        self._source, self._options, self._said = source, options, dict[str, int]()
        self._next: int | None = None

    def name(self, text: str) -> str:
        """Return a name for a message without an id: the hash of its text, and its number among equal texts.
        So a message keeps its name when the file grows, or when lines before it are deleted.
        """
        self._said[text] = self._said.get(text, 0) + 1
        return f"{sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}/{self._said[text]}"

    def message(
        self, where: str, key: str, text: str, role: str, time: object, *,
        project: object = None, topic: object = None, **metadata: Any,
    ) -> Iterator[ImportedLesson]:  # fmt: skip
        """Yield the lesson of a message, without recalled `context` blocks.

        A message without text, such as a tool call or a picture, is counted and described instead.
        """
        if is_blank(text := without_blocks(text.strip()).strip()):
            self._options.left.add("without text", f"{where} has no text of its own")
            return iter(())
        at = time_of(self._options, where, time)
        return lesson(
            self._options, where, f"{self._source}/{key}", text, project=project, topic=topic, role=role,
            at=at, position=self._next_position(at), metadata={"source": self._source, **metadata},
        )  # fmt: skip

    def _next_position(self, at: datetime | None) -> int | None:
        """Return the next position; None if the first message has no time."""
        if self._next is None and at is not None:
            self._next = int(at.timestamp()) - FIRST_SECOND
        if self._next is None or abs(self._next) >= LAST_POSITION:
            return None
        self._next += 1
        return self._next - 1


def attachments(options: ImportOptions, where: str, *lists: object) -> None:
    """Count and describe a message's attachments, which are not read."""
    for one in (one for given in lists if isinstance(given, list) for one in given):
        name = one.get("name") or one.get("file_name") if isinstance(one, dict) else one
        options.left.aside("attachments", f"{where} has the attachment {name!r}")


def count_other_line(options: ImportOptions, where: str, known: bool, format: str) -> None:
    """Count a line that is not a message of a conversation; describe it if its format is not `known`."""
    if known:
        options.left.counts["of tools, or hidden"] += 1
    else:
        options.left.add(UNKNOWN, f"{where} is not of {format}")


def message_text(content: object, injected: tuple[str, ...] = ()) -> str:
    """Return the text of a message, joined from its text blocks.

    Blocks that begin with a text in `injected`, which a program has inserted, are left out.
    """
    blocks = content if isinstance(content, list) else [content]
    texts = [one if isinstance(one, str) else _text(one) for one in blocks]
    return "\n\n".join(one for one in texts if one and not one.lstrip().startswith(injected))


def _text(block: Any) -> str | None:
    kind = block.get("type", block.get("content_type")) if isinstance(block, dict) else None
    return block["text"] if kind in TEXTS and isinstance(block.get("text"), str) else None


def clean(value: Any) -> Any:
    """Return a value without characters and numbers that jsonb cannot store."""
    if isinstance(value, str):
        return UNSTORABLE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {clean(name): clean(one) for name, one in value.items()}
    if isinstance(value, list):
        return [clean(one) for one in value]
    if isinstance(value, int | float) and not abs(value) <= GREATEST:
        return None
    if isinstance(value, int) and value.bit_length() > BITS:
        return float(value)
    return None if isinstance(value, bytes) else value


def _values(value: object) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + sum(map(_values, inner))


def _short(key: str) -> str:
    """Return a key of at most LONGEST_KEY bytes: a longer key is cut, and ends with the hash of all of it."""
    data = key.encode()
    if len(data) <= LONGEST_KEY:
        return key
    return f"{data[:900].decode(errors='ignore')}…{sha256(data).hexdigest()}"


def _name(value: object) -> str | None:
    return (clean(value).strip()[:LONGEST_NAME] or None) if isinstance(value, str) else None
