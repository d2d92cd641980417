"""Seconds of each stage of a run."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Stopwatch:
    """Adds up what each stage takes; a stage that never ran took 0 seconds."""

    def __init__(self) -> None:
        self._began = time.perf_counter()
        self._seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Count the block's seconds to `name`."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self._seconds[name] = self[name] + time.perf_counter() - began

    def __getitem__(self, name: str) -> float:
        return self._seconds.get(name, 0.0)

    @property
    def wall(self) -> float:
        """Seconds since the watch was made."""
        return time.perf_counter() - self._began
