"""How the asynchronous shell waits: nothing here blocks the loop."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any

from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool

__all__ = ["AsyncConnection", "AsyncConnectionPool", "Lock", "Semaphore", "ask", "run", "sleep"]

Lock, Semaphore, sleep = asyncio.Lock, asyncio.Semaphore, asyncio.sleep


async def run(function: Callable[..., Any], *given: Any) -> Any:
    """What a blocking function answers, in a thread."""
    return await asyncio.to_thread(function, *given)


async def ask(embed: Callable[..., Any], texts: list[str], asynchronous: bool) -> Any:
    """What an embedder answers: awaited where it is asynchronous, else in a thread."""
    answer = await embed(texts) if asynchronous else await asyncio.to_thread(embed, texts)
    return await answer if inspect.isawaitable(answer) else answer
