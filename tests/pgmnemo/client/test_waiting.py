"""Who waits for a memory: one thread, many threads, tasks; those that stop waiting leave it usable."""

from __future__ import annotations

import asyncio
import copy
import io
import os
import pickle
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from pgmnemo import AsyncMemory, AsyncScope, Item, Memory, Turn
from pgmnemo.errors import UsageError
from tests.pgmnemo.client.driving import Place, Shell, collected
from tests.pgmnemo.client.test_retrying import waiting


async def test_a_question_is_not_behind_the_documents_of_others(place: Place) -> None:
    def documents(texts: list[str]) -> list[list[float]]:
        time.sleep(0.2 * len(texts))
        return [[1.0, 0.0] for _ in texts]

    def queries(texts: list[str]) -> list[list[float]]:
        return [[1.0, 0.0] for _ in texts]

    async with await AsyncMemory.open(place.dsn(), embedder=(queries, documents)) as memory:
        scope = memory.tenant(place.tenant()).project("p")
        await scope.add("The kettle leaks.", key="leak")
        many = [asyncio.create_task(scope.add(f"note {number}", key=f"{number}")) for number in range(60)]
        await asyncio.sleep(0.1)
        began = time.monotonic()
        await scope.recall("kettle")
        seconds = time.monotonic() - began
        for one in many:
            one.cancel()
        await asyncio.gather(*many, return_exceptions=True)
        assert seconds < 0.8


VERBS: dict[str, Callable[[Any], Any]] = {
    "add": lambda s: s.add("The kettle leaks.", key="a"),
    "add a turn": lambda s: s.add("The kettle leaks.", role="user"),
    "add turns": lambda s: s.add([Turn("The kettle.", "user"), Turn("A violin.", "assistant")], key="b"),
    "add_many": lambda s: s.add_many([Item(f"note {number}", f"n{number}") for number in range(20)], batch=7),
    "recall": lambda s: s.recall("kettle"),
    "context": lambda s: s.context("kettle"),
    "explain": lambda s: s.explain("a", "kettle"),
    "get": lambda s: s.get("a"),
    "list": lambda s: s.list(),
    "count": lambda s: s.count(),
    "known": lambda s: s.known(["a"]),
    "update": lambda s: s.update("a", importance=4),
    "link": lambda s: s.link("a", "b"),
    "unlink": lambda s: s.unlink("a", "b"),
    "fact": lambda s: s.fact("Ada", "likes", "tea"),
    "facts": lambda s: s.facts(),
    "end_fact": lambda s: s.end_fact("Ada", "likes"),
    "supersede": lambda s: s.supersede("b", "a"),
    "timeline": lambda s: s.timeline("b"),
    "undo_supersede": lambda s: s.undo_supersede("b"),
    "similar": lambda s: s.similar(),
    "stats": lambda s: s.stats(),
    "export": lambda s: s.export(io.BytesIO()),
    "delete_expired": lambda s: s.delete_expired(),
    "language": lambda s: s.language(),
    "recut": lambda s: s.recut(),
    "forget": lambda s: s.forget("a"),
    "forget all": lambda s: s.forget(all_lessons=True),
}  # fmt: skip


def embed(texts: list[str]) -> list[list[float]]:
    return [[float(len(text)), 1.0] for text in texts]


async def done(answer: Any) -> Any:
    """What a verb of the asynchronous shell answers, be it awaited or iterated."""
    return await answer if isinstance(answer, Awaitable) else await collected(answer)


def test_the_synchronous_shell_starts_no_thread(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Any] = []
    monkeypatch.setattr(threading.Thread, "start", started.append)
    before = threading.enumerate()
    with Memory.open(place.dsn(), embedder=embed) as memory:
        scope = memory.tenant(place.tenant()).project("p")
        for verb in VERBS.values():
            answer = verb(scope)
            list(answer) if hasattr(answer, "__next__") else answer
        file = io.BytesIO()
        scope.export(file)
        scope.import_(io.BytesIO(file.getvalue()))
    assert started == []
    assert threading.enumerate() == before


def test_the_asynchronous_shell_works_within_a_loop_that_somebody_runs(place: Place) -> None:
    async def work() -> int:
        async with await AsyncMemory.open(place.dsn(), embedder=embed) as memory:
            scope = memory.tenant(place.tenant()).project("p")
            for verb in VERBS.values():
                await done(verb(scope))
            await asyncio.gather(*(scope.add(f"note {number}", role="user") for number in range(30)))
            found = [one.position async for one in scope.list()]
            assert sorted(found, key=str) == sorted(range(1, 31), key=str)
        return len(asyncio.all_tasks())

    assert asyncio.run(work(), debug=True) == 1  # no task is left behind


def test_no_more_connections_are_made_than_allowed(shell: Shell, place: Place) -> None:
    name = f"queue {shell.kind}"
    memory = shell.open(place.dsn(application_name=name), connections=2)
    scope = memory.tenant(place.tenant()).project("p")
    if shell.kind == "sync":
        with ThreadPoolExecutor(8) as threads:
            list(threads.map(lambda number: scope.add(f"note {number}", role="user"), range(40)))
    else:
        inner = scope.inner

        async def work() -> None:
            await asyncio.gather(*(inner.add(f"note {number}", role="user") for number in range(40)))

        shell.runner.run(work())
    assert sorted(one.position for one in scope.list()) == list(range(1, 41))
    with place.connect() as root:
        query = "SELECT count(*) FROM pg_stat_activity WHERE application_name = %s"
        assert root.execute(query, (name,)).fetchone()[0] <= 2  # type: ignore[index]


FORKED = """
import os, sys
from pgmnemo import Memory
from pgmnemo.errors import UsageError
with Memory.open(sys.argv[1], embedder=None) as memory:
    scope = memory.tenant(sys.argv[2]).project("p")
    scope.add("x", key="k")
    if os.fork() == 0:
        try:
            scope.count()
        except UsageError as error:
            print(error, flush=True)
        os._exit(0)
    os.wait()
    print(scope.count().lessons)
"""


def test_a_fork_may_not_use_the_memory_and_does_not_spoil_it(place: Place) -> None:
    command = [sys.executable, "-c", FORKED, place.dsn(), place.tenant()]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert told == ["this memory was opened before the process forked; open one in each process", "1"]


def test_a_memory_is_of_the_event_loop_that_opened_it(place: Place) -> None:
    async def verbs(memory: AsyncMemory) -> None:
        scope = memory.tenant(place.tenant()).project("p")
        for call in (scope.recall("x"), scope.add("x"), scope.count()):
            with pytest.raises(UsageError, match="was opened in another event loop"):
                await call

    async def at_once() -> None:
        async with await AsyncMemory.open(place.dsn(), embedder=embed) as memory:
            await asyncio.to_thread(asyncio.run, verbs(memory))
            assert (await memory.tenant(place.tenant()).count()).lessons == 0

    asyncio.run(at_once())
    memory = asyncio.run(AsyncMemory.open(place.dsn(), embedder=embed))
    asyncio.run(verbs(memory))
    asyncio.run(memory.close())


@pytest.mark.parametrize("copied", [pickle.dumps, copy.copy, copy.deepcopy])
def test_a_memory_is_not_copied(copied: Callable[[Any], Any], place: Place) -> None:
    with Memory.open(place.dsn(), embedder=None) as memory, pytest.raises(UsageError, match="open it there"):
        copied(memory)


# Whoever stops waiting


@pytest.fixture
def blocked(shell: Shell, place: Place, held: Any) -> Any:
    """A scope of a memory with one connection, and what frees the key `k` that another writer holds."""
    memory = shell.open(place.dsn(), connections=1)
    scope = memory.tenant(place.tenant()).project("p")
    scope.add("x", key="k")
    return scope, held(scope).commit


WAITING: dict[str, Callable[[Any], Any]] = {
    "add": lambda s: s.add("y", key="k"),
    "add a turn": lambda s: s.add("y", role="user"),
    "add_many": lambda s: s.add_many([Item("y", "k"), Item("z", "l")]),
    "update": lambda s: s.update("k", topic="t"),
}


@pytest.mark.parametrize("verb", WAITING)
@pytest.mark.parametrize("shell", ["sync"], indirect=True)
def test_an_interrupted_call_leaves_a_memory_that_works(verb: str, place: Place, blocked: Any) -> None:
    scope, free = blocked

    def interrupt() -> None:
        waiting(place)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        WAITING[verb](scope)
    thread.join()
    free()
    assert [(one.key, one.text, one.topic) for one in scope.list()] == [("k", "x", None)]
    assert scope.add("y", key="k").outcome == "updated"


async def test_calls_cancelled_at_any_moment_leave_a_memory_that_works(place: Place) -> None:
    """At most two connections, all of them idle afterwards; what was stored is whole."""
    chance = random.Random(8)
    name = "cancelled"

    async def cancelled(scope: AsyncScope) -> None:
        verb = chance.choice([*VERBS])
        task = asyncio.create_task(done(VERBS[verb](scope)))
        for _ in range(chance.randrange(60)):
            await asyncio.sleep(0)
        await asyncio.sleep(chance.choice([0, 0, 0.0005, 0.002]))
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    dsn = place.dsn(application_name=name)
    async with await AsyncMemory.open(dsn, embedder=embed, connections=2) as memory:
        scope = memory.tenant(place.tenant()).project("p")
        await asyncio.gather(*(VERBS[verb](scope) for verb in ("add", "add turns", "add_many")))
        for _ in range(60):
            await asyncio.gather(*(cancelled(scope) for _ in range(3)))
        for verb in VERBS:
            if verb != "forget all":
                await done(VERBS["add"](scope))
                await done(VERBS["add turns"](scope))
                await done(VERBS[verb](scope))
        assert len(memory._executor.source._idle) <= 2
        with place.connect() as root:
            query = "SELECT state FROM pg_stat_activity WHERE application_name = %s"
            states = [row[0] for row in root.execute(query, (name,)).fetchall()]
            assert states == ["idle"] * len(states)
            assert 1 <= len(states) <= 2
            assert root.execute("SELECT * FROM pgmnemo.check(%s)", (scope.tenant_id,)).fetchall() == []


async def test_a_call_that_is_cancelled_ends_in_postgresql(place: Place, held: Any) -> None:
    dsn, tenant = place.dsn(application_name="left"), place.tenant()

    async with await AsyncMemory.open(dsn, embedder=None) as memory:
        scope = memory.tenant(tenant).project("p")
        await scope.add("x", key="k")
        held(scope)
        task = asyncio.create_task(scope.add("y", key="k"))
        while not working(place):
            await asyncio.sleep(0.01)
        began = time.monotonic()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        while working(place):
            await asyncio.sleep(0.01)
        assert time.monotonic() - began < 5


def working(place: Place) -> bool:
    """Whether the server works for the test that is called off."""
    query = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'left' AND state = 'active'"
    with place.connect() as root:
        return bool(root.execute(query).fetchone()[0])  # type: ignore[index]


async def test_a_call_may_be_given_a_time_after_which_nobody_waits(place: Place) -> None:
    async def forever(texts: list[str]) -> Any:
        await asyncio.sleep(3600)

    async with await AsyncMemory.open(place.dsn(), embedder=forever) as memory:
        scope = memory.tenant(place.tenant()).project("p")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await scope.add("x")
        assert (await scope.add("x", key="k", vector=[1.0])).outcome == "inserted"


def test_a_memory_that_is_closed_says_so(shell: Shell, place: Place) -> None:
    memory = shell.open(place.dsn())
    scope = memory.tenant(place.tenant()).project("p")
    scope.add("x", key="k")
    memory.close()
    memory.close()
    for call in (lambda: scope.add("y"), lambda: scope.add_many(["y"]), lambda: list(scope.list())):
        with pytest.raises(UsageError, match="this memory was closed; open it again"):
            call()


async def test_what_is_in_use_when_a_memory_is_closed_is_closed_with_it(place: Place) -> None:
    began, go_on = asyncio.Event(), asyncio.Event()
    memory = await AsyncMemory.open(place.dsn(application_name="closing"), embedder=None)
    source = memory._executor.source

    async def use() -> None:
        async with source.connection() as connection:
            await connection.execute("SELECT 1")
            began.set()
            await go_on.wait()

    task = asyncio.create_task(use())
    await began.wait()
    await memory.close()
    go_on.set()
    await task
    assert list(source._idle) == []
