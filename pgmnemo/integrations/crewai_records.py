"""Records of CrewAI as lessons: id, scope path, fields in the metadata."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime

from crewai.memory.types import MemoryRecord

from pgmnemo.client.blank import is_blank
from pgmnemo.client.records import Hit, Item, Lesson
from pgmnemo.client.staging import LONGEST_KEY
from pgmnemo.integrations.documents import BLANK
from pgmnemo.integrations.scopes import exact_key, exact_name, spoken_text

RECORD, ACCESSED = "pgmnemo:record", "pgmnemo:accessed"  # metadata: a record as JSON, its last access
Check = Callable[[MemoryRecord], bool]


def lesson_of(record: MemoryRecord, language: str | None) -> Item:
    """Return a record as a lesson."""
    text = spoken_text(record.content)
    metadata = {RECORD: record.model_dump_json(), ACCESSED: record.last_accessed.isoformat()}
    return Item(
        BLANK if is_blank(text) else text, key_of(record.id), topic=topic_of(record.scope), metadata=metadata,
        importance=1 + round(4 * record.importance), at=aware(record.created_at), language=language,
        vector=list(record.embedding) if record.embedding else None,
    )  # fmt: skip


def checks_of(categories: Sequence[str] | None, metadata: Mapping[str, object] | None) -> list[Check]:
    """Return the checks that a record has one of the categories, and all of the metadata."""
    checks: list[Check] = []
    if categories:
        checks.append(lambda record: any(name in record.categories for name in categories))
    if metadata:
        checks.append(lambda record: all(record.metadata.get(name) == one for name, one in metadata.items()))
    return checks


def record_of(found: Lesson | Hit) -> MemoryRecord | None:
    """Return the record that a lesson holds; None for a lesson of another program."""
    if RECORD not in found.metadata:
        return None
    record = MemoryRecord.model_validate_json(found.metadata[RECORD])
    return record.model_copy(update={"last_accessed": datetime.fromisoformat(found.metadata[ACCESSED])})


def path_of(scope: str | None) -> str:
    """Return a scope path with a slash at both ends, so that a parent is a prefix of its children."""
    return f"/{(scope or '').strip('/')}/".replace("//", "/")


def is_below(scope: str, prefix: str | None) -> bool:
    """Return whether a scope path is a prefix path or below it."""
    return path_of(scope).startswith(path_of(prefix))


def topic_of(scope: str) -> str:
    """Return the topic of a scope path."""
    return path_of(scope).replace("\0", "")


def filter_below(prefix: str | None) -> dict[str, str] | None:
    """Return the filter of the lessons below a scope path; None for all lessons."""
    return None if path_of(prefix) == "/" else {"topic_prefix": topic_of(str(prefix))}


def children_of(records: Iterable[MemoryRecord], parent: str) -> list[str]:
    """Return the scope paths of records that are one level below a parent."""
    above = path_of(parent)
    names = {path_of(record.scope)[len(above) :].partition("/")[0] for record in records}
    return sorted(above + name for name in names if name)


def key_of(record_id: str) -> str:
    """Return the key of a record."""
    key = exact_name(record_id)
    return key if len(key.encode()) <= LONGEST_KEY else exact_key(record_id)


def now() -> datetime:
    """Return the time as CrewAI writes it: naive and in UTC."""
    return datetime.now(UTC).replace(tzinfo=None)


def aware(time: datetime) -> datetime:
    """Return a time with its zone; a naive time is in UTC."""
    return time if time.tzinfo else time.replace(tzinfo=UTC)
