"""How the synchronous shell waits: in the caller's thread; it starts none."""

from __future__ import annotations

import inspect
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from queue import SimpleQueue
from typing import Any

from psycopg import Connection, Cursor

from pgmnemo.errors import UsageError

__all__ = [
    "Connection", "Cursor", "Lock", "Semaphore", "Turns", "ask", "is_pool", "loop", "rows_of", "run", "sleep"
]  # fmt: skip

Lock, sleep = threading.Lock, time.sleep


def loop() -> object:
    """Return None: no event loop runs."""
    return None


class Semaphore:
    """At most so many at once, as threading's, which is written in Python and takes six times as long."""

    def __init__(self, most: int) -> None:
        self._free: SimpleQueue[None] = SimpleQueue()
        for _ in range(most):
            self._free.put(None)

    def __enter__(self) -> None:
        self._free.get()

    def __exit__(self, *_: object) -> None:
        self._free.put(None)


def rows_of(cursor: Cursor[Any], statement: bytes, parameters: Any) -> list[Any]:
    """Return the rows that a statement answers."""
    return cursor.execute(statement, parameters, binary=True).fetchall()


def is_pool(given: object) -> bool:
    """Whether that is a pool, as psycopg_pool's, which need not be installed."""
    found = getattr(given, "getconn", None)
    return found is not None and not inspect.iscoroutinefunction(found)


def run(function: Callable[..., Any], *given: Any, undo: Callable[[Any], object] | None = None) -> Any:
    """Return the answer of a function; a call cannot be abandoned here, so nothing is undone."""
    return function(*given)


class Turns:
    """Who may ask an embedder: every thread, for whom its caller answers."""

    def turn(self, question: bool) -> AbstractContextManager[None]:
        """Return at once."""
        return nullcontext()


def ask(embed: Callable[..., Any], texts: list[str], asynchronous: bool) -> Any:
    """Return the answer of an embedder; UsageError for an asynchronous one."""
    answer = None if asynchronous else embed(texts)
    if asynchronous or inspect.isawaitable(answer):
        if inspect.iscoroutine(answer):
            answer.close()
        raise UsageError("this embedder is a coroutine function, which Memory cannot await; open AsyncMemory")
    return answer
