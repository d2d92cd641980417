"""Locks and queues of the synchronous client, which runs in the caller's thread and starts no other."""

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
    "Connection",
    "Cursor",
    "EmbedderQueue",
    "Lock",
    "Semaphore",
    "call_embedder",
    "current_loop",
    "fetch_rows",
    "is_pool",
    "run_blocking",
    "sleep"
]  # fmt: skip

Lock, sleep = threading.Lock, time.sleep


def current_loop() -> object:
    """Return None: no event loop runs."""
    return None


class Semaphore:
    """A semaphore as threading's, which is written in Python and takes six times as long."""

    def __init__(self, most: int) -> None:
        self._free: SimpleQueue[None] = SimpleQueue()
        for _ in range(most):
            self._free.put(None)

    def __enter__(self) -> None:
        self._free.get()

    def __exit__(self, *_: object) -> None:
        self._free.put(None)


def fetch_rows(cursor: Cursor[Any], statement: bytes, parameters: Any) -> list[Any]:
    """Return the rows that a statement answers."""
    return cursor.execute(statement, parameters, binary=True).fetchall()


def is_pool(given: object) -> bool:
    """Return whether `given` is a pool, as psycopg_pool's, which need not be installed."""
    found = getattr(given, "getconn", None)
    return found is not None and not inspect.iscoroutinefunction(found)


def run_blocking(
    function: Callable[..., Any], *given: Any, undo: Callable[[Any], object] | None = None
) -> Any:
    """Return the answer of a function; a call cannot be abandoned here, so nothing is undone."""
    return function(*given)


class EmbedderQueue:
    """A queue that lets every thread call the embedder at once."""

    def turn(self, question: bool) -> AbstractContextManager[None]:
        """Return at once."""
        return nullcontext()


def call_embedder(embed: Callable[..., Any], texts: list[str], asynchronous: bool) -> Any:
    """Return the answer of an embedder; raise UsageError if it is asynchronous."""
    answer = None if asynchronous else embed(texts)
    if asynchronous or inspect.isawaitable(answer):
        if inspect.iscoroutine(answer):
            answer.close()
        raise UsageError("this embedder is a coroutine function, which Memory cannot await; open AsyncMemory")
    return answer
