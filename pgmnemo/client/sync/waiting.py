"""How the synchronous shell waits: in the caller's thread; it starts none."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from psycopg import Connection
from psycopg_pool import ConnectionPool

from pgmnemo.errors import UsageError

__all__ = ["Connection", "ConnectionPool", "Lock", "Semaphore", "ask", "run", "sleep"]

Lock, Semaphore, sleep = threading.Lock, threading.Semaphore, time.sleep


def run(function: Callable[..., Any], *given: Any) -> Any:
    """What a function answers."""
    return function(*given)


def ask(embed: Callable[..., Any], texts: list[str], asynchronous: bool) -> Any:
    """What an embedder answers; UsageError for one that is to be awaited."""
    if asynchronous:
        raise UsageError("this embedder is a coroutine function, which Memory cannot await; open AsyncMemory")
    return embed(texts)
