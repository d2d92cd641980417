"""Locks, queues and threads of the asynchronous client; no function here blocks the event loop."""

from __future__ import annotations

import asyncio
import inspect
import os
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager, suppress
from contextvars import ContextVar
from typing import Any

from psycopg import AsyncConnection, AsyncCursor

from pgmnemo.errors import PgmnemoError, TooLargeError

__all__ = [
    "AsyncConnection",
    "AsyncCursor",
    "EmbedderQueue",
    "Lock",
    "Semaphore",
    "call_embedder",
    "current_loop",
    "fetch_rows",
    "is_pool",
    "run_blocking",
    "sleep",
]

PAUSE, PAUSES = 0.05, 20  # seconds
Lock, Semaphore, sleep = asyncio.Lock, asyncio.Semaphore, asyncio.sleep
current_loop = asyncio.get_running_loop


MAX_ANSWER_BYTES: ContextVar[int | None] = ContextVar("ANSWER_BYTES", default=None)
"""Most bytes in the rows of one call, as a server sets it; None: no limit."""


async def fetch_rows(cursor: AsyncCursor[Any], statement: bytes, parameters: Any) -> list[Any]:
    """Return the rows of a statement; raise TooLargeError if they have more than MAX_ANSWER_BYTES."""
    if (most := MAX_ANSWER_BYTES.get()) is None:
        await cursor.execute(statement, parameters, binary=True)
        return await cursor.fetchall()
    rows, left = [], most
    found: Any = cursor.stream(statement, parameters, binary=True)
    async with aclosing(found):
        async for row in found:
            left -= sum(_bytes(value) for value in row)
            if left < 0:
                raise TooLargeError(f"the answer has more than {most:,} bytes; ask for fewer lessons at once")
            rows.append(row)
    return rows


def _bytes(value: Any) -> int:
    if isinstance(value, dict | list):
        return len(str(value))
    return len(value.encode()) if isinstance(value, str) else 8


def is_pool(given: object) -> bool:
    """Return whether `given` is an asynchronous pool such as psycopg_pool's, which need not be installed."""
    return inspect.iscoroutinefunction(getattr(given, "getconn", None))


async def run_blocking(
    function: Callable[..., Any], *given: Any, undo: Callable[[Any], object] | None = None
) -> Any:
    """Return the result of a blocking function, run in a thread; `undo` reverts it if the task is
    cancelled.
    """
    if undo is None:
        return await asyncio.to_thread(function, *given)
    answer = asyncio.ensure_future(asyncio.to_thread(function, *given))
    try:
        return await asyncio.shield(answer)
    except asyncio.CancelledError:
        with suppress(PgmnemoError):
            await asyncio.to_thread(undo, await answer)
        raise


class EmbedderQueue:
    """A queue for the embedder. Questions run at once; a batch of documents waits up to a second while
    questions run, and at most half as many batches as cores run at the same time.
    """

    def __init__(self) -> None:
        self._questions, self._documents = 0, Semaphore(max(1, (os.cpu_count() or 1) // 2))

    @asynccontextmanager
    async def turn(self, question: bool) -> AsyncIterator[None]:
        """Wait for a turn to use the embedder; the turn lasts as long as the block."""
        if question:
            self._questions += 1
            try:
                yield
            finally:
                self._questions -= 1
            return
        async with self._documents:
            for _ in range(PAUSES):
                if self._questions:
                    await sleep(PAUSE)
            yield


async def call_embedder(embed: Callable[..., Any], texts: list[str], asynchronous: bool) -> Any:
    """Return an embedder's answer: awaited if the function is asynchronous, else from a thread."""
    answer = await embed(texts) if asynchronous else await asyncio.to_thread(embed, texts)
    return await answer if inspect.isawaitable(answer) else answer
