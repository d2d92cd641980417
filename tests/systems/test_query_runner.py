"""Whatever a system does, a run gets answers that can be believed, or one sentence."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import psycopg
import pytest

from pgmnemo.errors import DatabaseError, UsageError
from runner.errors import SystemFault
from runner.systems import Match, Query, System, query_runner
from runner.systems.query_runner import (
    WARM_UP,
    AnswerValidator,
    TimedAnswer,
    ask_all,
    time_answers,
    wrap_errors,
)

K = 5


@pytest.fixture
def queries(tiny: Any) -> list[Query]:
    """Thirty questions, in the scope of one project and in all."""
    projects = [None, *tiny.projects]
    return [Query(n, f"question {n}", None, projects[n % 4]) for n in range(30)]


def ask(system: System, queries: Sequence[Query], tiny: Any, **options: Any) -> list[TimedAnswer]:
    return list(ask_all(system, "odd", queries, K, AnswerValidator("odd", tiny), **options))


def refused(system: System, tiny: Any, project: str | None = None, **options: Any) -> str:
    """The sentence for a system that is asked one question."""
    with pytest.raises(SystemFault) as fault:
        ask(system, [Query(6, "what?", None, project)], tiny, **options)
    sentence = str(fault.value)
    assert len(sentence) < 400
    return sentence


@pytest.fixture
def watched(tools: Any, tiny: Any) -> Any:
    """A system of which is noted in which thread each client works, and whether one is closed at work."""
    system = tools.ScriptedClients(tools.best(tiny))
    system.threads, system.closed_at_work, made = defaultdict(set), list[bool](), system.client
    at_work: set[int] = set()

    def client(settings: Any = None) -> Any:
        one = made(settings)
        asked, closes = one.ask, one.close

        def noted(query: Query, k: int) -> Any:
            system.threads[id(one)].add(threading.get_ident())
            at_work.add(id(one))
            time.sleep(0.002)
            at_work.discard(id(one))
            return asked(query, k)

        def closing() -> None:
            system.closed_at_work.append(id(one) in at_work)
            closes()

        one.ask, one.close = noted, closing
        return one

    system.client = client
    return system


def test_each_client_is_of_one_thread_and_given_back(watched: Any, tiny: Any, queries: list[Query]) -> None:
    ask(watched, queries, tiny, workers=4)
    assert (watched.opened, watched.closed, watched.asked) == (4, 4, len(queries))
    assert sorted(map(len, watched.threads.values())) == [1] * 4
    assert len(set.union(*watched.threads.values())) == 4


def test_no_client_is_closed_while_it_is_at_work(watched: Any, tiny: Any) -> None:
    """A connection that is closed under a thread which waits for its answer takes the process down."""
    many = [Query(number, "x", None, None) for number in range(40)]
    for taken in range(20):
        found = ask_all(watched, "odd", many, K, AnswerValidator("odd", tiny), workers=4)
        for _ in range(taken % 4 + 1):
            next(found)
        found.close()  # type: ignore[attr-defined]
    assert watched.opened == watched.closed == 80
    assert watched.closed_at_work == [False] * 80


def test_a_system_without_clients_is_asked_by_one_thread_and_stays_open(
    tools: Any, tiny: Any, queries: list[Query]
) -> None:
    threads, best, closed = set(), tools.best(tiny), []

    def noted(query: Query, k: int) -> list[Match]:
        threads.add(threading.get_ident())
        return best(query, k)

    system = tools.Scripted(noted)
    system.close = lambda: closed.append(True)
    ask(system, queries, tiny, workers=4)
    assert len(threads) == 1
    assert not closed


def test_asking_ends_however_threads_take_turns(tools: Any, tiny: Any) -> None:
    """Hundreds of short and broken rounds: none of them waits for ever."""
    few = [Query(number, "x", None, None) for number in range(3)]
    for _ in range(300):
        ask(tools.ScriptedClients(lambda query, k: []), few, tiny)
    for _ in range(100):
        with pytest.raises(SystemFault):
            ask(tools.ScriptedClients(lambda query, k: 1 / 0), few, tiny)


WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "no lesson of ours": (lambda: [Match(99)], "with 99, which is no lesson that it was given"),
    "a number as text": (lambda: [Match("1")], "with '1', which is no lesson"),  # type: ignore[arg-type]
    "a list as number": (lambda: [Match([1])], r"with \[1\], which is no lesson"),  # type: ignore[arg-type]
    "one twice": (lambda: [Match(1), Match(2), Match(1)], "with lesson 1 twice"),
    "too many": (lambda: [Match(n) for n in range(7)], "with 7 lessons where 5 were asked for"),
    "NaN": (lambda: [Match(1, float("nan"))], "with a score that is no number"),
    "infinite": (lambda: [Match(1, float("-inf"))], "with a score that is no number"),
    "a score as text": (lambda: [Match(1, "9")], "with a score that is no number"),  # type: ignore[arg-type]
    "rising": (lambda: [Match(1, 0.5), Match(2, 0.6)], "with scores that do not fall with the ranks"),
    "components": (lambda: [Match(1, 0.5, (1.0,))], "with 1 components of a score where it names 2"),
    "a component": (lambda: [Match(1, 0.5, (1.0, float("nan")))], "with a component that is no number"),
    "rows": (lambda: [(1, 0.5)], "with something else than a list of Match"),
    "a mapping": (lambda: {1: 0.5}, "with something else than a list of Match"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_an_answer_that_cannot_be_is_refused_by_the_question(case: str, tools: Any, tiny: Any) -> None:
    answer, words = WRONG[case]
    system = tools.Scripted(lambda query, k: answer())
    with pytest.raises(SystemFault, match=f"^odd answered question 7 {words}"):
        list(
            ask_all(
                system, "odd", [Query(6, "what?", None, None)], K, AnswerValidator("odd", tiny, components=2)
            )
        )


def test_a_lesson_of_another_scope_is_refused(tools: Any, tiny: Any) -> None:
    garden, boat, _ = tools.PROJECTS
    foreign = next(one.number for one in tiny if one.project == boat)
    system = tools.Scripted(lambda query, k: [Match(foreign)])
    assert refused(system, tiny, garden) == (
        f"odd answered question 7 with lesson {foreign}, which lies outside the scope that was asked"
    )
    assert len(ask(system, [Query(6, "what?", None, None)], tiny)) == 1


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(lambda: [], id="nothing"),
        pytest.param(lambda: (Match(number) for number in (3, 1)), id="a generator"),
        pytest.param(lambda: [Match(np.int64(3), np.float32(0.5)), Match(1, 0.5)], id="numbers of numpy"),
        pytest.param(lambda: [Match(3, 1), Match(1, None)], id="a score here and there"),
        pytest.param(lambda: [Match(3, 0.3), Match(1, 0.1 + 0.2)], id="ties but for the last bit"),
        pytest.param(lambda: [Match(3, 0.3, (1.0, None)), Match(1, 0.2)], id="components"),
    ],
)
def test_an_answer_that_can_be_is_taken_as_it_is(answer: Callable[[], Any], tools: Any, tiny: Any) -> None:
    judge = AnswerValidator("odd", tiny, components=2)
    query = Query(0, "what?", None, None)
    [found] = ask_all(tools.Scripted(lambda query, k: answer()), "odd", [query], K, judge)
    assert found.matches == tuple(answer())


class Odd(Exception):
    """Its words have lines."""


RAISED: dict[str, tuple[Callable[[], BaseException], str]] = {
    "lines": (lambda: Odd("first line\nsecond line"), "odd failed: Odd: first line"),
    "no words": (lambda: ValueError(), "odd failed: ValueError: no reason given"),
    "long": (lambda: OSError("x" * 9000), "odd failed: OSError: x{299}…"),
    "an exit": (lambda: SystemExit(0), "odd failed: SystemExit: 0"),
    "cancelled": (lambda: asyncio.CancelledError(), "odd failed: CancelledError: no reason given"),
    "the end of something": (lambda: StopIteration(), "odd failed: StopIteration: no reason given"),
    "its own timeout": (lambda: TimeoutError("reading"), r"odd did not answer in time \(reading\)"),
    "its own words": (lambda: SystemFault("odd is out of credit"), "odd is out of credit"),
}  # fmt: skip


@pytest.mark.parametrize("clients", [False, True], ids=["one thread", "several threads"])
@pytest.mark.parametrize("case", RAISED)
def test_whatever_it_raises_is_one_sentence(case: str, clients: bool, tools: Any, tiny: Any) -> None:
    made, words = RAISED[case]

    def answer(query: Query, k: int) -> Any:
        raise made()

    kind = tools.ScriptedClients if clients else tools.Scripted
    with pytest.raises(SystemFault, match=f"^{words}$"):
        ask(kind(answer), [Query(0, "x", None, None)] * 3, tiny)


def test_what_a_database_says_is_one_sentence_that_names_the_system(tools: Any, tiny: Any) -> None:
    def answer(query: Query, k: int) -> Any:
        raise psycopg.errors.UndefinedTable('relation "memory" does not exist\nLINE 1: SELECT')

    words = '^the database of odd refused a statement: relation "memory" does not exist$'
    with pytest.raises(DatabaseError, match=words):
        ask(tools.Scripted(answer), [Query(0, "x", None, None)], tiny)


def test_an_interruption_stays_one(tools: Any) -> None:
    with pytest.raises(KeyboardInterrupt), wrap_errors("odd"):
        raise KeyboardInterrupt
    with pytest.raises(UsageError), wrap_errors("odd"):
        raise UsageError("wrong use stays wrong use")


def test_a_question_that_takes_too_long_ends_the_wait(tools: Any, tiny: Any) -> None:
    began = time.perf_counter()
    for kind in (tools.Scripted, tools.ScriptedClients):
        sentence = refused(kind(lambda query, k: time.sleep(20)), tiny, limit=0.1)
        assert sentence == "odd did not answer in time (no answer after 0.1 s; --time-limit gives it longer)"
    assert time.perf_counter() - began < 5


def test_clients_that_cannot_be_opened_or_closed(
    tools: Any, tiny: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(query_runner, "PATIENCE", 0.1)
    system = tools.ScriptedClients(tools.best(tiny))
    system.client = lambda settings=None: 1 / 0
    assert refused(system, tiny) == "odd failed: ZeroDivisionError: division by zero"
    system = tools.ScriptedClients(tools.best(tiny))
    few = system.client
    system.client = lambda settings=None: few() if system.opened < 2 else 1 / 0
    with pytest.raises(SystemFault, match="division by zero"):
        ask(system, [Query(number, "x", None, None) for number in range(9)], tiny, workers=4)
    assert (system.opened, system.closed) == (2, 2)
    system = tools.ScriptedClients(tools.best(tiny))
    made = system.client

    def client(settings: Any = None) -> Any:
        one = made(settings)
        one.close = lambda: time.sleep(20)
        return one

    system.client = client
    began = time.perf_counter()
    assert len(ask(system, [Query(0, "x", None, None)], tiny)) == 1
    assert time.perf_counter() - began < 2


def test_timed_questions_come_one_after_the_other_behind_a_warm_up(
    tools: Any, tiny: Any, queries: list[Query]
) -> None:
    """Nothing is asked while whoever takes the answers is still at work."""
    at_work, together, best = [False], [], tools.best(tiny)

    def answer(query: Query, k: int) -> list[Match]:
        together.append(at_work[0])
        return best(query, k)

    system = tools.ScriptedClients(answer)
    found = []
    for one in time_answers(system, "odd", queries, K, AnswerValidator("odd", tiny)):
        found.append(one)
        at_work[0] = True
        time.sleep(0.003)
        at_work[0] = False
    assert [list(one.matches) for one in found] == [best(query, K) for query in queries]
    assert (system.opened, system.closed) == (1, 1)
    assert system.asked == WARM_UP + len(queries)
    assert not any(together)
