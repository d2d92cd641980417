"""Google ADK: a memory service, in which each event with text is a lesson of its user and app.

The user of a session is the tenant, the app its project, and the session the topic. The content of an event
is in the metadata, so that a search returns all of its parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from operator import methodcaller
from typing import Any, cast
from uuid import UUID, uuid4

from pgmnemo.client import scope_calls
from pgmnemo.client.aio.memory import AsyncMemory
from pgmnemo.client.arguments import check
from pgmnemo.client.blank import is_blank
from pgmnemo.client.records import Item, Lesson
from pgmnemo.client.staging import LONGEST_KEY
from pgmnemo.client.sync.memory import Memory
from pgmnemo.integrations.documents import BLANK, missing_package
from pgmnemo.integrations.scopes import (
    AnyScope,
    answer,
    exact_key,
    exact_name,
    recall_options,
    recalled,
    session_topic,
    spoken_text,
    user_scope,
)
from pgmnemo.integrations.sync_async import Work

try:
    from google.adk.events.event import Event
    from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
    from google.adk.memory.memory_entry import MemoryEntry
    from google.adk.sessions.session import Session

    from pgmnemo.integrations.google_entries import ENTRY, EVENT, entry_json, entry_of, time_of
except ModuleNotFoundError:
    raise missing_package("google-adk", "google-adk") from None

NO_SESSION = "__unknown_session_id__"  # of events without a session, as in ADK's InMemoryMemoryService


class PgmnemoMemoryService(BaseMemoryService):  # type: ignore[misc]  # mypy has no types of ADK
    """A memory service for `Runner(…, memory_service=…)`, over a memory that the caller closes.

    memory: a `Memory`, or an `AsyncMemory` that was opened in the event loop of the runner.
    recall: arguments of `recall` for every search, such as k (10), mode, role, filter, since and min_fit.
    metadata, language: those of every lesson, as in `add`; `custom_metadata` of a call is added.

    The methods raise PgmnemoErrors as the scope's verbs do.
    """

    def __init__(
        self,
        memory: Memory | AsyncMemory,
        *,
        recall: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
        language: str | None = None,
    ) -> None:
        user_scope(memory, "user", "app")
        check("metadata", metadata, Mapping[str, Any] | None)
        self._memory, self._recall = memory, recall_options("recall", recall)
        self._metadata, self._language = dict(metadata or {}), language

    async def add_session_to_memory(self, session: Session) -> None:
        """Store the events of a session; events that it no longer has are deleted."""
        scope = user_scope(self._memory, session.user_id, session.app_name)
        items = self._items(session.events, session.id, {})
        topic = session_topic(session.id)
        await answer(scope, _replace(scope, topic, items))

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Store events of a session that are not stored yet; `custom_metadata` is metadata of each."""
        scope = user_scope(self._memory, user_id, app_name)
        items = self._items(events, session_id or NO_SESSION, custom_metadata or {})
        await answer(scope, _add(scope, items, "true"))

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Store memories; a memory with the id of a stored memory replaces it."""
        scope = user_scope(self._memory, user_id, app_name)
        items = []
        for one in memories:
            more = {**(custom_metadata or {}), **one.custom_metadata}
            entry = one.model_copy(update={"id": one.id or uuid4().hex, "custom_metadata": {}})
            items += self._item(entry, exact_key(str(entry.id)), None, None, more)
        await answer(scope, _add(scope, items, "NOT active"))

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """Return the events and memories that share words or meaning with a question, best first."""
        scope = user_scope(self._memory, user_id, app_name)
        hits = await answer(scope, recalled(query, self._recall))
        return SearchMemoryResponse(memories=[entry_of(hit) for hit in hits])

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Delete the memories with this id permanently; adding their session again does not store them."""
        if memory_id:
            scope = user_scope(self._memory, user_id, app_name)
            await answer(scope, _delete(memory_id))

    def _items(self, events: Iterable[Event], session: str, more: Mapping[str, object]) -> list[Item]:
        items: list[Item] = []
        for event in {event.id: event for event in reversed([*events])}.values():
            if event.content:
                at = time_of(event.timestamp)
                when = datetime.fromtimestamp(event.timestamp).isoformat() if at else None
                entry = MemoryEntry(id=event.id, content=event.content, author=event.author, timestamp=when)
                items += self._item(entry, exact_key(session, event.id), session_topic(session), at, more)
        return items[::-1]

    def _item(
        self, entry: MemoryEntry, key: str, topic: str | None, at: datetime | None, more: Mapping[str, object]
    ) -> list[Item]:
        """Return a memory as a lesson; no lesson if it has no text, because no search can find it."""
        text = spoken_text(" ".join(part.text for part in entry.content.parts or () if part.text))
        if is_blank(text):
            return []
        metadata = {
            **self._metadata,
            **more,
            EVENT: exact_name(str(entry.id)),
            ENTRY: entry_json(entry, text),
        }
        role = "user" if entry.author == "user" or entry.content.role == "user" else "assistant"
        return [Item(text, key, role, topic, metadata=metadata, at=at, language=self._language)]


def _add(scope: AnyScope, items: Sequence[Item], where: str) -> Work[None]:
    """Store items, except items that are already stored or were deleted by `delete_memory`."""
    keys = [str(item.key) for item in items]
    graves = [_grave(str((item.metadata or {})[EVENT])) for item in items]
    place = (scope.tenant_id, cast(UUID, scope.project_id))
    call = scope_calls.get_many(*place, [*keys, *graves], ("external_id",), where)
    rows = (yield methodcaller("_call", call)) if items else []
    there = {key for (key,) in rows}
    due = [item for item, *names in zip(items, keys, graves, strict=True) if there.isdisjoint(names)]
    if due:
        yield methodcaller("add_many", due)


def _replace(scope: AnyScope, topic: str, items: Sequence[Item]) -> Work[None]:
    """Store the items of a session in place of all of its items."""
    yield from _add(scope, items, "NOT active")
    filter = scope_calls.filter_document({"topic": topic, "metadata": {EVENT: {"exists": True}}})
    kept, after = {item.key for item in items}, None
    while True:
        page = scope_calls.list_page(
            scope.tenant_id, scope.project_id, after, scope_calls.PAGE_SIZE, filter=filter
        )
        lessons: list[Lesson] = yield methodcaller("_call", page)
        for lesson in lessons:
            if lesson.key not in kept:
                yield methodcaller("forget", lesson.key, permanent=True)
        if len(lessons) < scope_calls.PAGE_SIZE:
            return
        after = lessons[-1].id


def _delete(memory_id: str) -> Work[None]:
    """Delete memories; for each keep a forgotten lesson without text, so that it is not stored again."""
    name = exact_name(memory_id)
    gone: int = yield methodcaller("forget", filter={"metadata": {EVENT: name}}, permanent=True)
    if gone:
        yield methodcaller("add", BLANK, key=_grave(name))
        yield methodcaller("forget", _grave(name))
    elif name == memory_id and len(name.encode()) <= LONGEST_KEY:
        yield methodcaller("forget", memory_id, permanent=True)  # a lesson of another program


def _grave(name: str) -> str:
    return exact_key("deleted", "", name)
