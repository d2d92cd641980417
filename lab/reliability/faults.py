"""Faults at random moments of each kind of work: what is lost or wrong, and how soon is a recall answered?

    python -m lab.reliability.faults [--each 6] [--others 4] [--seed 1] [--folder FOLDER]

A process works on a tenant (work.py) and says what was asked and answered. At a moment that is uniform over
the stage's length something is killed by SIGKILL (`server`: all its processes; `backend`: the one at work;
`client`: the program that asks; `upkeep`: a scheduler without a pause beside it), its connections are cut
(`link`), a disk is full (`data`, `wal`: tmpfs; root), or the server's clock jumps by days (`clock`: Debian's
libfaketime). A server that is down is started again. Then what was acknowledged is read, `check` asked, the
statistics counted anew, and answers held against those of a fresh database. After a fault of `upgrade` the
update is called again; after one of `backup` another is made and restored.

Prints a table: faults by kind and stage, how much was lost or wrong, and the seconds to the first recall that
was answered (after a full disk: from when there is room again). Ends with 1 where anything was.
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import psutil

from lab.reliability import backups, work
from lab.reliability.bed import (
    AGENT,
    KEEPER,
    MEMORY,
    PATIENCE,
    SMALL_PIECES,
    Bed,
    Databases,
    bed,
    fresh_server,
    own,
)  # fmt: skip
from lab.reliability.known import Acknowledged, Losses, judge, opened, spoken
from lab.reliability.texts import PROJECT
from lab.reliability.work import STAGES
from pgmnemo.errors import DatabaseError, RefusedError
from tests.pgmnemo.client.cutting import CuttingProxy

WORKERS = get_context("forkserver")
WORKERS.set_forkserver_preload(["lab.reliability.work"])
KILLS = ("server", "backend", "client", "upkeep")
OLDER, UPGRADED, FROM = "older", "upgraded", "0.6.1"
LATE = "afterwards"
MOST = 400  # lessons of a tenant; then the next tenant is used
FAKETIME = Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1")
JUMPS = ("+400d", "-3d", "+1d", "-400d")
CELLS = {
    **dict.fromkeys(KILLS, (*STAGES, "upgrade", "backup")),
    "link": tuple(STAGES), "data": ("load", "store", "merge", "graph"),
    "wal": ("load", "store", "merge", "graph"), "clock": ("load", "store", "supersede", "forget"),
}  # fmt: skip
Cells = list[tuple[str, str, int]]  # kind, stage, number of faults


@dataclass(frozen=True)
class FaultOutcome:
    """The result of one fault: whether it interrupted the work, and what was lost or wrong."""

    kind: str
    stage: str
    cut: bool
    verdict: Losses
    seconds: float


class FaultWorker:
    """A running process of work.py, and its output; its work has begun."""

    def __init__(self, folder: Path, *given: str, rounds: int = 1) -> None:
        self.said = folder / f"said {given[0]}"
        self.said.unlink(missing_ok=True)
        self.process = WORKERS.Process(target=work.main, args=(str(self.said), *given, rounds), daemon=True)
        self.process.start()
        deadline = time.monotonic() + 2 * PATIENCE
        while not self.says("began", "took"):
            if self.process.exitcode not in (None, 0) or time.monotonic() > deadline:
                raise SystemExit(f"the work did not begin: {self.errors}")
            time.sleep(0.002)

    @property
    def errors(self) -> str:
        """The end of its standard error."""
        return Path(f"{self.said}.errors").read_text(encoding="utf-8")[-2000:]

    def says(self, *words: str) -> bool:
        return self.said.exists() and any(line.keys() & {*words} for line in spoken(self.said))

    @property
    def over(self) -> bool:
        return self.process.exitcode is not None or self.says("took")

    def end(self, patience: float = 2 * PATIENCE) -> int:
        """Wait for the process, then kill it; return its exit code, below 0 for a signal."""
        self.process.join(patience)
        self.process.kill()
        self.process.join()
        return int(self.process.exitcode or 0)


@dataclass
class FaultCase:
    """A tenant in a database, and what was acknowledged for it."""

    tenant: str
    name: str = MEMORY
    known: Acknowledged = field(default_factory=Acknowledged)


@dataclass
class Scene:
    """The objects that a fault acts on."""

    bed: Bed
    chance: random.Random
    worker: FaultWorker
    beside: FaultWorker | None = None
    proxy: CuttingProxy | None = None
    mounts: Path | None = None
    clock: Path | None = None

    def backend(self, application: str) -> bool:
        """Kill the server process that works for an application; return whether there was one."""
        query = (
            "SELECT pid FROM pg_stat_activity WHERE application_name = %s ORDER BY state = 'active' DESC "
            "LIMIT 1"
        )
        with self.bed.databases.connect(name="postgres") as root:
            row = root.execute(query, (application,)).fetchone()
        if row is not None:
            with suppress(ProcessLookupError):  # it has ended
                os.kill(row[0], signal.SIGKILL)
        return row is not None

    def fill(self, name: str) -> None:
        """Fill up a disk until the work fails on it."""
        assert self.mounts is not None
        ballast, log = self.mounts / name / "ballast", self.bed.server.log
        before, deadline = log.stat().st_size, time.monotonic() + 30
        try:
            with suppress(OSError), ballast.open("wb", buffering=0) as file:
                while True:
                    file.write(bytes(1 << 16))
            while not (self.worker.over or self.worker.says("unanswered", "refused")):
                if time.monotonic() > deadline or b"PANIC" in log.read_bytes()[before:]:
                    break
                time.sleep(0.05)
        finally:
            ballast.unlink()


def server(scene: Scene) -> None:
    scene.bed.kill()


def backend(scene: Scene) -> None:
    scene.backend("work")


def client(scene: Scene) -> None:
    """Kill the program and its children: a surviving half of pg_basebackup would keep its connection open."""
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(scene.worker.process.pid)
        process.suspend()  # it starts no more children
        for one in (process, *process.children()):
            one.kill()


def upkeep(scene: Scene) -> None:
    """Kill the scheduler's program, or the server process that works for it."""
    assert scene.beside is not None
    if scene.chance.random() < 0.5 or not scene.backend("upkeep"):
        scene.beside.process.kill()


def link(scene: Scene) -> None:
    assert scene.proxy is not None
    scene.proxy.shut()
    scene.proxy.open()


def data(scene: Scene) -> None:
    scene.fill("data")


def wal(scene: Scene) -> None:
    scene.fill("wal")


def clock(scene: Scene) -> None:
    assert scene.clock is not None
    scene.clock.write_text(scene.chance.choice(JUMPS))


STRIKES: dict[str, Callable[[Scene], None]] = {
    one.__name__: one for one in (server, backend, client, upkeep, link, data, wal, clock)
}


@dataclass
class Site:
    """The server that suffers the faults and one that does not; `more` holds further fields of the scenes."""

    bed: Bed
    fresh: Databases
    chance: random.Random
    folder: Path
    more: dict[str, Path]
    took: dict[str, float] = field(default_factory=dict)
    runs: int = 0

    def work(self, stage: str, case: FaultCase, host: Path | None = None, rounds: int = 1) -> FaultWorker:
        self.runs += 1
        more = {"application_name": "work", **({"host": str(host)} if host else {})}
        agent, keeper = (self.bed.databases.dsn(user, case.name, **more) for user in (AGENT, KEEPER))
        given = [agent, keeper, case.tenant, f"r{self.runs}"]
        if stage == "backup":
            given[0], given[2] = self.bed.databases.dsn(name=case.name, **more), str(self.target())
        return FaultWorker(self.folder, stage, *given, rounds=rounds)

    def target(self) -> Path:
        """Return the path of this run's backup: a folder and a dump file by turns."""
        return self.folder / f"backup{self.runs}{'.dump' if self.runs % 2 else ''}"

    def whole(self, stage: str, case: FaultCase) -> float:
        """Run a stage without a fault; return its duration in seconds."""
        worker = self.work(stage, case)
        began = time.monotonic()
        if worker.end():
            raise SystemExit(f"{stage} failed: {worker.errors}")
        case.known.hear(spoken(worker.said))
        return time.monotonic() - began

    def case(self, stage: str, number: int) -> FaultCase:
        """Return a tenant that the stage `base` has filled."""
        if stage == "upgrade":
            return FaultCase("old", UPGRADED)
        made = FaultCase(f"{stage} {number}")
        self.bed.databases.grant(made.tenant)
        self.whole("base", made)
        return made

    def older(self) -> Acknowledged:
        """Create a database of an older release, to be copied; return what was acknowledged in it."""
        case = FaultCase("old", OLDER)
        self.bed.databases.install(OLDER, FROM)
        self.bed.databases.grant(case.tenant, OLDER)
        for stage in ("load", "supersede", "store"):
            self.whole(stage, case)
        return case.known

    def quiet(self) -> None:
        """Wait until the server executes none of the test's calls."""
        query = "SELECT count(*) FROM pg_stat_activity WHERE application_name IN ('work', 'upkeep')"
        with self.bed.databases.connect(name="postgres") as root:
            while root.execute(query).fetchone() != (0,):
                time.sleep(0.02)


def fault(
    site: Site, kind: str, stage: str, case: FaultCase, before: Acknowledged | None
) -> FaultOutcome | None:
    """Cause one fault and return its outcome; None if the work had ended before."""
    if stage == "upgrade":
        site.bed.databases.copy(OLDER, UPGRADED)
        case.known = deepcopy(before or Acknowledged())
    if stage not in site.took:
        site.took[stage] = site.whole(stage, case)
        return None
    with ExitStack() as stack:
        worker, scene = started(site, kind, stage, case, stack)
        time.sleep(site.chance.uniform(0, site.took[stage]))
        struck = not worker.over
        began = time.monotonic()
        STRIKES[kind](scene)
        if kind in ("data", "wal"):
            worker.process.kill()
            began = time.monotonic()
        seconds = recovered(site, case, began)
        code = worker.end()
        if scene.beside is not None:
            scene.beside.end(0)
    site.quiet()
    verdict = Losses()
    if code not in (0, -signal.SIGKILL) and stage != "backup":
        verdict.wrong.append(f"the client failed: {worker.errors}")
    said = spoken(worker.said)
    case.known.hear(said)
    cut = any(line.keys() & {"unanswered", "refused"} for line in said) or code != 0
    if stage == "upgrade":
        finish_upgrade(site, case)
    found = judge(site.bed.databases, case.name, case.tenant, case.known, site.fresh)
    verdict.lost += found.lost
    verdict.wrong += found.wrong
    if stage == "backup":
        verdict.wrong += backups.wrong(site.bed, site.fresh, site.target(), code, case)
    return FaultOutcome(kind, stage, cut, verdict, seconds) if struck else None


def started(
    site: Site, kind: str, stage: str, case: FaultCase, stack: ExitStack
) -> tuple[FaultWorker, Scene]:
    """Return the running work, and a scene with everything that this kind of fault needs."""
    beside = proxy = host = None
    if kind == "upkeep":
        folder = Path(stack.enter_context(TemporaryDirectory()))
        keeper = site.bed.databases.dsn(KEEPER, case.name, application_name="upkeep")
        beside = FaultWorker(folder, "upkeep", "", keeper, "", "")
    if kind == "link":
        host = Path(stack.enter_context(TemporaryDirectory(prefix="pgmnemo-l", dir="/tmp")))
        proxy = CuttingProxy(host, f"{site.bed.folder}/s/.s.PGSQL.5432")
        proxy.open()
        stack.callback(proxy.shut)
    worker = site.work(stage, case, host, 100 if kind in ("data", "wal") else 1)
    return worker, Scene(site.bed, site.chance, worker, beside, proxy, **site.more)


def recovered(site: Site, case: FaultCase, began: float) -> float:
    """Return the seconds until a new client's recall is answered; a server that is down is started.

    If an upgrade was interrupted, the database may still be of the older release, where lessons are counted
    instead.
    """
    while True:
        site.bed.up()
        try:
            with opened(site.bed.databases, case.name) as memory:
                project = memory.tenant(case.tenant).project(PROJECT)
                if memory.version == FROM:
                    project.count()
                else:
                    project.recall("river", k=3)
                return time.monotonic() - began
        except (DatabaseError, RefusedError):  # an upgrade that ends at this moment refuses one call
            if time.monotonic() - began > 2 * PATIENCE:
                raise
            time.sleep(0.01)


def finish_upgrade(site: Site, case: FaultCase) -> None:
    with site.bed.databases.connect(KEEPER, case.name) as keeper:
        keeper.execute("ALTER EXTENSION pgmnemo UPDATE")


def faults(site: Site, cells: Cells) -> Iterator[FaultOutcome]:
    """Yield the outcome of each fault, kind by kind in turns; check every tenant again at the end."""
    before = site.older() if any(stage == "upgrade" for _, stage, _ in cells) else None
    cases: list[FaultCase] = []
    at_work: dict[str, FaultCase] = {}
    for turn in range(max(count for *_, count in cells)):
        for kind, stage, count in cells:
            outcome = None
            while turn < count and outcome is None:
                if stage not in at_work or len(at_work[stage].known.states) > MOST:
                    at_work[stage] = site.case(stage, len(cases))
                    cases.append(at_work[stage])
                outcome = fault(site, kind, stage, at_work[stage], before)
            if outcome is not None:
                yield outcome
    for case in cases:
        if case.name == MEMORY:
            late = judge(site.bed.databases, MEMORY, case.tenant, case.known)
            yield FaultOutcome(LATE, case.tenant, False, late, 0.0)


def tell(outcome: FaultOutcome) -> None:
    told = "; ".join([*outcome.verdict.lost, *outcome.verdict.wrong][:3]) or "nothing"
    cut = "cut" if outcome.cut else "went on"
    print(
        f"{outcome.kind} {outcome.stage}: {cut}, {outcome.seconds:.2f} s, lost or wrong: {told}",
        file=sys.stderr, flush=True,
    )  # fmt: skip


@contextmanager
def mounted(folder: Path, **megabytes: int) -> Iterator[Path]:
    """Yield the folder with small mounted file systems of these names and sizes in MB."""
    with ExitStack() as stack:
        for name, size in megabytes.items():
            place = folder / name
            place.mkdir()
            options = f"size={size}m,mode=755"
            subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)], check=True)
            stack.callback(subprocess.run, ["umount", str(place)], check=True)
            (place / "kept").mkdir(mode=0o700)
            own(place / "kept")
        yield folder


@contextmanager
def ground(family: str, folder: Path, place: str | None) -> Iterator[tuple[Bed, dict[str, Path]]]:
    """Yield a server for one family of fault kinds, and the paths that its faults need."""
    with ExitStack() as stack:
        space = ""
        more: dict[str, Path] = {}
        given: dict[str, Any] = {}
        if family == "disks":
            more["mounts"] = stack.enter_context(mounted(folder, data=200, wal=80))
            given["wal"] = folder / "wal" / "kept"
        if family == "clock":
            more["clock"] = folder / "clock"
            more["clock"].write_text("+0")
            given["environ"] = {
                "LD_PRELOAD": str(FAKETIME), "FAKETIME_TIMESTAMP_FILE": str(more["clock"]),
                "FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            }  # fmt: skip
        made = stack.enter_context(bed(place, **given))
        with made.databases.connect(name="postgres") as root:
            if family == "disks":
                root.execute(f"CREATE TABLESPACE narrow LOCATION '{folder}/data/kept'")
                space = "narrow"
        made.databases.install(MEMORY, space=space)
        with made.databases.connect() as root:
            root.execute(SMALL_PIECES)
        yield made, more


def family_of(kind: str) -> str:
    return {"data": "disks", "wal": "disks", "clock": "clock"}.get(kind, "processes")


def possible(kinds: Sequence[str]) -> list[str]:
    """Return the kinds that this machine supports; print the others."""
    missing = {
        "disks": "" if os.geteuid() == 0 else "root alone mounts a small disk",
        "clock": "" if FAKETIME.exists() else "apt-get install libfaketime",
    }
    for kind in kinds:
        if why := missing.get(family_of(kind)):
            print(f"{kind} is left out: {why}", file=sys.stderr)
    return [kind for kind in kinds if not missing.get(family_of(kind))]


def run(cells: Cells, seed: int, place: str | None = None) -> list[FaultOutcome]:
    """Return the outcomes of all faults, with a separate server for each family; Ctrl-C ends the run."""
    found: list[FaultOutcome] = []
    with suppress(KeyboardInterrupt), fresh_server() as fresh:
        for family in dict.fromkeys(family_of(kind) for kind, _, _ in cells):
            with TemporaryDirectory(prefix="pgmnemo-faults-", dir=place) as name:
                folder = Path(name)
                folder.chmod(0o755)
                with ground(family, folder, place) as (made, more):
                    site = Site(made, fresh, random.Random(seed), folder, more)
                    for outcome in faults(site, [cell for cell in cells if family_of(cell[0]) == family]):
                        tell(outcome)
                        found.append(outcome)
    return found


def table(found: Sequence[FaultOutcome]) -> Iterator[str]:
    """Yield the lines of a Markdown table with a row for each stage and a column for each kind."""
    kinds = [kind for kind in CELLS if any(one.kind == kind for one in found)]
    stages = [stage for stage in (*STAGES, "upgrade", "backup") if any(one.stage == stage for one in found)]
    yield f"| | {' | '.join(kinds)} | cut short | lost | wrong | seconds, median | longest |"
    yield f"|---{'|--:' * (len(kinds) + 5)}|"
    for title, some in [
        *((stage, [one for one in found if one.stage == stage]) for stage in stages), ("all", found)
    ]:  # fmt: skip
        counts = [sum(one.kind == kind for one in some) for kind in kinds]
        yield "| " + " | ".join([title, *map(str, counts), *figures(some)]) + " |"
    yield "| seconds, median | " + " | ".join(
        f"{median(one.seconds for one in found if one.kind == kind):.1f}" for kind in kinds
    ) + " | | | | | |"  # fmt: skip


def figures(some: Sequence[FaultOutcome]) -> list[str]:
    seconds = [one.seconds for one in some if one.kind != LATE]
    return [
        str(sum(one.cut for one in some)), str(sum(len(one.verdict.lost) for one in some)),
        str(sum(len(one.verdict.wrong) for one in some)), f"{median(seconds):.1f}", f"{max(seconds):.1f}",
    ]  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the faults and print the table; return 1 if something was lost or wrong."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--each", type=int, default=6, help="kills of each kind in each stage")
    parser.add_argument("--others", type=int, default=4, help="other faults of each kind in each stage")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", help="where the server makes its own, else among temporary ones")
    parser.add_argument("--only", nargs="*", default=list(CELLS), choices=list(CELLS), metavar="KIND")
    every = [*STAGES, "upgrade", "backup"]
    parser.add_argument("--stages", nargs="*", default=every, choices=every, metavar="STAGE")
    given = parser.parse_args(arguments)
    for number in (signal.SIGINT, signal.SIGTERM):  # the table so far, and no server is left behind
        signal.signal(number, signal.default_int_handler)
    began = time.monotonic()
    cells = [
        (kind, stage, given.each if kind in KILLS else given.others)
        for kind in possible(given.only)
        for stage in CELLS[kind]
        if stage in given.stages
    ]
    found = run(cells, given.seed, given.folder)
    print(*table(found), sep="\n")
    print(
        f"\nn = {sum(one.kind != LATE for one in found)} faults, seed {given.seed}, "
        f"{(time.monotonic() - began) / 60:.0f} minutes; "
        f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {platform.machine()}"
    )
    return int(any(one.verdict for one in found))


if __name__ == "__main__":
    sys.exit(main())
