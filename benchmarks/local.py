"""The embedded server of a folder: how quick, how small, and what is left after kill -9.

    python benchmarks/local.py [--folder FOLDER] [--lessons 10000]
    python benchmarks/local.py --kills 200 [--folder FOLDER] [--writers 4] [--seed 1]

The first prints the seconds to make a memory, to start its server again and to attach to one that runs (the
median of ten, the slowest in brackets), and what the idle server's processes hold of memory (the sum of PSS).

The second lets processes add lessons by the client, with keys, many at once, and as turns without a key, by
turns from one thread, from four and from six tasks; each opens and closes the folder now and then. It kills
processes at random moments: a writer, the server's first process, another of the server's, or all of a kind.
A lesson is noted once its add has returned. Then another process reads every noted lesson. It ends with code
1 if one is lost or other than it was stored, if a text is stored twice, if check() complains, or if a writer
ended by itself: only the add of a turn may raise LostError.
"""

from __future__ import annotations

import argparse
import asyncio
import inspect
import itertools
import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from functools import partial
from hashlib import sha256
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any
from uuid import UUID

import psutil
import psycopg
from psycopg.conninfo import make_conninfo

from pgmnemo import AsyncMemory, Item, Memory, calls
from pgmnemo.cli_main import run_cli
from pgmnemo.errors import LostError
from pgmnemo.postgres.embedded import EmbeddedServer
from pgmnemo.postgres.embedded.memory_folder import MemoryFolder
from pgmnemo.postgres.embedded.server_processes import folder_processes

TENANT = UUID(int=27)
WAIT = 0.6  # seconds at most between two kills, of which half come when a lesson more was acknowledged
WEIGHTS = {"writer": 6, "server": 6, "process of the server": 5, "whole server": 3, "all writers": 1}
ROUNDS = 10
STEPS = 1024  # numbers of a vector
TOLD = "{} was stored"
PATIENCE = 120.0  # seconds: a server that is killed again and again does not answer in between


def main() -> int:
    told = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    told.add_argument("--folder", type=Path, help="where the memory is made (default: a temporary folder)")
    told.add_argument("--lessons", type=int, default=10_000)
    told.add_argument("--kills", type=int)
    told.add_argument("--writers", type=int, default=4)
    told.add_argument("--seed", type=int, default=1)
    told.add_argument("--as", dest="role", nargs=2, help=argparse.SUPPRESS)
    options = told.parse_args()
    if options.role:
        return ROLES[options.role[0]](options.folder, Path(options.role[1]))
    with TemporaryDirectory(prefix="mnemo-", ignore_cleanup_errors=True) as base:
        Path(base).chmod(0o755)
        folder = (options.folder or Path(base) / "memory").resolve()
        if options.kills is None:
            return measure(folder, options.lessons)
        return torture(folder, options.kills, options.writers, random.Random(options.seed))


def measure(folder: Path, lessons: int) -> int:
    began = time.perf_counter()
    server = EmbeddedServer.open(folder)
    print(f"made and opened  {time.perf_counter() - began:.2f} s")
    with connected(server) as connection:
        calls.execute(connection, calls.grant_tenant(TENANT, "pgmnemo"))
    server.close()
    print(f"started again    {_took(lambda: EmbeddedServer.open(folder).close())}, closed within")
    with closing(EmbeddedServer.open(folder)) as server:
        print(f"attached         {_took(lambda: EmbeddedServer.open(folder).close())}")
        print(f"idle, empty      {_resident(folder)}")
        _fill(server, lessons)
        with connected(server) as connection:
            calls.execute(connection, calls.recall(TENANT, query_text="lesson 77", embedding=_vector(77)))
            print(f"idle, {lessons:,} lessons and a connection that recalled: {_resident(folder)}")
        print(f"idle, {lessons:,} lessons: {_resident(folder)}")
    return 0


def _took(action: object) -> str:
    seconds = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        action()  # type: ignore[operator]
        seconds.append(time.perf_counter() - began)
    return f"{median(seconds):.3f} s ({max(seconds):.3f})"


def _resident(folder: Path) -> str:
    time.sleep(1)
    held = [process.memory_full_info().pss for process in folder_processes(MemoryFolder(folder))]
    return f"{sum(held) / 1e6:.0f} MB in {len(held)} processes"


def _fill(server: EmbeddedServer, lessons: int) -> None:
    with connected(server) as connection:
        for first in range(0, lessons, 500):
            with connection.transaction():
                for number in range(first, min(first + 500, lessons)):
                    text = f"lesson {number} says that {number % 97} and {number % 31} met"
                    calls.execute(
                        connection,
                        calls.store(TENANT, TENANT, f"k{number}", text, embedding=_vector(number)),
                    )


def _vector(number: int) -> list[float]:
    chance = random.Random(number)
    return [chance.gauss(0, 1) for _ in range(STEPS)]


def connected(server: EmbeddedServer) -> psycopg.Connection[tuple[object, ...]]:
    return psycopg.connect(make_conninfo("", **server.conninfo), autocommit=True)


def torture(folder: Path, kills: int, writers: int, chance: random.Random) -> int:
    with closing(EmbeddedServer.open(folder)) as server, connected(server) as connection:
        calls.execute(connection, calls.grant_tenant(TENANT, "pgmnemo"))
    notes = [folder.with_name(f"{folder.name}-notes{number}") for number in range(writers)]
    running = {note: _child(folder, "writer", note) for note in notes}
    done: Counter[str] = Counter()
    failed = 0
    began = time.perf_counter()
    while sum(done.values()) < kills:
        if chance.random() < 0.5:
            _await_more(notes)
        time.sleep(chance.uniform(0, WAIT))
        what = chance.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
        begun = [child for note, child in running.items() if _mark(note, child.pid).exists()]
        done[what] += _kill(what, MemoryFolder(folder), begun, chance)
        for note, child in running.items():
            if (code := child.poll()) is not None:
                failed += code != -9
                running[note] = _child(folder, "writer", note)
    time.sleep(2)  # with nobody killed, whoever waits comes to store again
    failed += sum(child.poll() not in (None, -9) for child in running.values())
    for child in running.values():
        child.kill()
        child.wait()
    print(f"{sum(done.values())} kills in {time.perf_counter() - began:.0f} s: {dict(done)}")
    reader = _child(folder, "reader", folder.with_name(f"{folder.name}-notes"))
    lost = reader.wait()
    left = len(folder_processes(MemoryFolder(folder)))
    print(f"{failed} writers ended by themselves, {left} processes of the server left")
    return 1 if failed or lost else 0


def _await_more(notes: list[Path], limit: float = 10.0) -> None:
    """Wait until a lesson more is noted."""
    before, end = _noted(notes), time.monotonic() + limit
    while _noted(notes) == before and time.monotonic() < end:
        time.sleep(0.005)


def _noted(notes: list[Path]) -> int:
    return sum(note.stat().st_size for note in notes if note.exists())


def _mark(notes: Path, writer: int) -> Path:
    """Return the file that says that a writer has come so far that it opens the folder."""
    return notes.with_name(f"begun-{notes.name}-{writer}")


def _child(folder: Path, role: str, note: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, __file__, "--folder", str(folder), "--as", role, str(note)])


def _kill(
    what: str, folder: MemoryFolder, writers: list[subprocess.Popen[bytes]], chance: random.Random
) -> bool:
    """Kill by chance what is called `what`; whether anything was there to be killed."""
    everything = folder_processes(folder)
    first = [one for one in everything if _is_first(one)]
    rest = [one for one in everything if one not in first]
    some = {"process of the server": rest, "writer": [psutil.Process(one.pid) for one in writers]}
    victims = {"server": first, "whole server": everything, "all writers": some["writer"]}.get(what)
    if victims is None:
        victims = [chance.choice(some[what])] if some[what] else []
    for victim in victims:
        with suppress(psutil.Error):
            victim.kill()
    return bool(victims)


def _is_first(process: psutil.Process) -> bool:
    with suppress(psutil.Error):
        return "-D" in process.cmdline()
    return False


def write(folder: Path, notes: Path) -> int:
    """Store lessons until killed, as one, threads or tasks; those acknowledged are in the file `notes`."""
    noted = os.open(notes, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    _mark(notes, os.getpid()).touch()
    work, chance = _Work(notes.name, noted), random.Random()
    way = (_alone, _threads, _tasks)[int(notes.name[-1]) % 3]
    while True:
        way(folder, work, chance.randint(1, 150))


class _Work:
    """What a writer does, step by step. A text is said once; a key is that of one text."""

    def __init__(self, name: str, noted: int) -> None:
        self._name, self._noted = f"{name}-{os.getpid()}", noted
        self._numbers, self._chance = itertools.count(), random.Random()

    def step(self, scope: Any) -> tuple[Any, Callable[[Any], None]]:
        """Return a verb on its way and what to do with its answer."""
        verb = self._chance.choices(("add", "add_many", "turn", "context"), (6, 2, 4, 1))[0]
        many = self._chance.randint(2, 40) if verb == "add_many" else 1
        keys = [f"{self._name}-{next(self._numbers)}" for _ in range(many)]
        if verb == "add":
            return scope.add(TOLD.format(keys[0]), key=keys[0]), lambda _: self._note(keys, keys)
        if verb == "add_many":
            items = [Item(TOLD.format(key), key) for key in keys]
            return scope.add_many(items), lambda _: self._note(keys, keys)
        if verb == "turn":
            return scope.add(TOLD.format(keys[0]), role="user"), lambda one: self._note([one.key], keys)
        return scope.context(keys[0], max_tokens=300), lambda _: None

    def _note(self, keys: list[str], said: list[str]) -> None:
        lines = [f"{key} {name}\n" for key, name in zip(keys, said, strict=True)]
        os.write(self._noted, "".join(lines).encode())


def _alone(folder: Path, work: _Work, steps: int, threads: int = 1) -> None:
    with Memory.open(folder, embedder=_embed, retry_timeout=PATIENCE) as memory:

        def run() -> None:
            for _ in range(steps):
                with suppress(LostError):  # of a turn alone
                    call, then = work.step(_Later(memory.tenant(TENANT).project(TENANT)))
                    then(call())

        with ThreadPoolExecutor(threads) as pool:
            for one in [pool.submit(run) for _ in range(threads)]:
                one.result()


def _threads(folder: Path, work: _Work, steps: int) -> None:
    _alone(folder, work, steps, threads=4)


def _tasks(folder: Path, work: _Work, steps: int) -> None:
    async def run(memory: AsyncMemory) -> None:
        for _ in range(steps):
            with suppress(LostError):
                call, then = work.step(_Later(memory.tenant(TENANT).project(TENANT)))
                then(await call())

    async def main() -> None:
        async with await AsyncMemory.open(
            folder, embedder=_embed, connections=3, retry_timeout=PATIENCE
        ) as one:
            await asyncio.gather(*(run(one) for _ in range(6)))

    asyncio.run(main())


class _Later:
    """The verbs of a scope, each of which is called later; that a keyed one was lost is no LostError."""

    def __init__(self, scope: Any) -> None:
        self._scope = scope

    def __getattr__(self, name: str) -> Callable[..., Callable[[], Any]]:
        verb = getattr(self._scope, name)

        def later(*given: Any, **named: Any) -> Callable[[], Any]:
            if "role" in named:
                return partial(verb, *given, **named)
            if inspect.iscoroutinefunction(verb):
                return partial(_known_async, verb, given, named)
            return partial(_known, verb, given, named)

        return later


def _known(verb: Callable[..., Any], given: tuple[Any, ...], named: dict[str, Any]) -> Any:
    try:
        return verb(*given, **named)
    except LostError as error:
        raise RuntimeError("what may be sent again was lost") from error


async def _known_async(verb: Callable[..., Any], given: tuple[Any, ...], named: dict[str, Any]) -> Any:
    try:
        return await verb(*given, **named)
    except LostError as error:
        raise RuntimeError("what may be sent again was lost") from error


def _embed(texts: Sequence[str]) -> list[list[float]]:
    return [[1.0 + byte for byte in sha256(text.encode()).digest()[:8]] for text in texts]


def read(folder: Path, notes: Path) -> int:
    """Look every noted lesson up; 0 if all are as they were stored, none twice, and the index is whole."""
    files = notes.parent.glob(f"{notes.name}*")
    noted = [line.split() for file in files for line in file.read_text().splitlines()]
    with Memory.open(folder, embedder=None) as memory:
        scope = memory.tenant(TENANT).project(TENANT)
        found = {lesson.key: lesson.text for lesson in scope.list(include_inactive=True)}
        got = [scope.get(key) for key, _ in noted]
    lost = sum(
        one is None or not one.text == found.get(key) == TOLD.format(said)
        for one, (key, said) in zip(got, noted, strict=True)
    )
    twice = len(found) - len(set(found.values()))
    with closing(EmbeddedServer.open(folder)) as server, connected(server) as connection:
        wrong = calls.execute(connection, calls.check(TENANT))
    print(
        f"{len(noted)} lessons acknowledged of {len(found)} stored, {lost} lost, {twice} stored twice, "
        f"{len(wrong)} complaints of check()",
        flush=True,
    )
    return 1 if lost or twice or wrong or not noted else 0


ROLES = {"writer": write, "reader": read}

if __name__ == "__main__":
    sys.exit(run_cli(main))
