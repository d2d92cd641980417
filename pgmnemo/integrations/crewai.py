"""CrewAI: a storage backend of its memory, `Memory(storage=PgmnemoStorage(scope), embedder=…)`.

A record is a lesson with the record's scope path as its topic; CrewAI's embedder makes the vectors. All
fields of a record are in the metadata.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from pgmnemo.client.records import Hit
from pgmnemo.client.sync.scope import Scope
from pgmnemo.errors import MissingError, UsageError
from pgmnemo.integrations.documents import POOL, hit_cosine, missing_package
from pgmnemo.integrations.scopes import errors_as, project_scope

try:
    from crewai.memory.storage.backend import EmbeddingDimensionMismatchError
    from crewai.memory.types import MemoryRecord, ScopeInfo

    from pgmnemo.integrations.crewai_records import (
        ACCESSED,
        aware,
        checks_of,
        children_of,
        filter_below,
        is_below,
        key_of,
        lesson_of,
        now,
        record_of,
    )
except ModuleNotFoundError:
    raise missing_package("crewai", "crewai") from None

MOST = 10_000  # most hits of a search


class StorageError(UsageError, ValueError):
    """A record or an argument that the storage cannot take: a ValueError, because CrewAI drops a save after a
    RuntimeError.
    """


class PgmnemoStorage:
    """A StorageBackend over a scope that the caller closes.

    scope: the project of a user and a crew, of a `Memory` without an embedder.
    language: that of every lesson, as in `add`.

    The methods raise EmbeddingDimensionMismatchError for a vector of another width than the tenant's, and
    StorageError, a ValueError, for any other wrong argument.
    """

    def __init__(self, scope: Scope, *, language: str | None = None) -> None:
        with errors_as(StorageError):
            project_scope(scope)
            if not isinstance(scope, Scope):
                raise UsageError("CrewAI calls its storage in threads: give it a scope of Memory")
        self._scope, self._language = scope, language

    # Writing

    def save(self, records: list[MemoryRecord]) -> None:
        """Store records, all or none; a record replaces the stored record with its id."""
        with errors_as(StorageError):
            items = [lesson_of(record, self._language) for record in records]
            widths = {len(item.vector) for item in items if item.vector}
            self._check_width(*widths)
            if items:
                self._scope.add_many(items, batch=len(items))

    def update(self, record: MemoryRecord) -> None:
        """Replace the record with the same id; a record without an embedding keeps that of an equal text."""
        self.save([record])

    def delete(
        self,
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        record_ids: list[str] | None = None,
        older_than: datetime | None = None,
        metadata_filter: dict[str, Any] | None = None,
    ) -> int:
        """Delete the records that match all criteria permanently, and return their number."""
        checks = checks_of(categories, metadata_filter)
        if older_than is not None:
            limit = aware(older_than)
            checks.append(lambda record: aware(record.created_at) < limit)
        with errors_as(StorageError):
            found = (
                self._records(scope_prefix) if record_ids is None else self._named(record_ids, scope_prefix)
            )
            due = [record for record in found if all(check(record) for check in checks)]
            return sum(self._scope.forget(key_of(record.id), permanent=True) for record in due)

    def reset(self, scope_prefix: str | None = None) -> None:
        """Delete all records of a scope path permanently."""
        self.delete(scope_prefix)

    def touch_records(self, record_ids: list[str]) -> None:
        """Set the last access of records to now."""
        for record in self._named(record_ids, None):
            try:
                self._scope.update(key_of(record.id), patch={ACCESSED: now().isoformat()})
            except MissingError:
                continue  # deleted meanwhile

    # Reading

    def search(
        self,
        query_embedding: list[float],
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        metadata_filter: dict[str, Any] | None = None,
        limit: int = 10,
        min_score: float = 0.0,
    ) -> list[tuple[MemoryRecord, float]]:
        """Return the records nearest to a vector.

        The score is 1 / (1 + squared distance) for vectors of length 1, as in LanceDBStorage.
        """
        checks = checks_of(categories, metadata_filter)
        checks.append(lambda record: is_below(record.scope, scope_prefix))
        most, min_score = max(limit, POOL), max(min_score, 0.0)
        with errors_as(StorageError):
            self._check_width(len(query_embedding))
            while limit > 0:
                hits = self._scope.recall(
                    vector=query_embedding,
                    k=most,
                    mode="vector",
                    filter=filter_below(scope_prefix),
                    duplicates=True,
                )
                found = [
                    (record, score)
                    for hit in hits
                    if (score := _score(hit)) >= min_score
                    and (record := record_of(hit))
                    and all(check(record) for check in checks)
                ]
                if len(found) >= limit or len(hits) < most or most >= MOST:
                    return sorted(found, key=lambda pair: -pair[1])[:limit]
                most = min(most * 8, MOST)
        return []

    def get_record(self, record_id: str) -> MemoryRecord | None:
        """Return the record with an id, without its embedding; None if there is none."""
        return next(self._named([record_id], None), None)

    def list_records(
        self, scope_prefix: str | None = None, limit: int = 200, offset: int = 0
    ) -> list[MemoryRecord]:
        """Return records of a scope path, the newest by `created_at` first."""
        found = sorted(self._records(scope_prefix), key=lambda one: aware(one.created_at), reverse=True)
        return found[offset : offset + limit] if limit > 0 and offset >= 0 else []

    def get_scope_info(self, scope: str) -> ScopeInfo:
        """Return the number, categories, dates and child scopes of the records below a scope path."""
        found = list(self._records(scope))
        dates = sorted((record.created_at for record in found), key=aware)
        return ScopeInfo(
            path=scope.rstrip("/") or "/", record_count=len(found),
            categories=sorted({name for record in found for name in record.categories}),
            oldest_record=dates[0] if dates else None, newest_record=dates[-1] if dates else None,
            child_scopes=children_of(found, scope),
        )  # fmt: skip

    def list_scopes(self, parent: str = "/") -> list[str]:
        """Return the child scopes of a scope path."""
        return children_of(self._records(parent), parent)

    def list_categories(self, scope_prefix: str | None = None) -> dict[str, int]:
        """Return the number of records of each category."""
        counts: dict[str, int] = {}
        for record in self._records(scope_prefix):
            for name in record.categories:
                counts[name] = counts.get(name, 0) + 1
        return counts

    def count(self, scope_prefix: str | None = None) -> int:
        """Return the number of records in a scope path and below it."""
        return sum(1 for _ in self._records(scope_prefix))

    async def asave(self, records: list[MemoryRecord]) -> None:
        """Run `save` in a thread."""
        await asyncio.to_thread(self.save, records)

    async def asearch(self, query_embedding: list[float], **given: Any) -> list[tuple[MemoryRecord, float]]:
        """Run `search` in a thread."""
        return await asyncio.to_thread(self.search, query_embedding, **given)

    async def adelete(self, **given: Any) -> int:
        """Run `delete` in a thread."""
        return await asyncio.to_thread(self.delete, **given)

    # Within

    def _records(self, prefix: str | None) -> Iterator[MemoryRecord]:
        for lesson in self._scope.list(filter=filter_below(prefix)):
            if (record := record_of(lesson)) and is_below(record.scope, prefix):
                yield record

    def _named(self, ids: Sequence[str], prefix: str | None) -> Iterator[MemoryRecord]:
        for lesson in map(self._scope.get, map(key_of, ids)):
            record = record_of(lesson) if lesson and lesson.is_current() else None
            if record and is_below(record.scope, prefix):
                yield record

    def _check_width(self, *widths: int) -> None:
        stored = self._scope.stats().dimensions
        for first, other in zip((stored or next(iter(widths), 0),) * len(widths), widths, strict=True):
            if first != other:
                raise EmbeddingDimensionMismatchError(first, other)


def _score(hit: Hit) -> float:
    """Return the score of a hit; -1 for a lesson without a vector."""
    cosine = hit_cosine(hit)
    return -1.0 if cosine is None else 1 / (3 - 2 * cosine)
