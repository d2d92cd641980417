"""Questions on which a model failed, counted: a few may, and are told; one more ends the run."""

from __future__ import annotations

import threading

from runner.errors import ModelError


class Failures:
    """How many questions `who` failed on; one more than `limit`, which `option` sets, is a ModelError.

    `before` is how many there were in the run that goes on. Threads share it.
    """

    def __init__(self, who: str, option: str, limit: int, before: int = 0) -> None:
        self._who, self._option, self._limit, self._count = who, option, limit, before
        self._lock = threading.Lock()

    def count(self, reason: str) -> None:
        """One more, because of `reason`."""
        with self._lock:
            self._count += 1
            if self._count > self._limit:
                raise ModelError(
                    f"{self._who} failed on {self._count} questions, and {self._option} allows {self._limit} "
                    f"(the last: {reason})"
                )
