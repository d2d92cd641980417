"""Calls side by side: in order, never more than so many, and no further after an error."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from itertools import islice

import pytest

from pgmnemo.models.concurrent_calls import run_concurrently


class Counted:
    """A call that waits a little, and the most of it that ran at once."""

    def __init__(self) -> None:
        self.now = self.most = self.calls = 0
        self._lock = threading.Lock()

    def __call__(self, item: int) -> int:
        with self._lock:
            self.now += 1
            self.calls += 1
            self.most = max(self.most, self.now)
        time.sleep(0.01 * (3 - item % 3))
        with self._lock:
            self.now -= 1
        if item == 7:
            raise ValueError("seven")
        return 10 * item


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_answers_come_in_order_and_no_more_run_than_may(jobs: int) -> None:
    call = Counted()
    assert list(run_concurrently(jobs, call, range(7))) == [(item, 10 * item) for item in range(7)]
    assert call.most <= jobs
    assert (call.most > 1) == (jobs > 1)


def test_items_are_taken_only_when_a_call_is_free() -> None:
    taken: list[int] = []

    def items() -> Iterator[int]:
        for item in range(20):
            taken.append(item)
            yield item

    found = run_concurrently(3, Counted(), items())
    next(found)
    assert len(taken) <= 4
    found.close()  # type: ignore[attr-defined]  a generator has it


@pytest.mark.parametrize("jobs", [1, 3])
def test_the_first_error_ends_it(jobs: int) -> None:
    call = Counted()
    found = run_concurrently(jobs, call, range(100))
    assert [item for item, _ in islice(found, 7)] == list(range(7))
    with pytest.raises(ValueError, match="seven"):
        next(found)
    assert call.calls <= 7 + 2 * jobs
