"""Queries to any system: each question once, within its time limit, and every answer validated."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain, islice, pairwise
from math import isfinite
from numbers import Integral
from queue import Empty, SimpleQueue
from typing import Any

from pgmnemo.errors import PgmnemoError
from pgmnemo.escaping import escape_control_chars
from pgmnemo.postgres import database_errors
from runner.errors import SystemFault
from runner.runs.canonical import SCORE_DIGITS, significant
from runner.systems.system import WORKERS, Lessons, Match, Query, SupportsComponents, SupportsThreads, System

LIMIT = 60.0  # default limit of one question, in seconds
PATIENCE = 10.0  # seconds that a system or its clients may take to close
AHEAD = 8  # questions per thread that are asked before their answers are consumed
WARM_UP = 20  # untimed questions at the start
SAID = 300  # characters of a system's error that are quoted

Job = tuple[Query, "Future[TimedAnswer]"]


@dataclass(frozen=True, slots=True)
class TimedAnswer:
    """An answer, best match first, and the seconds that the client waited."""

    matches: tuple[Match, ...]
    seconds: float


@contextmanager
def wrap_errors(name: str) -> Iterator[None]:
    """Turn every exception of a system in the block into a SystemFault or DatabaseError of one sentence."""
    try:
        with database_errors(f"the database of {name}"):
            yield
    except PgmnemoError:
        raise
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except TimeoutError as error:
        raise SystemFault(f"{name} did not answer in time ({_line(error)})") from error
    except BaseException as error:  # SystemExit and asyncio's CancelledError are not subclasses of Exception
        raise SystemFault(f"{name} failed: {type(error).__name__}: {_line(error)}") from error


def one_line(text: str, most: int = SAID) -> str:
    """Return a system's text as one line of at most `most` characters, with control characters escaped."""
    line = escape_control_chars(" ".join(text.split()))
    return line if len(line) <= most else f"{line[: most - 1]}…"


def _line(error: BaseException) -> str:
    return one_line((str(error).strip().splitlines() or ["no reason given"])[0])


class AnswerValidator:
    """The check of an answer: known lessons of the scope, each once, at most k, falling scores.

    Scores may be missing. `components` is the number of components of a match that has any; None: any number.
    """

    def __init__(self, name: str, lessons: Lessons, components: int | None = None) -> None:
        self._name, self._components = name, components
        self._projects: dict[int, str] = {lesson.number: lesson.project for lesson in lessons}

    def validate(self, query: Query, k: int, matches: Sequence[Match]) -> tuple[Match, ...]:
        """Return the answer as a tuple; raise SystemFault that says what is wrong with it."""
        if fault := self._fault(query, k, matches):
            raise SystemFault(f"{self._name} answered question {query.number + 1} {fault}")
        return tuple(matches)

    def _fault(self, query: Query, k: int, matches: Any) -> str:
        if not isinstance(matches, Sequence) or not all(isinstance(one, Match) for one in matches):
            return "with something else than a list of Match"
        if len(matches) > k:
            return f"with {len(matches)} lessons where {k} were asked for"
        numbers = [match.number for match in matches]
        for number in numbers:
            if not _whole(number) or number not in self._projects:
                return f"with {number!r}, which is no lesson that it was given"
            if query.project is not None and self._projects[number] != query.project:
                return f"with lesson {number}, which lies outside the scope that was asked"
        if len(set(numbers)) < len(numbers):
            twice = next(one for at, one in enumerate(numbers) if one in numbers[:at])
            return f"with lesson {twice} twice"
        return self._wrong_scores(matches)

    def _wrong_scores(self, matches: Sequence[Match]) -> str:
        scores = [match.score for match in matches if match.score is not None]
        if not _finite(scores):
            return "with a score that is no number"
        if any(one < other and _stored_score(one) < _stored_score(other) for one, other in pairwise(scores)):
            return "with scores that do not fall with the ranks"
        parts = [match.components for match in matches if match.components]
        for number in set(map(len, parts)):
            if self._components not in (None, number):
                return f"with {number} components of a score where it names {self._components}"
        if not _finite(filter(None, chain.from_iterable(parts))):
            return "with a component that is no number"
        return ""


def _whole(value: object) -> bool:
    return type(value) is int or isinstance(value, Integral)


def _finite(values: Iterable[Any]) -> bool:
    try:
        return all(map(isfinite, values))
    except (TypeError, ValueError, OverflowError):  # a text, or a number outside the range of a float
        return False


def _stored_score(score: float) -> float:
    """Return a score as the raw file stores it."""
    return significant(score, SCORE_DIGITS)


class _QueryThread(threading.Thread):
    """A thread that asks queries with its own client, and closes the client.

    Only this thread may close it safely. It is a daemon, so that a hanging system does not block the exit.
    """

    def __init__(self, client: Any, k: int, jobs: SimpleQueue[Job | None], own: bool) -> None:
        super().__init__(daemon=True)
        self._client, self._k, self._jobs, self._own = client, k, jobs, own

    def run(self) -> None:
        self._work()
        if self._own and hasattr(self._client, "close"):
            _ignore_errors([self._client.close])

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            query, future = job
            try:
                began = time.perf_counter()
                matches = self._client.ask(query, self._k)
                future.set_result(TimedAnswer(tuple(matches), time.perf_counter() - began))
            except BaseException as error:
                future.set_exception(error)


def ask_all(
    system: System,
    name: str,
    queries: Sequence[Query],
    k: int,
    validator: AnswerValidator,
    *,
    settings: Mapping[str, str] | None = None,
    workers: int = WORKERS,
    ahead: int = AHEAD,
    limit: float = LIMIT,
) -> Iterator[TimedAnswer]:
    """Yield an answer for each question, in order.

    Questions are asked concurrently if the system supports it. At most `ahead` questions per thread are asked
    before their answers are consumed. Raises SystemFault (or DatabaseError) if the system fails, answers
    wrongly or takes longer than `limit` seconds.
    """
    with wrap_errors(name):
        clients = _clients(system, min(workers, len(queries) or 1), settings)
    jobs: SimpleQueue[Job | None] = SimpleQueue()
    pending: list[Job] = [(query, Future()) for query in queries]
    waiting = iter(pending)
    for job in islice(waiting, ahead * len(clients)):
        jobs.put(job)
    askers = [_QueryThread(client, k, jobs, own=client is not system) for client in clients]
    patience = PATIENCE
    for asker in askers:
        asker.start()
    try:
        for query, future in pending:
            with wrap_errors(name):
                try:
                    answer = _result(future, limit)
                except TimeoutError:
                    patience = 0.0
                    raise
                matches = validator.validate(query, k, answer.matches)
            yield TimedAnswer(matches, answer.seconds)
            for job in islice(waiting, 1):
                jobs.put(job)
    finally:
        with suppress(Empty):  # so that a busy thread finds no more jobs
            while True:
                jobs.get_nowait()
        for _ in askers:
            jobs.put(None)
        until = time.monotonic() + patience
        for asker in askers:
            asker.join(max(0.0, until - time.monotonic()))


def components_of(system: System) -> int:
    """Return the number of components of the system's matches."""
    return len(system.components) if isinstance(system, SupportsComponents) else 0


def time_answers(
    system: System,
    name: str,
    queries: Sequence[Query],
    k: int,
    validator: AnswerValidator,
    *,
    limit: float = LIMIT,
) -> Iterator[TimedAnswer]:
    """Yield the answers of one client, one question at a time, after a warm-up that is not reported.

    A question is asked after the answer before it was consumed, so that nothing else runs at the same time.
    """
    asked = [*queries[:WARM_UP], *queries]
    everything = ask_all(system, name, asked, k, validator, workers=1, ahead=1, limit=limit)
    for place, answer in enumerate(everything):
        if place >= len(queries[:WARM_UP]):
            yield answer


def _clients(system: System, count: int, settings: Mapping[str, str] | None) -> list[Any]:
    """Return a client for each thread if the system supports threads; else only the system itself."""
    if not isinstance(system, SupportsThreads):
        return [system]
    made: list[Any] = []
    try:
        for _ in range(count):
            made.append(system.client(settings))
    except BaseException:
        _ignore_errors([client.close for client in made if hasattr(client, "close")])
        raise
    return made


def _result(future: Future[TimedAnswer], limit: float) -> TimedAnswer:
    try:
        return future.result(timeout=limit)
    except TimeoutError:
        if future.done():
            return future.result()  # it finished just now, or this raises the system's own TimeoutError
        raise TimeoutError(f"no answer after {limit:g} s; --time-limit gives it longer") from None


def call_within(limit: float, *calls: Callable[[], object]) -> None:
    """Make the calls, but wait at most `limit` seconds in all; ignore their exceptions."""
    thread = threading.Thread(target=_ignore_errors, args=(calls,), daemon=True)
    thread.start()
    thread.join(limit)


def _ignore_errors(calls: Sequence[Callable[[], object]]) -> None:
    for call in calls:
        with suppress(Exception):
            call()
