"""Timing single writes, and a writer that goes on while others read."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from runner.perf.reading import client_of
from runner.perf.results import Writes, percentiles
from runner.systems.system import Lesson, System, Writable

RATE = 50.0  # lessons a second that the writer stores while others read, or as many as it can
WARM_UP = 10


def add_some(system: System, spare: Iterator[Lesson], most: int, seconds: float) -> Writes:
    """Store lessons one by one, at most `most` in at most `seconds`, but two at least."""
    taken: list[float] = []
    with client_of(system) as client:
        assert isinstance(client, Writable), "only what can be written to is"
        for _ in range(WARM_UP):
            client.add(next(spare))
        until = time.perf_counter() + seconds
        while len(taken) < most and (len(taken) < 2 or time.perf_counter() < until):
            lesson = next(spare)
            began = time.perf_counter()
            client.add(lesson)
            taken.append(time.perf_counter() - began)
    p50, p95, _ = percentiles(taken)
    return Writes(len(taken), p50, p95)


@dataclass(slots=True)
class Writer:
    """What the writer has done so far."""

    stored: int = 0
    seconds: float = 0.0
    failed: list[BaseException] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """Lessons a second."""
        return self.stored / self.seconds if self.seconds else 0.0


@contextmanager
def writing(system: System, spare: Iterator[Lesson]) -> Iterator[Writer]:
    """Inside the block another thread stores RATE lessons a second; its error is raised at the end."""
    writer, stop = Writer(), threading.Event()
    thread = threading.Thread(target=_write, args=(system, spare, writer, stop), name="perf-writer")
    thread.start()
    try:
        yield writer
    finally:
        stop.set()
        thread.join()
    if writer.failed:
        raise writer.failed[0]


def _write(system: System, spare: Iterator[Lesson], writer: Writer, stop: threading.Event) -> None:
    try:
        with client_of(system) as client:
            assert isinstance(client, Writable), "only what can be written to is"
            began = time.perf_counter()
            for number, lesson in enumerate(spare, start=1):
                client.add(lesson)
                writer.stored, writer.seconds = number, time.perf_counter() - began
                if stop.wait(max(0.0, number / RATE - writer.seconds)):
                    break
            writer.seconds = time.perf_counter() - began
    except BaseException as error:  # handed to the thread that waits
        writer.failed.append(error)
