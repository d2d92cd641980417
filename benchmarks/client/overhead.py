"""What the client costs over plain psycopg, in one run on one server; its import, and the size of its wheel.

    python benchmarks/client/overhead.py [--calls 600] [--ahead] [--quick]

The client and a plain connection send one verb the same texts and vectors, in turns who is first, so that
what else the machine does meets both alike. Plain is what an experienced person writes by hand: a statement
for the case, prepared, with pgvector's binary vectors, read into tuples. On a DSN the client's statements
carry their settings: there it is compared with the prepared statement on a connection that was set up once,
and with what a pooler needs, the same settings in a statement that is not prepared. `embedded`: the vector is
not given, but asked of a function that has it, by an asynchronous program in a thread. `--ahead` lets these
calls go before other processes (Linux, root): the intervals are narrow where others compute, too.

Prints the median and the 95th percentile of a call in ms, and what the client adds to each with an interval
of 95 % (percentiles of 2,000 bootstrap samples of pairs); then what is computed more at the median, by the
process that calls and by the server's process that answers it, which does not grow where others wait as well.
"""

from __future__ import annotations

import argparse
import asyncio
import inspect
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from itertools import count, product
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import psycopg
from numpy.typing import NDArray
from pgvector.psycopg import register_vector, register_vector_async
from psycopg.conninfo import make_conninfo

from pgmnemo import AsyncMemory, Memory
from pgmnemo.client.naming import project_id, tenant_id
from pgmnemo.client.records import CAUSE_OF

ROOT = Path(__file__).resolve().parents[2]
LESSONS, K, WARM_UP, SEED, SAMPLES, LEVEL = 200, 10, 20, 42, 2_000, 95.0
PROCESSES = 10
GIVEN, EMBEDDED, HELD = "given", "embedded", "held"
COLUMNS = (
    "external_id, content, score, fit, in_project, said_by, topic, metadata, occurred_at, passage, hidden, "
    f"lesson_id, {', '.join(CAUSE_OF)}"
)
RECALL = (
    f"SELECT {COLUMNS} FROM pgmnemo.recall(%b::uuid, embedding => %b::vector::real[], k => %b, "
    "query_text => %b, project_id => %b)"
)
ADD = "SELECT f.* FROM pgmnemo.store(%b::uuid, %b, %b, %b, embedding => %b::vector::real[]) AS f"
SETTING = "FROM (SELECT set_config('pgmnemo.gate_strict', 'off', true)) AS s (made), LATERAL "
MADE = "CASE WHEN s.made IS NOT NULL THEN %b::uuid END"
HEAD = f"{'':42}" + "    plain   client    more at the {:14}" * 2 + "   here   there"
IMPORT = (
    "import time; began = time.perf_counter(); from pgmnemo import Memory; print(time.perf_counter() - began)"
)
Row = NDArray[np.float32]
Call = Callable[[str, str, Row], Any]  # key, text and vector to an answer, or to one that is awaited
Taken = NDArray[np.float64]  # seconds: (pairs, client and plain, waited and computed here and there)


@dataclass(frozen=True, slots=True)
class Cell:
    """The client and plain psycopg in one case."""

    name: tuple[str, str, str, str]
    client: Call
    plain: Call
    servers: tuple[int, int]  # the processes that answer them


class Texts:
    """Texts whose words follow Zipf, each with a key and a vector of length 1; the same in each run."""

    def __init__(self) -> None:
        self._chance, self._numbers = np.random.default_rng(SEED), count()

    def __call__(self, words: int) -> tuple[str, str, Row]:
        text = " ".join(f"word{one % 5_000}" for one in self._chance.zipf(1.3, words))
        vector = self._chance.standard_normal(384).astype(np.float32)
        return f"lesson-{next(self._numbers)}", text, vector / np.linalg.norm(vector)


class Known:
    """An embedder that has the vector of whatever is asked next."""

    def __init__(self) -> None:
        self.row: Any = None

    def __call__(self, texts: Sequence[str]) -> Any:
        return np.stack([self.row] * len(texts))


def client_calls(given: Any, embedding: Any, known: Known) -> dict[str, Call]:
    """Return what the client does in each case: a memory that is given vectors, and one that has an
    embedder.
    """
    held, added = (given.tenant(GIVEN).project(name) for name in (HELD, "by the client"))
    asked = embedding.tenant(EMBEDDED).project(HELD)

    def embedded(_: str, text: str, row: Row) -> Any:
        known.row = row
        return asked.recall(text, k=K)

    return {
        "recall": lambda _, text, row: held.recall(text, k=K, vector=row),
        "add": lambda key, text, row: added.add(text, key=key, vector=row),
        "recall, embedded": embedded,
    }


def plain_calls(cursor: Any, known: Known, *, carried: bool) -> dict[str, Call]:
    """Return the same by hand over a cursor of either kind; `carried`: the settings go with each
    statement.
    """
    recall, add = (carrying(one) if carried else one for one in (RECALL, ADD))
    tenant, other = tenant_id(GIVEN), tenant_id(EMBEDDED)
    held, added, others = project_id(tenant, HELD), project_id(tenant, "by hand"), project_id(other, HELD)

    def sent(statement: str, *told: Any) -> Any:
        return cursor.execute(statement, told).fetchall()

    async def sent_async(statement: str, *told: Any) -> Any:
        return await (await cursor.execute(statement, told)).fetchall()

    def embedded(_: str, text: str, row: Row) -> Any:
        known.row = row
        return sent(recall, other, known([text])[0], K, text, others)

    async def embedded_async(_: str, text: str, row: Row) -> Any:
        known.row = row
        made = await asyncio.to_thread(known, [text])
        return await sent_async(recall, other, made[0], K, text, others)

    asynchronous = isinstance(cursor, psycopg.AsyncCursor)
    send: Any = sent_async if asynchronous else sent
    return {
        "recall": lambda _, text, row: send(recall, tenant, row, K, text, held),
        "add": lambda key, text, row: send(add, tenant, added, key, text, row),
        "recall, embedded": embedded_async if asynchronous else embedded,
    }


def carrying(statement: str) -> str:
    """Return the statement with its setting in it, as a pooler in transaction mode needs it."""
    return statement.replace("FROM ", SETTING, 1).replace("%b::uuid", MADE, 1)


async def cells(stack: AsyncExitStack, folder: Path, dsn: str) -> list[Cell]:
    """Return every case, with its connections open until the stack is left.

    Both sides of a case begin with new ones, since what the server has planned in a session stays.
    """
    made: list[Cell] = []
    known = Known()
    ways = [("folder", "prepared"), ("DSN", "for a pooler"), ("DSN", "prepared")]
    for (place, way), shell in product(ways, ("sync", "async")):
        given = folder if place == "folder" else dsn
        own, other = [await memory_of(stack, shell, given, embedder) for embedder in (None, known)]
        client = client_calls(own, other, known)
        cursor = await cursor_of(stack, shell, dsn, way == "prepared")
        plain = plain_calls(cursor, known, carried=way != "prepared")
        for verb, memory in zip(client, (own, own, other), strict=True):
            servers = backends(memory, cursor)
            made.append(Cell((place, way, shell, verb), client[verb], plain[verb], servers))
    return made


def backends(memory: Any, cursor: Any) -> tuple[int, int]:
    """Return the server's processes of a memory with one connection, and of a cursor."""
    [connection] = memory._executor.source._idle
    return connection.info.backend_pid, cursor.connection.info.backend_pid


def computed(process: int) -> float:
    """Return seconds that a process of this machine has computed so far, as Linux counts them."""
    return int(Path(f"/proc/{process}/schedstat").read_text(encoding="ascii").split()[0]) / 1e9


async def memory_of(stack: AsyncExitStack, shell: str, place: Any, embedder: Any) -> Any:
    """Return a memory of either kind."""
    if shell == "sync":
        return stack.enter_context(Memory.open(place, embedder=embedder))
    return await stack.enter_async_context(await AsyncMemory.open(place, embedder=embedder))


async def cursor_of(stack: AsyncExitStack, shell: str, dsn: str, prepared: bool) -> Any:
    """Return a cursor of either kind for answers in binary form, whose connection was set up once."""
    told: dict[str, Any] = {
        "autocommit": True, "prepare_threshold": 0 if prepared else None,
        "options": "-c pgmnemo.gate_strict=off",
    }  # fmt: skip
    if shell == "sync":
        connection = stack.enter_context(psycopg.connect(dsn, **told))
        register_vector(connection)
        return connection.cursor(binary=True)
    waiting = await stack.enter_async_context(await psycopg.AsyncConnection.connect(dsn, **told))
    await register_vector_async(waiting)
    return waiting.cursor(binary=True)


def fill(folder: Path, texts: Texts, lessons: int) -> str:
    """Store the lessons that are asked; the server's address as a DSN."""
    known = Known()
    with Memory.open(folder, embedder=None) as given, Memory.open(folder, embedder=known) as embedding:
        for _ in range(lessons):
            key, text, known.row = texts(12)
            given.tenant(GIVEN).project(HELD).add(text, key=key, vector=known.row)
            embedding.tenant(EMBEDDED).project(HELD).add(text, key=key)
        return make_conninfo(**given._executor.source.conninfo)


async def taken(cell: Cell, texts: Texts, calls: int) -> Taken:
    """Return seconds of each of `calls` pairs, after some that do not count; the two answer alike."""
    warm_up = min(WARM_UP, calls)
    rows = np.zeros((warm_up + calls, 2, 3))
    for pair, row in enumerate(rows):
        told, answers = texts(6), ["", ""]
        for side in (pair % 2, 1 - pair % 2):
            server = cell.servers[side]
            there, here, began = computed(server), time.process_time(), time.perf_counter()
            answer = (cell.client, cell.plain)[side](*told)
            answers[side] = await answer if inspect.isawaitable(answer) else answer
            row[side, 0] = time.perf_counter() - began
            row[side, 1:] = time.process_time() - here, computed(server) - there
        if keys(answers[0]) != keys(answers[1]):
            raise SystemExit(f"{' '.join(cell.name)}: the two answer differently to {told[1]!r}")
    return rows[warm_up:]


@contextmanager
def going_ahead(cell: Cell, wanted: bool) -> Iterator[None]:
    """Inside the block this process and the cell's servers are in Linux's real-time class, if wanted."""
    processes = (os.getpid(), *cell.servers) if wanted else ()
    try:
        for process in processes:
            os.sched_setscheduler(process, os.SCHED_RR, os.sched_param(1))
        yield
    finally:
        for process in processes:
            os.sched_setscheduler(process, os.SCHED_OTHER, os.sched_param(0))


def keys(answer: Any) -> list[str]:
    """Return the keys of what was recalled, or the outcome of what was added."""
    rows = answer if isinstance(answer, list) else [(answer.outcome,)]
    return [row[0] if isinstance(row, tuple) else row.key for row in rows]


def added(seconds: NDArray[np.float64], share: float) -> str:
    """Return what the client adds to a percentile of (pairs, client and plain), in ms with its interval."""
    chance = np.random.default_rng(SEED)
    picks = seconds[chance.integers(0, len(seconds), (SAMPLES, len(seconds)))]
    client, plain = np.percentile(picks, share, axis=1).T
    low, high = np.percentile(client - plain, [(100 - LEVEL) / 2, (100 + LEVEL) / 2]) * 1000
    client, plain = np.percentile(seconds, share, axis=0) * 1000
    return f"{plain:8.2f} {client:8.2f} {client - plain:+7.3f} [{low:+.3f}, {high:+.3f}]"


async def compare(folder: Path, calls: int, lessons: int, ahead: bool) -> None:
    """Fill a memory, and print a line a cell."""
    texts = Texts()
    with Memory.open(folder, embedder=None):  # the server stays up
        dsn = fill(folder, texts, lessons)
        async with AsyncExitStack() as stack:
            print(HEAD.format("median", "95th"))
            for cell in await cells(stack, folder, dsn):
                with going_ahead(cell, ahead):
                    rows = await taken(cell, texts, calls)
                place, way, shell, verb = cell.name
                waits = "   ".join(f"{added(rows[:, :, 0], share):38}" for share in (50, 95))
                here, there = (np.median(rows[:, 0], axis=0) - np.median(rows[:, 1], axis=0))[1:] * 1000
                print(
                    f"{place:6} {way:13} {shell:5} {verb:16} {waits} {here:+7.3f} {there:+7.3f}", flush=True
                )


def package(processes: int) -> None:
    """Print the time of the package's import, and the size of its wheel."""
    told = [sys.executable, "-c", IMPORT]
    seconds = [float(subprocess.check_output(told, text=True)) * 1000 for _ in range(processes)]
    print(
        f"import: {min(seconds):.0f} ms at best, {median(seconds):.0f} at the median of {processes} processes"
    )
    with TemporaryDirectory() as made:
        build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", made]
        if subprocess.run(build, cwd=ROOT, capture_output=True).returncode:
            print("wheel: not built; pip install hatchling")
            return
        [wheel] = Path(made).glob("*.whl")
        print(f"wheel: {wheel.stat().st_size:,} bytes")


def main() -> None:
    """What the command line says."""
    told = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    told.add_argument("--calls", type=int, default=600, help="pairs of calls of each cell")
    told.add_argument("--ahead", action="store_true", help="before all other processes (Linux, root)")
    told.add_argument("--quick", action="store_true", help="a few calls, whose times say nothing")
    given = told.parse_args()
    calls, lessons, processes = (1, 10, 1) if given.quick else (given.calls, LESSONS, PROCESSES)
    print(
        f"{calls} pairs, {lessons} lessons, Python {platform.python_version()}, psycopg {psycopg.__version__}"
    )
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before", flush=True)
    with TemporaryDirectory(prefix="pgmnemo-overhead-") as made:
        Path(made).chmod(0o755)  # the server is another user's where root runs this
        asyncio.run(compare(Path(made) / "memory", calls, lessons, given.ahead))
    package(processes)
    print(f"load {os.getloadavg()[0]:.1f} after")


if __name__ == "__main__":
    main()
