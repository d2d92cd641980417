"""Documents as lessons of one project, for the integrations of LangChain and LlamaIndex; ids are keys.

Each verb is written once, as a coroutine. Over an `AsyncScope` it is awaited. Over a `Scope` it never
suspends, so one step runs it to its end (`DocumentStore.run`), in a thread if it must not block the event
loop.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import replace
from functools import update_wrapper
from typing import Any, ParamSpec, TypeVar

from pgmnemo import calls
from pgmnemo.client import blank, scope_calls
from pgmnemo.client.aio.scope import AsyncScope
from pgmnemo.client.arguments import check
from pgmnemo.client.naming import nfc
from pgmnemo.client.records import Hit, Item, Lesson
from pgmnemo.client.staging import LONGEST_KEY
from pgmnemo.client.sync.scope import Scope
from pgmnemo.errors import PgmnemoError, UsageError

BLANK = "-"  # stored for a text without a word; ASCII, for databases of any encoding
BLANKS = (BLANK, "\u2205")  # including the sign stored up to 0.6.1
POOL = 50  # least number of hits ordered by cosine; the extension scores as many anyway
MOST_IN = 100  # values of one `in`
LONGEST_IDS = 10_000  # bytes of ids in one filter, half of the extension's limit
KEPT = "pgmnemo:id"  # the key is also in a document's metadata, for filters
ID = f".{KEPT}"
Given = ParamSpec("Given")
Answer = TypeVar("Answer")
Condition = dict[str, Any]

NEVER: Condition = {"and": [{".never": {"exists": True}}, {".never": {"exists": False}}]}


def missing_package(package: str, extra: str) -> PgmnemoError:
    """Return the error for a framework that is not installed."""
    return PgmnemoError(
        f"this integration needs {package}, which is not installed: "
        f"pip install '.[{extra}]' in a checkout of pgmnemo"
    )


class DocumentStore:
    """The lessons of a project as documents with ids, and hits with the scores of a vector store."""

    def __init__(self, scope: Scope | AsyncScope) -> None:
        if not isinstance(scope, Scope | AsyncScope):
            raise UsageError(
                "the first argument is a scope, as memory.tenant('ada').project('kitchen'), not "
                f"{type(scope).__name__}"
            )
        self.scope: Any = scope
        self.native = isinstance(scope, AsyncScope)

    def run(self, work: Coroutine[Any, Any, Answer]) -> Answer:
        """Return the result of a verb over a Scope; raise UsageError over an AsyncScope."""
        if self.native:
            work.close()
            raise UsageError(
                "the scope is an AsyncScope: await the asynchronous twin of this verb, or hand in a scope of "
                "Memory"
            )
        return _run_sync(work)

    async def run_async(self, work: Coroutine[Any, Any, Answer]) -> Answer:
        """Return the result of a verb without blocking the event loop."""
        return await (work if self.native else asyncio.to_thread(_run_sync, work))

    async def add(self, items: Sequence[Item]) -> None:
        """Store items; an item replaces the lesson with its key."""
        told = [replace(item, metadata={**(item.metadata or {}), KEPT: item.key}) for item in items]
        await await_answer(self.scope.add_many(told))

    async def get(self, ids: Sequence[str]) -> list[Lesson]:
        """Return the current lessons with these ids, in the order of the ids."""
        call = scope_calls.get_many(self.scope.tenant_id, self.scope.project_id, keys_of(ids))
        lessons = [Lesson(*row) for row in await await_answer(self.scope._call(call))]
        return [lesson for lesson in lessons if lesson.is_current()]

    async def find(self, conditions: Condition | None) -> list[Lesson]:
        """Return all lessons with matching metadata."""
        answer = self.scope.list(filter=memory_filter(conditions))
        return [one async for one in answer] if self.native else list(answer)

    async def delete(self, ids: Sequence[str]) -> None:
        """Delete existing lessons permanently: own documents in batches, lessons of other programs
        one by one.
        """
        keys = keys_of(ids)
        for some in batches(keys):
            await self.delete_matching(any_of(ID, some))
        for key in await await_answer(self.scope.known(keys)):
            await await_answer(self.scope.forget(key, permanent=True))

    async def delete_matching(self, conditions: Condition | None) -> None:
        """Delete the lessons with matching metadata permanently; raise UsageError without conditions."""
        await await_answer(self.scope.forget(filter=memory_filter(conditions) or {}, permanent=True))

    async def clear(self) -> None:
        """Delete all lessons of the project."""
        await await_answer(self.scope.forget(all_lessons=True))

    async def recall(
        self,
        query: str | None,
        vector: Sequence[float] | None,
        k: int,
        mode: str,
        conditions: Condition | None = None,
        **asked: Any,
    ) -> list[tuple[Hit, float]]:
        """Return the k best hits with their scores, best first.

        In mode `vector` the hits are ordered by score, the cosine of question and document (of its best
        passage, if the memory embeds passages), -1 to 1; in `hybrid` and `keyword` the score is the hit's
        `fit`, 0 to 1. `keyword` returns only lessons with a word of the question.
        """
        if scope_calls.checked_int(k, "k", 0, calls.INT4) == 0:
            return []
        meant = mode == "vector"
        if meant and vector is not None:
            query = None
        hits: list[Hit] = await await_answer(
            self.scope.recall(
                query, vector=vector, k=max(k, POOL) if meant else k, mode=mode,
                filter=memory_filter(conditions), **{"duplicates": True, **asked},
            )
        )  # fmt: skip
        if meant:
            near = [(hit, cosine) for hit in hits if (cosine := hit_cosine(hit)) is not None]
            return sorted(near, key=lambda pair: (-pair[1], pair[0].key))[:k]
        return [(hit, hit.fit or 0.0) for hit in hits if mode != "keyword" or _has_a_word(hit)]


def sync_and_async(
    work: Callable[Given, Coroutine[Any, Any, Answer]],
) -> tuple[Callable[Given, Answer], Callable[Given, Coroutine[Any, Any, Answer]]]:
    """Return a method of a class with `_documents` in its synchronous and its asynchronous form."""

    def now(*given: Given.args, **named: Given.kwargs) -> Answer:
        documents: DocumentStore = given[0]._documents  # type: ignore[attr-defined]
        return documents.run(work(*given, **named))

    async def later(*given: Given.args, **named: Given.kwargs) -> Answer:
        documents: DocumentStore = given[0]._documents  # type: ignore[attr-defined]
        return await documents.run_async(work(*given, **named))

    return update_wrapper(now, work), update_wrapper(later, work)


async def await_answer(answer: Any) -> Any:
    """Return the answer of a verb of a Scope or an AsyncScope."""
    return await answer if inspect.isawaitable(answer) else answer


def memory_filter(conditions: Condition | None) -> dict[str, Any] | None:
    """Return conditions on metadata as a filter of the memory; None without conditions."""
    return {"metadata": conditions} if conditions else None


def conjunction(conditions: Iterable[Condition | None]) -> Condition | None:
    """Return the conjunction of the conditions, merged into one mapping if possible.

    Indexes do not serve conditions inside `and`.
    """
    merged: Condition = {}
    rest: list[Condition] = []
    for one in conditions:
        if one and merged.keys().isdisjoint(one):
            merged |= one
        elif one:
            rest.append(one)
    return {**merged, "and": [*merged.get("and", ()), *rest]} if rest else merged or None


def any_of(key: str, values: Sequence[Any]) -> Condition:
    """Return the condition that the value at a key is one of these values."""
    parts = [{key: {"in": list(values[n : n + MOST_IN])}} for n in range(0, len(values), MOST_IN)]
    return {"or": parts} if len(parts) > 1 else next(iter(parts), NEVER)


def batches(ids: Sequence[str]) -> list[list[str]]:
    """Return the ids in lists that each fit into one filter."""
    made: list[list[str]] = [[]]
    room = LONGEST_IDS
    for key in ids:
        room -= len(key.encode("utf-8", "surrogatepass"))
        if made[-1] and (room < 0 or len(made[-1]) == MOST_IN):
            made.append([])
            room = LONGEST_IDS
        made[-1].append(key)
    return [some for some in made if some]


def keys_of(ids: Sequence[str]) -> list[str]:
    """Return the distinct ids that are valid keys; no lesson can have another id."""
    check("ids", ids, Sequence[str])
    return list(dict.fromkeys(nfc(key) for key in ids if 1 <= len(key.encode()) <= LONGEST_KEY))


def is_blank(text: str) -> bool:
    """Return whether a text is too blank for a lesson, or is the placeholder of a blank text."""
    return blank.is_blank(text) or text in BLANKS


def _run_sync(work: Coroutine[Any, Any, Answer]) -> Answer:
    try:
        work.send(None)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]
    raise AssertionError("a verb over a Scope has waited")


def hit_cosine(hit: Hit) -> float | None:
    """Return the cosine of a hit and its question, of its best passage if that is greater."""
    told = (hit.components.get("cosine"), hit.components.get("passage_cosine"))
    return max((one for one in told if one is not None), default=None)


def _has_a_word(hit: Hit) -> bool:
    return any((hit.components.get(name) or 0) > 0 for name in ("bm25", "passage_terms"))
