"""Calls side by side, at most so many at once, and their answers in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

MOST = 256  # calls at once that a command may ask for: each is a thread

T = TypeVar("T")
R = TypeVar("R")


def at_once(jobs: int, call: Callable[[T], R], items: Iterable[T]) -> Iterator[tuple[T, R]]:
    """Each item with what `call` makes of it, in order; at most `jobs` calls are made at once.

    The first error of a call ends it: what was not begun by then is not called.
    """
    waiting = iter(items)
    if jobs == 1:
        yield from ((item, call(item)) for item in waiting)
        return
    with ThreadPoolExecutor(jobs) as pool:
        running: deque[tuple[T, Future[R]]] = deque()
        try:
            running.extend((item, pool.submit(call, item)) for item in islice(waiting, jobs))
            while running:
                item, future = running.popleft()
                answer = future.result()
                running.extend((one, pool.submit(call, one)) for one in islice(waiting, 1))
                yield item, answer
        finally:
            for _, future in running:
                future.cancel()
