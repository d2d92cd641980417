"""Call a function concurrently, with results in order, and limit the number of failures."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

from pgmnemo.errors import ModelError

MOST = 256  # most concurrent calls of a command; each needs a thread

T = TypeVar("T")
R = TypeVar("R")


def run_concurrently(jobs: int, call: Callable[[T], R], items: Iterable[T]) -> Iterator[tuple[T, R]]:
    """Yield each item with the result of `call`, in order, with at most `jobs` calls at once.

    The first error of a call is raised, and calls that have not begun are cancelled.
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


class Failures:
    """A counter of the questions on which `who` failed; more than `limit` failures raise ModelError.

    The message names `option`, which sets the limit. `before` is the count of an interrupted run that is
    continued. Threads may share a counter.
    """

    def __init__(self, who: str, option: str, limit: int, before: int = 0) -> None:
        self._who, self._option, self._limit, self._count = who, option, limit, before
        self._lock = threading.Lock()

    def count(self, reason: str) -> None:
        """Count a failure, because of `reason`; raise ModelError above the limit."""
        with self._lock:
            self._count += 1
            if self._count > self._limit:
                raise ModelError(
                    f"{self._who} failed on {self._count} questions, and {self._option} allows {self._limit} "
                    f"(the last: {reason})"
                )
