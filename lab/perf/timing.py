"""Timing of reads by one or several clients, and of writes, with or without reads at the same time."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from itertools import chain, count

import numpy as np

from lab.perf.workload import LEAST, PerfWorkload, TenantSize, name_of
from runner.records import Json
from runner.systems.system import (
    Lesson,
    Match,
    Query,
    SupportsAdd,
    SupportsAsk,
    SupportsNearest,
    SupportsThreads,
    System,
)

SOME = 30  # questions if no 95th percentile is needed
WARM_UP_SECONDS = 3.0
RATE = 50.0  # lessons per second that the writer stores during reads, if it can
WARM_UP = 10


@dataclass(frozen=True, slots=True)
class Reads:
    """A kind of reads: tenant, clients, and maximum seconds and questions.

    A system without `walls` between tenants filters by a column; for everything it is asked without a filter.
    """

    tenant: TenantSize
    k: int
    walls: bool
    clients: int = 1
    seconds: float = 8.0
    least: int = LEAST
    most: int = 400
    leg: str = "all"
    ef_search: int | None = None

    @property
    def project(self) -> str | None:
        """Return the project to search; None for all rows."""
        return None if self.tenant is TenantSize.WHOLE and not self.walls else name_of(self.tenant)

    def queries(self, workload: PerfWorkload) -> list[Query]:
        """Return the questions with their projects.

        For small tenants each question is asked in another tenant.
        """
        asked = workload.questions
        small = self.tenant is TenantSize.SMALL
        projects = workload.sample(len(asked)) if small else [self.project] * len(asked)
        return [replace(query, project=project) for query, project in zip(asked, projects, strict=True)]


def read(system: System, workload: PerfWorkload, reads: Reads) -> tuple[Json, dict[int, list[int]]]:
    """Ask until `seconds` have passed or `most` questions are answered, but at least `least` questions.

    Returns the cell of the document, and the first answer to each question, by its index. Milliseconds are
    what a client waits; `shared_p50_ms` is over the first `least` questions, which every system answers
    however slow it is; `complete` is the share of answers with min(k, memories of the tenant) rows.
    """
    with ExitStack() as stack:
        settings = {} if reads.ef_search is None else {"ef_search": str(reads.ef_search)}
        clients = [stack.enter_context(client_of(system, settings)) for _ in range(reads.clients)]
        questions = reads.queries(workload)
        _warm_up(clients, questions, reads)
        began = time.perf_counter()
        taken = sorted(_asked(clients, questions, reads, began), key=lambda one: one[0])
        wall = time.perf_counter() - began
    seconds, found = [one[1] for one in taken], [one[2] for one in taken]
    p50, p95, p99 = percentiles(seconds)
    wanted = min(reads.k, workload.size(reads.tenant))
    answers = {turn: numbers for turn, _, numbers in taken if turn < len(questions)}
    return {
        "leg": reads.leg, "tenant": name_of(reads.tenant), "clients": reads.clients,
        "ef_search": reads.ef_search, "questions": len(taken), "p50_ms": p50, "p95_ms": p95, "p99_ms": p99,
        "shared_p50_ms": percentiles(seconds[:reads.least])[0], "per_second": len(taken) / wall,
        "rows": sum(map(len, found)) / len(found),
        "complete": sum(len(numbers) >= wanted for numbers in found) / len(found),
        "writes": 0.0, "recall": None,
    }, answers  # fmt: skip


@contextmanager
def client_of(system: System, settings: Mapping[str, str] | None = None) -> Iterator[SupportsAsk]:
    """Yield a client with these settings; a system without clients serves as its own single client."""
    if isinstance(system, SupportsThreads):
        with closing(system.client(settings)) as client:
            yield client
    else:
        yield system


def _ask(client: SupportsAsk, query: Query, reads: Reads) -> Sequence[Match]:
    if reads.leg == "all":
        return client.ask(query, reads.k)
    assert isinstance(client, SupportsNearest), "the vector leg is asked only where there is one"
    return client.nearest(query, reads.k)


def _warm_up(clients: Sequence[SupportsAsk], questions: Sequence[Query], reads: Reads) -> None:
    """Let every connection plan its statements and read some data; the first one asks the most."""
    for number, client in enumerate(clients):
        began = time.perf_counter()
        for asked in questions[::-1][: 50 if number == 0 else 8]:
            _ask(client, asked, reads)
            if time.perf_counter() - began > WARM_UP_SECONDS / len(clients):
                break


def _asked(
    clients: Sequence[SupportsAsk], questions: Sequence[Query], reads: Reads, began: float
) -> Iterator[tuple[int, float, list[int]]]:
    """Yield index, seconds and answer of each question.

    A client takes the next question as soon as it is free.
    """
    turns, lock = count(), threading.Lock()

    def work(client: SupportsAsk) -> list[tuple[int, float, list[int]]]:
        taken = []
        for turn in _turns(turns, lock, began, reads):
            started = time.perf_counter()
            found = _ask(client, questions[turn % len(questions)], reads)
            taken.append((turn, time.perf_counter() - started, [match.number for match in found]))
        return taken

    if len(clients) == 1:
        return iter(work(clients[0]))
    with ThreadPoolExecutor(len(clients)) as pool:
        return chain.from_iterable(list(pool.map(work, clients)))


def _turns(turns: Iterator[int], lock: threading.Lock, began: float, reads: Reads) -> Iterator[int]:
    while True:
        with lock:
            turn = next(turns)
        if turn >= reads.most or (turn >= reads.least and time.perf_counter() - began > reads.seconds):
            return
        yield turn


def add_some(system: System, spare: Iterator[Lesson], most: int, seconds: float) -> Json:
    """Store lessons one by one, at most `most` in at most `seconds`, but at least LEAST.

    Each is a single durable write, and nothing else runs. Returns their number, p50 and p95.
    """
    taken: list[float] = []
    with client_of(system) as client:
        assert isinstance(client, SupportsAdd), "only what can be written to is"
        for _ in range(WARM_UP):
            client.add(next(spare))
        until = time.perf_counter() + seconds
        while len(taken) < most and (len(taken) < LEAST or time.perf_counter() < until):
            lesson = next(spare)
            began = time.perf_counter()
            client.add(lesson)
            taken.append(time.perf_counter() - began)
    p50, p95, _ = percentiles(taken)
    return {"count": len(taken), "p50_ms": p50, "p95_ms": p95}


@dataclass(slots=True)
class TimedWriter:
    """The progress of the writer: lessons stored, and seconds."""

    stored: int = 0
    seconds: float = 0.0

    @property
    def rate(self) -> float:
        """Lessons per second."""
        return self.stored / self.seconds if self.seconds else 0.0


@contextmanager
def writing(system: System, spare: Iterator[Lesson]) -> Iterator[TimedWriter]:
    """Let another thread store RATE lessons per second in the block; its error is raised at the end."""
    writer, stop = TimedWriter(), threading.Event()
    with ThreadPoolExecutor(1) as pool:
        ended = pool.submit(_write, system, spare, writer, stop)
        try:
            yield writer
        finally:
            stop.set()
    ended.result()


def _write(system: System, spare: Iterator[Lesson], writer: TimedWriter, stop: threading.Event) -> None:
    with client_of(system) as client:
        assert isinstance(client, SupportsAdd), "only what can be written to is"
        began = time.perf_counter()
        for number, lesson in enumerate(spare, start=1):
            client.add(lesson)
            writer.stored, writer.seconds = number, time.perf_counter() - began
            if stop.wait(max(0.0, number / RATE - writer.seconds)):
                break
        writer.seconds = time.perf_counter() - began


def percentiles(seconds: Sequence[float]) -> tuple[float, float, float]:
    """Return the median, 95th and 99th percentile in milliseconds (linear interpolation)."""
    p50, p95, p99 = np.percentile(np.asarray(seconds) * 1000, [50, 95, 99])
    return float(p50), float(p95), float(p99)
