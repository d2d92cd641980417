"""LangGraph's long-term memory in a project: `graph.compile(store=PgmnemoStore(scope))`.

An item is a lesson: its value is in the metadata, its text is the text of the `index` fields. Written against
langgraph-checkpoint 4.3.2.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from datetime import UTC, datetime
from itertools import takewhile
from operator import methodcaller
from typing import Any

from pgmnemo import calls
from pgmnemo.calls import Call, Rows
from pgmnemo.client import records, scope_calls
from pgmnemo.client.aio.scope import AsyncScope
from pgmnemo.client.arguments import check_fields
from pgmnemo.client.records import Hit, Lesson
from pgmnemo.client.sync.scope import Scope
from pgmnemo.errors import MissingError, PgmnemoError, UsageError
from pgmnemo.integrations.langgraph_filter import StoreError, check_filter, matches, sql_conditions
from pgmnemo.integrations.langgraph_items import (
    expiry,
    fields_of,
    fits,
    is_item,
    item_as_lesson,
    json_value,
    key_of,
    namespace_of,
    topic_of,
    value_of,
    without_context,
)
from pgmnemo.integrations.sync_async import Answer, Work, arun, run

try:
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        IndexConfig,
        Item,
        ListNamespacesOp,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
        TTLConfig,
        get_text_at_path,
        validate_op_namespace,
    )
except ImportError as error:
    raise PgmnemoError(
        f"this store needs langgraph ({error}); install it: "
        "pip install '.[langgraph]' in a checkout of pgmnemo"
    ) from None

NEVER = datetime(9999, 12, 30, tzinfo=UTC)  # replaces a stored expiry, which a set without a time would keep
MOST = 10_000  # most lessons of a recall, a page or a set
TOPICS = ("count(*)", "max(id)", "array_agg(DISTINCT topic)")


class PgmnemoStore(BaseStore):
    """A store of LangGraph over an open scope, which the caller closes.

    scope: a project of its own, of `Memory` or of `AsyncMemory`; for the latter, create the store in the
        memory's event loop.
    index: {"fields": [...]}, the paths of the texts that a question finds; None: the whole value. The memory
        embeds the texts.
    ttl: `default_ttl` (minutes), `refresh_on_read`. Expired items are never read; `sweep_ttl` deletes them.

    A value is a JSON object of at most 1,000,000 bytes and 10,000 values, without NUL in its texts. The
    methods raise StoreError, a ValueError, for an invalid operation, and other PgmnemoErrors as the scope's
    verbs do.
    """

    supports_ttl = True

    def __init__(
        self,
        scope: Scope | AsyncScope,
        *,
        index: IndexConfig | None = None,
        ttl: TTLConfig | None = None,
    ) -> None:
        if scope.project_id is None:
            raise StoreError("a store needs a project of its own: PgmnemoStore(memory.tenant(…).project(…))")
        if more := sorted(set(index or ()) - {"fields"}):
            raise StoreError(
                f"index has {', '.join(more)}, but the memory embeds: leave only fields there, and give "
                "the model to Memory.open(…, embedder=…)"
            )
        self._scope, self.ttl_config = scope, ttl
        self._place = scope.tenant_id, scope.project_id
        self._fields = _paths((index or {}).get("fields") or ["$"])
        self._loop: asyncio.AbstractEventLoop | None = None
        if isinstance(scope, AsyncScope):
            self._loop = _running()
            if self._loop is None:
                raise StoreError("a store over AsyncMemory is made where that was opened: in its event loop")

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Return the answers to operations.

        Reads see the state before the writes, the last of two writes to an item counts, and the puts (up to
        10,000) are atomic.
        """
        return self._answer(self._batch(list(ops)))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Run `batch` asynchronously."""
        return await self._aanswer(self._batch(list(ops)))

    def sweep_ttl(self) -> int:
        """Delete the tenant's expired lessons, and return their number.

        Call it regularly: nothing else deletes them.
        """
        return self._answer(_sweep())

    async def asweep_ttl(self) -> int:
        """Run `sweep_ttl` asynchronously."""
        return await self._aanswer(_sweep())

    # Sync and async

    def _answer(self, work: Work[Answer]) -> Answer:
        if self._loop is None:
            return run(self._scope, work)
        if _running() is self._loop:
            raise asyncio.InvalidStateError(
                "this store belongs to the event loop that is running here: await its aget, aput, asearch, …"
            )
        return self._submit(work).result()

    async def _aanswer(self, work: Work[Answer]) -> Answer:
        if self._loop is None:
            return await asyncio.to_thread(run, self._scope, work)
        if _running() is self._loop:
            return await arun(self._scope, work)
        return await asyncio.wrap_future(self._submit(work))

    def _submit(self, work: Work[Answer]) -> Future[Answer]:
        """Return a future for the answer, from the store's own event loop."""
        if self._loop is None or not self._loop.is_running():
            raise StoreError("the event loop of this store has ended; make the store in the one that runs")
        return asyncio.run_coroutine_threadsafe(arun(self._scope, work), self._loop)

    # Operations

    def _batch(self, ops: Sequence[Op]) -> Work[list[Result]]:
        for op in ops:
            _check(op)
        gets = {place: key_of(op.namespace, op.key) for place, op in enumerate(ops) if isinstance(op, GetOp)}
        puts = {key_of(op.namespace, op.key): op for op in ops if isinstance(op, PutOp)}
        lessons = [self._lesson(op) for op in puts.values() if op.value is not None]
        held = yield from self._current_items(gets.values())
        found: list[Result] = []
        for place, op in enumerate(ops):
            if isinstance(op, GetOp):
                lesson = held.get(gets[place])
                found.append(Item(**fields_of(lesson)) if lesson else None)
                yield from self._refresh([lesson] if lesson and op.refresh_ttl else [])
            elif isinstance(op, SearchOp):
                found.append((yield from self._search(op)))
            elif isinstance(op, ListNamespacesOp):
                found.append((yield from self._namespaces(op)))
            elif isinstance(op, PutOp):
                found.append(None)
            else:
                raise StoreError(f"Unknown operation type: {type(op).__name__}")
        yield from self._write(lessons, [key for key, op in puts.items() if op.value is None])
        return found

    def _search(self, op: SearchOp) -> Work[list[SearchItem]]:
        wanted = json_value(op.filter or {}, "a filter")
        check_filter(wanted)
        asked: dict[str, Any] = {"topic_prefix": topic_of(op.namespace_prefix)}
        if conditions := {**sql_conditions("value", wanted), **({"indexed": True} if op.query else {})}:
            asked["metadata"] = conditions
        most = _end(op)
        scores: dict[str, float | None] = {}
        if op.query and most:
            scores = yield from _recall_keys(op.query, asked, wanted, most)
            held = yield from self._current_items(scores)
            lessons = [held[key] for key in scores if key in held]
        else:
            lessons = yield from self._newest(asked, wanted, most)
        page = lessons[op.offset : most]
        yield from self._refresh(page if op.refresh_ttl else [])
        return [SearchItem(**fields_of(lesson), score=scores.get(lesson.key)) for lesson in page]

    def _newest(self, asked: Mapping[str, Any], wanted: Mapping[str, Any], most: int) -> Work[list[Lesson]]:
        """Return at most `most` matching lessons, the last stored first."""
        filter, size = scope_calls.filter_document(asked), min(most, scope_calls.PAGE_SIZE)
        found: list[Lesson] = []
        after: int | None = None
        while len(found) < most:
            page = yield from _call(
                scope_calls.list_page(*self._place, after, size, filter=filter, newest=True)
            )
            found += [lesson for lesson in page if is_item(lesson) and matches(value_of(lesson), wanted)]
            if len(page) < size:
                break
            after, size = page[-1].id, scope_calls.PAGE_SIZE
        return found

    def _namespaces(self, op: ListNamespacesOp) -> Work[list[tuple[str, ...]]]:
        wanted = [(one.path, one.match_type) for one in op.match_conditions or ()]
        if unknown := {kind for _, kind in wanted} - {"prefix", "suffix"}:
            raise StoreError(f"Unsupported match type: {unknown.pop()}")
        end = _end(op)
        heads = [topic_of(takewhile("*".__ne__, path)) for path, kind in wanted if kind == "prefix"]
        filter = scope_calls.filter_document({"topic_prefix": max(heads, key=len, default=topic_of(()))})
        topics: set[str] = set()
        after, count = None, MOST
        while count == MOST:
            page = calls.list_page(*self._place, filter, after=after, most=MOST, columns=TOPICS)
            [(count, after, some)] = yield from _call(page)
            topics.update(some or ())
        spaces = [space for space in map(namespace_of, topics) if all(fits(space, *one) for one in wanted)]
        return sorted({space[: op.max_depth] for space in spaces})[op.offset : end]

    def _current_items(self, keys: Iterable[str]) -> Work[dict[str, Lesson]]:
        """Return the current lessons with these keys that are items."""
        lessons = [Lesson(*row) for row in (yield from self._rows(keys))]
        return {lesson.key: lesson for lesson in lessons if is_item(lesson) and lesson.is_current()}

    def _rows(self, keys: Iterable[str], *more: Any) -> Work[Rows]:
        """Return rows of `scope_calls.get_many`, without a query if there are no keys."""
        asked = list(set(keys))
        return (yield from _call(scope_calls.get_many(*self._place, asked, *more))) if asked else []

    def _refresh(self, lessons: Sequence[Lesson]) -> Work[None]:
        """Restart the TTL of expiring items; an item stored meanwhile with another TTL keeps the new TTL."""
        due = {lesson.key: lesson.metadata["ttl"] for lesson in lessons if "ttl" in lesson.metadata}
        while due:
            for key, ttl in due.items():
                clear = ["expires_at"] if ttl is None else None
                try:
                    yield methodcaller("update", key, expires_at=expiry(ttl), clear=clear)
                except MissingError:
                    continue
            held = yield from self._current_items(due)
            now = {key: lesson.metadata.get("ttl") for key, lesson in held.items()}
            due = {key: ttl for key, ttl in now.items() if ttl != due[key]}

    def _write(self, lessons: Sequence[records.Item], deleted: Sequence[str]) -> Work[None]:
        if len(lessons) == 1:
            one = lessons[0]
            clear = None if one.expires_at else ["expires_at"]
            yield methodcaller(
                "add", one.text, key=one.key, topic=one.topic, metadata=one.metadata, at=one.at,
                expires_at=one.expires_at, passages=one.passages, clear=clear,
            )  # fmt: skip
        elif lessons:
            ends = [replace(one, expires_at=one.expires_at or NEVER) for one in lessons]
            yield methodcaller("add_many", ends, batch=MOST)
        stored = [str(one.key) for one in lessons]
        for (key,) in (yield from self._rows(stored, ("external_id",), "superseded_at IS NOT NULL")):
            yield methodcaller("undo_supersede", key)  # a put item is current, even after a supersession
        for key in deleted:
            yield methodcaller("forget", key, permanent=True)

    def _lesson(self, op: PutOp) -> records.Item:
        value = json_value(op.value, "a value")
        paths = self._fields if op.index is None else _paths([] if op.index is False else op.index)
        told = without_context(value)
        texts = [text for path in paths for text in get_text_at_path(told, path) if text.strip()]
        return item_as_lesson(op.namespace, op.key, value, texts, op.ttl)


def _recall_keys(
    query: str, asked: Mapping[str, Any], wanted: Mapping[str, Any], most: int
) -> Work[dict[str, float | None]]:
    """Return the keys of the items that best answer a question, with their fit.

    If lessons of other kinds or values take places in the recall, a larger `k` is recalled.
    """
    k = min(most, MOST)
    while True:
        hits: list[Hit] = yield methodcaller("recall", query, k=k, filter=asked, duplicates=True)
        found = {hit.key: hit.fit for hit in hits if is_item(hit) and matches(value_of(hit), wanted)}
        if len(found) >= most or len(hits) < k:
            return found
        if k == MOST:
            raise StoreError(f"a question is answered by {MOST:,} items at most: ask for less")
        k = min(4 * k, MOST)


def _call(call: Call[Answer]) -> Work[Answer]:
    answer: Answer = yield methodcaller("_call", call)
    return answer


def _sweep() -> Work[int]:
    total, some = 0, MOST
    while some == MOST:
        some = yield methodcaller("delete_expired")
        total += some
    return total


def _check(op: Op) -> None:
    """Raise StoreError for a field of the wrong type; also raise the framework's own errors."""
    try:
        check_fields(op)
    except UsageError as error:
        raise StoreError(str(error)) from None
    validate_op_namespace(op)


def _running() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _paths(given: Any) -> list[str]:
    given = [given] if isinstance(given, str) else given
    if not isinstance(given, list | tuple) or not all(isinstance(path, str) for path in given):
        raise StoreError("index is False or a list of paths, such as ['text', 'tags[*]']")
    return list(given)


def _end(op: SearchOp | ListNamespacesOp) -> int:
    """Return the number of items to read, offset plus limit; raise StoreError for an invalid page."""
    if op.limit < 0 or op.offset < 0:
        raise StoreError(f"limit and offset are 0 or more, not {op.limit} and {op.offset}")
    return op.offset + op.limit
