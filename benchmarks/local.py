"""The embedded server of a folder: how quick, how small, and what is left after kill -9.

    python benchmarks/local.py [--folder FOLDER] [--lessons 10000]
    python benchmarks/local.py --kills 200 [--folder FOLDER] [--writers 4] [--seed 1]

The first prints the seconds to make a memory, to start its server again and to attach to one that runs (the
median of ten, the slowest in brackets), and what the idle server's processes hold of memory (the sum of PSS).

The second lets processes store keyed lessons, each of which opens and closes the folder now and then, and
kills processes at random moments: a writer, the server's first process, another of the server's, or all of a
kind. A key is noted once its store has returned. Then another process reads every noted lesson. It ends with
code 1 if one is lost or other than it was stored, or if a writer ended by itself.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from uuid import UUID

import psutil
import psycopg
from psycopg.conninfo import make_conninfo

from pgmnemo import calls
from pgmnemo.ending import ended
from pgmnemo.local import LocalServer
from pgmnemo.local.cluster import processes
from pgmnemo.local.folder import Folder

TENANT = UUID(int=27)
WAIT = 0.6  # seconds at most between two kills, of which half come when a lesson more was acknowledged
WEIGHTS = {"writer": 6, "server": 6, "process of the server": 5, "whole server": 3, "all writers": 1}
ROUNDS = 10
STEPS = 1024  # numbers of a vector


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
    server = LocalServer.open(folder)
    print(f"made and opened  {time.perf_counter() - began:.2f} s")
    with connected(server) as connection:
        calls.execute(connection, calls.grant_tenant(TENANT, "pgmnemo"))
    server.close()
    print(f"started again    {_took(lambda: LocalServer.open(folder).close())}, closed within")
    with closing(LocalServer.open(folder)) as server:
        print(f"attached         {_took(lambda: LocalServer.open(folder).close())}")
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
    held = [process.memory_full_info().pss for process in processes(Folder(folder))]
    return f"{sum(held) / 1e6:.0f} MB in {len(held)} processes"


def _fill(server: LocalServer, lessons: int) -> None:
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


def connected(server: LocalServer) -> psycopg.Connection[tuple[object, ...]]:
    return psycopg.connect(make_conninfo("", **server.conninfo), autocommit=True)


def torture(folder: Path, kills: int, writers: int, chance: random.Random) -> int:
    with closing(LocalServer.open(folder)) as server, connected(server) as connection:
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
        done[what] += _kill(what, Folder(folder), begun, chance)
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
    print(
        f"{failed} writers ended by themselves, {len(processes(Folder(folder)))} processes of the server left"
    )
    return 1 if failed or lost else 0


def _await_more(notes: list[Path], limit: float = 10.0) -> None:
    """Wait until a lesson more is noted."""
    before, end = _noted(notes), time.monotonic() + limit
    while _noted(notes) == before and time.monotonic() < end:
        time.sleep(0.005)


def _noted(notes: list[Path]) -> int:
    return sum(note.stat().st_size for note in notes if note.exists())


def _mark(notes: Path, writer: int) -> Path:
    """The file that says that a writer has come so far that it opens the folder."""
    return notes.with_name(f"begun-{notes.name}-{writer}")


def _child(folder: Path, role: str, note: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, __file__, "--folder", str(folder), "--as", role, str(note)])


def _kill(what: str, folder: Folder, writers: list[subprocess.Popen[bytes]], chance: random.Random) -> bool:
    """Kill by chance what is called `what`; whether anything was there to be killed."""
    everything = processes(folder)
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
    """Store lessons until killed; every key whose store has returned is in the file `notes`."""
    noted = os.open(notes, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    number, chance = 0, random.Random()
    _mark(notes, os.getpid()).touch()
    while True:
        with closing(LocalServer.open(folder)) as server:
            stop = number + chance.randint(1, 400)
            while number < stop:
                with suppress(psycopg.OperationalError), connected(server) as connection:
                    while number < stop:
                        key = f"{notes.name}-{os.getpid()}-{number}"
                        calls.execute(connection, calls.store(TENANT, TENANT, key, f"{key} was stored"))
                        os.write(noted, f"{key}\n".encode())
                        number += 1
                server.ensure()


def read(folder: Path, notes: Path) -> int:
    """Look every noted key up; 0 if all are as they were stored."""
    keys = [key for file in notes.parent.glob(f"{notes.name}*") for key in file.read_text().split()]
    with closing(LocalServer.open(folder)) as server, connected(server) as connection:
        found = {
            key: [row[0] for row in calls.execute(connection, calls.get(TENANT, TENANT, key, ("content",)))]
            for key in keys
        }
    lost = sum(texts != [f"{key} was stored"] for key, texts in found.items())
    print(f"{len(keys)} lessons acknowledged, {lost} lost", flush=True)
    return 1 if lost or not keys else 0


ROLES = {"writer": write, "reader": read}

if __name__ == "__main__":
    sys.exit(ended(main))
