"""What the clock says of a system whose behaviour is known."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from pgmnemo.progress import QUIET, Progress
from runner.commands.perf.timing import Reads, add_some, read, writing
from runner.commands.perf.workload import LEAST, Tenant, Workload
from runner.systems import Lesson, Lessons, Match, Query, System


class Slow(System):
    """Answers after `pause` seconds with `rows` rows, and notes who asked."""

    def __init__(self, pause: float = 0.0, rows: int = 10, fails: bool = False) -> None:
        self.pause, self.rows, self.fails = pause, rows, fails
        self.threads: set[int] = set()
        self.clients, self.added = 0, 0

    def load(self, lessons: Lessons, progress: Progress = QUIET) -> Mapping[str, float]:
        return {}

    def client(self, settings: Mapping[str, str] | None = None) -> Slow:
        self.clients += 1
        return self

    def ask(self, query: Query, k: int) -> list[Match]:
        self.threads.add(threading.get_ident())
        time.sleep(self.pause)
        return [Match(number) for number in range(self.rows)]

    nearest = ask

    def add(self, lesson: Lesson) -> None:
        if self.fails:
            raise ValueError("no space")
        self.added += 1

    def close(self) -> None:
        self.clients -= 1


def reads(tenant: Tenant = Tenant.WHOLE, k: int = 10, **options: Any) -> Reads:
    return Reads(tenant, k, walls=True, **options)


def test_one_client_waits_as_long_as_the_system_takes(workload: Workload) -> None:
    cell, answers = read(Slow(0.002), workload, reads(most=40))
    assert cell["questions"] == 40
    assert 2.0 <= cell["p50_ms"] <= cell["p95_ms"] <= cell["p99_ms"]
    assert len(answers) == min(40, len(workload.questions))


def test_time_ends_the_reads_but_not_before_the_least(workload: Workload) -> None:
    cell, _ = read(Slow(0.004), workload, reads(seconds=0.001, most=400))
    assert LEAST <= cell["questions"] < 2 * LEAST


def test_small_tenants_are_asked_one_question_each_from_all_over_them(make: Callable[..., Workload]) -> None:
    many = make(small_tenants=20)
    asked = [query.project for query in reads(Tenant.SMALL).queries(many)]
    assert len(asked) == 30
    assert asked[:4] == ["small", "small", "small 1", "small 2"]
    assert len(set(asked)) == 20


def test_several_clients_ask_at_once_and_give_their_connections_back(workload: Workload) -> None:
    system = Slow(0.005)
    cell, _ = read(system, workload, reads(clients=8, most=160))
    assert len(system.threads) >= 8
    assert system.clients == 0
    assert cell["per_second"] > 2 / 0.005


@pytest.mark.parametrize(("rows", "complete"), [(10, 1.0), (9, 0.0)])
def test_an_answer_that_lacks_rows_shows(workload: Workload, rows: int, complete: float) -> None:
    cell, _ = read(Slow(rows=rows), workload, reads(most=30))
    assert (cell["rows"], cell["complete"]) == (rows, complete)


def test_a_writer_keeps_its_rate_and_ends_with_the_block(workload: Workload) -> None:
    system = Slow()
    with writing(system, workload.spare()) as writer:
        time.sleep(0.3)
    assert 30 <= writer.rate <= 60
    after = system.added
    time.sleep(0.05)
    assert system.added == after == writer.stored
    assert system.clients == 0


def test_what_a_writer_fails_of_is_raised(workload: Workload) -> None:
    with pytest.raises(ValueError, match="no space"), writing(Slow(fails=True), workload.spare()):
        time.sleep(0.05)


def test_single_writes_are_counted_after_a_warm_up(workload: Workload) -> None:
    system = Slow()
    assert add_some(system, workload.spare(), 25, 5.0)["count"] == 25
    assert system.added == 35
    assert add_some(system, workload.spare(), 2 * LEAST, 0.0)["count"] == LEAST
