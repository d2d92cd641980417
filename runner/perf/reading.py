"""Timing reads: one client or several, with or without somebody writing meanwhile."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from itertools import count

from runner.perf.results import Cell, percentiles
from runner.perf.workload import Tenant, Workload, name_of
from runner.systems.system import Asking, Concurrent, Match, Query, System, VectorLeg

LEAST = 30  # questions, however long they take: the first, which every system is asked
WARM_UP_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class Reads:
    """Which reads: of whom, by how many clients, for at most how long, and at most how many questions.

    A system without `walls` between tenants, which filters by a column, is asked for everything unfiltered.
    """

    tenant: Tenant
    k: int
    walls: bool
    clients: int = 1
    seconds: float = 8.0
    most: int = 400
    leg: str = "all"
    ef_search: int | None = None

    @property
    def project(self) -> str | None:
        """Whose rows are searched; None: everybody's."""
        return None if self.tenant is Tenant.WHOLE and not self.walls else name_of(self.tenant)


@dataclass(slots=True)
class Taken:
    """What the clients saw: seconds and rows of each question, and the first answer to each by its place.

    `shared` holds the seconds of the first LEAST questions alone.
    """

    seconds: list[float] = field(default_factory=list)
    shared: list[float] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    answers: dict[int, list[int]] = field(default_factory=dict)
    wall: float = 0.0


def read(system: System, workload: Workload, reads: Reads) -> tuple[Cell, Taken]:
    """Ask until `seconds` have gone or `most` questions are answered, but no fewer than LEAST."""
    with ExitStack() as stack:
        settings = {} if reads.ef_search is None else {"ef_search": str(reads.ef_search)}
        clients = [stack.enter_context(client_of(system, settings)) for _ in range(reads.clients)]
        questions = [replace(question, project=reads.project) for question in workload.questions]
        _warm_up(clients, questions, reads)
        taken = _asked(clients, questions, reads)
    p50, p95, p99 = percentiles(taken.seconds)
    wanted = min(reads.k, workload.size(reads.tenant))
    cell = Cell(
        leg=reads.leg, tenant=name_of(reads.tenant), clients=reads.clients, ef_search=reads.ef_search,
        questions=len(taken.seconds), p50_ms=p50, p95_ms=p95, p99_ms=p99,
        shared_p50_ms=percentiles(taken.shared)[0],
        per_second=len(taken.seconds) / taken.wall, rows=sum(taken.rows) / len(taken.rows),
        complete=sum(rows >= wanted for rows in taken.rows) / len(taken.rows),
    )  # fmt: skip
    return cell, taken


@contextmanager
def client_of(system: System, settings: Mapping[str, str] | None = None) -> Iterator[Asking]:
    """A client with these settings; of a system without clients itself, for one thread."""
    if isinstance(system, Concurrent):
        with closing(system.client(settings)) as client:
            yield client
    else:
        yield system


def _ask(client: Asking, query: Query, reads: Reads) -> Sequence[Match]:
    if reads.leg == "all":
        return client.ask(query, reads.k)
    assert isinstance(client, VectorLeg), "the vector leg is asked only where there is one"
    return client.nearest(query, reads.k)


def _warm_up(clients: Sequence[Asking], questions: Sequence[Query], reads: Reads) -> None:
    """Every connection plans its statements and has seen some of the data; the first asks the most."""
    for number, client in enumerate(clients):
        began = time.perf_counter()
        for asked in questions[: 50 if number == 0 else 8]:
            _ask(client, asked, reads)
            if time.perf_counter() - began > WARM_UP_SECONDS / len(clients):
                break


def _asked(clients: Sequence[Asking], questions: Sequence[Query], reads: Reads) -> Taken:
    """Clients take the questions in turn, each as soon as it is free."""
    taken, turns, lock = Taken(), count(), threading.Lock()
    began = time.perf_counter()

    def work(client: Asking) -> None:
        for turn in _turns(turns, lock, began, reads):
            place = turn % len(questions)
            started = time.perf_counter()
            found = _ask(client, questions[place], reads)
            seconds = time.perf_counter() - started
            with lock:
                taken.seconds.append(seconds)
                if turn < LEAST:
                    taken.shared.append(seconds)
                taken.rows.append(len(found))
                taken.answers.setdefault(place, [match.number for match in found])

    if len(clients) == 1:
        work(clients[0])
    else:
        with ThreadPoolExecutor(len(clients)) as pool:
            list(pool.map(work, clients))
    taken.wall = time.perf_counter() - began
    return taken


def _turns(turns: Iterator[int], lock: threading.Lock, began: float, reads: Reads) -> Iterator[int]:
    while True:
        with lock:
            turn = next(turns)
        if turn >= reads.most or (turn >= LEAST and time.perf_counter() - began > reads.seconds):
            return
        yield turn
