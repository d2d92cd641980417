"""How the asynchronous shell waits: nothing here blocks the loop."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any

from psycopg import AsyncConnection, AsyncCursor

__all__ = ["AsyncConnection", "AsyncCursor", "Lock", "Semaphore", "ask", "is_pool", "run", "sleep"]

Lock, Semaphore, sleep = asyncio.Lock, asyncio.Semaphore, asyncio.sleep


def is_pool(given: object) -> bool:
    """Whether that is an asynchronous pool, as psycopg_pool's, which need not be installed."""
    return inspect.iscoroutinefunction(getattr(given, "getconn", None))


async def run(function: Callable[..., Any], *given: Any) -> Any:
    """What a blocking function answers, in a thread."""
    return await asyncio.to_thread(function, *given)


async def ask(embed: Callable[..., Any], texts: list[str], asynchronous: bool) -> Any:
    """What an embedder answers: awaited where it is asynchronous, else in a thread."""
    answer = await embed(texts) if asynchronous else await asyncio.to_thread(embed, texts)
    return await answer if inspect.isawaitable(answer) else answer
