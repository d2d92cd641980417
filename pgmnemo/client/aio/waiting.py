"""How the asynchronous shell waits: nothing here blocks the loop."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from psycopg import AsyncConnection, AsyncCursor

from pgmnemo.errors import PgmnemoError

__all__ = ["AsyncConnection", "AsyncCursor", "Lock", "Semaphore", "ask", "is_pool", "run", "sleep"]

Lock, Semaphore, sleep = asyncio.Lock, asyncio.Semaphore, asyncio.sleep


def is_pool(given: object) -> bool:
    """Whether that is an asynchronous pool, as psycopg_pool's, which need not be installed."""
    return inspect.iscoroutinefunction(getattr(given, "getconn", None))


async def run(function: Callable[..., Any], *given: Any, undo: Callable[[Any], object] | None = None) -> Any:
    """What a blocking function answers, in a thread; `undo` takes it back from a task that is cancelled."""
    if undo is None:
        return await asyncio.to_thread(function, *given)
    answer = asyncio.ensure_future(asyncio.to_thread(function, *given))
    try:
        return await asyncio.shield(answer)
    except asyncio.CancelledError:
        with suppress(PgmnemoError):
            await asyncio.to_thread(undo, await answer)
        raise


async def ask(embed: Callable[..., Any], texts: list[str], asynchronous: bool) -> Any:
    """What an embedder answers: awaited where it is asynchronous, else in a thread."""
    answer = await embed(texts) if asynchronous else await asyncio.to_thread(embed, texts)
    return await answer if inspect.isawaitable(answer) else answer
