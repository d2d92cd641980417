"""Moves tenants under writers, kills movers and routers, and counts what was lost: nothing, or it fails.

Every writer keeps what was acknowledged to it, and asks for it again while the moves go on. A mover is a
command of its own (`python -m shards move`), killed by SIGKILL at a random moment of a random step; `recover`
follows. The router is killed at the switch, when nobody but itself knows whether it has committed; every
other time its mover is killed with it.
"""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Lock, Thread
from uuid import UUID, uuid4

import psycopg
from psycopg import errors

from pgmnemo.calls import (
    Answer,
    Call,
    check,
    execute,
    forget,
    grant_tenant,
    link,
    list_lessons,
    recall,
    store,
)
from pgmnemo.errors import CheckError, DatabaseError
from pgmnemo.server.connections import connect
from pgmnemo.server.server_checks import Session, value
from shards import local, moving
from shards.installing import open_operator
from shards.local import Local

STEPS = (
    "copy", "hold the writers", "copy the rest", "compare", "close the source", "switch", "open the target",
    "clear the source",
)  # fmt: skip
PROJECT = UUID(int=1)
LOGIN = "tortured"
TENANTS, WRITERS, BEFORE = 6, 4, 40
FOUND = ("external_id", "content", "lesson_id")
PLACE = "SELECT shard FROM directory.tenant WHERE tenant_id = %s"
HELD = ("external_id", "content", "id")
MOST_TRIES = 5000
PAUSE = 0.02  # seconds between two calls of a writer, so that the machine has time for the moves
AT_THE_SWITCH = (0.008, 0.04)  # seconds within which a router has switched: a quiet machine's, a busy one's
LONGEST_AWAY = 60.0  # seconds that a killed router takes to come back
SETTLED = 0.2  # seconds after which a call that was cut off is at work on its shard no more


@dataclass
class Tally:
    """What happened; `wrong` are sentences, and there should be none."""

    calls: int = 0
    repeated: int = 0  # calls that met a retryable error
    most: int = 0  # such errors of one call, where no mover had been killed
    longest: float = 0.0  # seconds that one call took, where nothing had been killed
    longest_killed: float = 0.0
    cut: int = 0  # calls that the router did not answer, since it was killed
    moved: int = 0
    killed: int = 0
    undone: int = 0
    finished: int = 0
    routers: int = 0  # killed
    committed: int = 0  # of them when they had committed the switch
    recovered: int = 0  # of these moves by `recover`; the others their movers ended
    seconds: float = 0.0  # of the moves, without up and down
    wrong: list[str] = field(default_factory=list)
    lock: Lock = field(default_factory=Lock)


@dataclass
class Known:
    """What one writer was told is stored in one tenant: text and id by key. Nobody else writes these keys."""

    text: dict[str, str] = field(default_factory=dict)
    number: dict[str, int] = field(default_factory=dict)


class Writer(Thread):
    """Stores, changes, links, forgets and recalls, tenant by tenant, until told to end."""

    def __init__(
        self, place: int, tenants: list[UUID], site: Local, tally: Tally, broken: set[UUID], end: Event
    ) -> None:
        super().__init__(daemon=True)
        self.chance = random.Random(place)
        self.name, self.tenants, self.tally = f"w{place}", tenants, tally
        self.broken, self.end = broken, end
        self.known = {tenant: Known() for tenant in tenants}
        self.conninfo = {**site.conninfo(), "user": LOGIN}
        self.client = connect(self.conninfo)
        self.made = 0

    def run(self) -> None:
        try:
            while not self.end.is_set():
                time.sleep(PAUSE)
                tenant = self.chance.choice(self.tenants)
                self.one(tenant, self.known[tenant])
        except Exception as error:
            self.wrong(f"a call failed: {type(error).__name__}: {str(error).splitlines()[0]}")
        finally:
            self.client.close()

    def one(self, tenant: UUID, known: Known) -> None:
        draw, keys = self.chance.random(), list(known.text)
        if draw < 0.5 or len(keys) < 3:
            self.made += 1
            self.store(tenant, known, f"{self.name}n{self.made}", 1)
        elif draw < 0.65:
            key = self.chance.choice(keys)
            self.store(tenant, known, key, 1 + int(known.text[key].rpartition(" ")[2]))
        elif draw < 0.72:
            source, target = self.chance.sample(keys, 2)
            self.call(tenant, link(tenant, PROJECT, source, target, "follows"))
        elif draw < 0.8:
            key = self.chance.choice(keys)
            self.call(tenant, forget(tenant, PROJECT, key, hard=True))
            del known.text[key]
            known.number.pop(key, None)
        else:
            self.look(tenant, known, self.chance.choice(keys))

    def store(self, tenant: UUID, known: Known, key: str, version: int) -> None:
        text = f"{key} is a lesson of version {version}"
        self.call(tenant, store(tenant, PROJECT, key, text, commit_sha="c0ffee"))
        known.text[key] = text

    def look(self, tenant: UUID, known: Known, key: str) -> None:
        found = {row[0]: row for row in self.call(tenant, recall(tenant, query_text=key, k=5, columns=FOUND))}
        if key not in found:
            self.wrong(f"{key} of {tenant} was acknowledged and is not recalled")
        elif found[key][1] != known.text[key]:
            self.wrong(f"{key} of {tenant} is stale: {found[key][1]!r} for {known.text[key]!r}")
        elif known.number.setdefault(key, found[key][2]) != found[key][2]:
            self.wrong(f"{key} of {tenant} has another id than before")

    def call(self, tenant: UUID, call: Call[Answer]) -> Answer:
        """One acknowledged call; repeated while the tenant is on its way, or the router away."""
        began, tries, cut, killed = time.perf_counter(), 0, False, tenant in self.broken
        while True:
            try:
                answer = execute(self.client, call)
                break
            except errors.SerializationFailure:
                tries, killed = tries + 1, killed or tenant in self.broken
                if tries > MOST_TRIES:
                    raise
                if tries > 1:
                    time.sleep(0.01)
            except psycopg.OperationalError:
                cut = killed = True
                self.reconnect()
        if cut:
            time.sleep(SETTLED)
        self.count(tries, time.perf_counter() - began, killed or tenant in self.broken, cut)
        return answer

    def reconnect(self) -> None:
        deadline = time.monotonic() + LONGEST_AWAY
        while True:
            time.sleep(0.02)
            try:
                self.client = connect(self.conninfo)
                return
            except DatabaseError:
                if time.monotonic() > deadline:
                    raise

    def count(self, tries: int, seconds: float, killed: bool, cut: bool) -> None:
        tally = self.tally
        with tally.lock:
            tally.calls += 1
            tally.repeated += tries > 0
            tally.cut += cut
            if killed:
                tally.longest_killed = max(tally.longest_killed, seconds)
            else:
                tally.most, tally.longest = max(tally.most, tries), max(tally.longest, seconds)

    def wrong(self, sentence: str) -> None:
        with self.tally.lock:
            self.tally.wrong.append(sentence)


def torture(folder: Path, moves: int, killed: int, seed: int, routers: int = 0) -> Tally:
    """`moves` moves under writers on a cluster of its own in `folder`; so many movers and routers are killed.

    Where routers are, the servers write to disk as they do by default; else they do not, which is faster.
    """
    site = local.up(folder, 3, volatile=not routers)
    try:
        return _torture(site, moves, killed, routers, random.Random(seed))
    finally:
        local.down(folder)


def _torture(site: Local, moves: int, killed: int, routers: int, chance: random.Random) -> Tally:
    tally, broken, end = Tally(), set[UUID](), Event()
    tenants = [uuid4() for _ in range(TENANTS)]
    with open_operator(site.conninfo()) as router:
        router.execute("SELECT pgmnemo.create_login(%s)", (LOGIN,))
        for tenant in tenants:
            execute(router, grant_tenant(tenant, LOGIN))
    writers = [Writer(place, tenants, site, tally, broken, end) for place in range(WRITERS)]
    for writer in writers:
        for tenant in tenants:
            for n in range(BEFORE // WRITERS):
                writer.store(tenant, writer.known[tenant], f"{writer.name}b{n}", 1)
    with _running(writers, end):
        began = time.perf_counter()
        fatal = chance.sample(range(moves), killed + routers)
        doomed = dict.fromkeys(fatal[:killed], "mover") | dict.fromkeys(fatal[killed:], "router")
        for number in range(moves):
            _move(site, chance, chance.choice(tenants), doomed.get(number, ""), tally, broken)
        tally.seconds = time.perf_counter() - began
    with open_operator(site.conninfo()) as router:
        _compare(site, router, tenants, writers, tally)
    return tally


@contextmanager
def _running(writers: list[Writer], end: Event) -> Iterator[None]:
    for writer in writers:
        writer.start()
    try:
        yield
    finally:
        end.set()
        for writer in writers:
            writer.join()


def _move(
    site: Local, chance: random.Random, tenant: UUID, doomed: str, tally: Tally, broken: set[UUID]
) -> None:
    """One move; `doomed`: whether its mover or the router is killed meanwhile, or neither."""
    with open_operator(site.conninfo()) as router:
        here = value(router, PLACE, tenant)
    target = chance.choice([name for name in ("shard1", "shard2", "shard3") if name != here])
    command = [sys.executable, "-m", "shards", "move", str(tenant), target, "--folder", str(site.folder)]
    mover = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if not doomed:
        told = mover.communicate()[1]
        if mover.returncode:
            tally.wrong.append(f"a move failed: {told.strip().splitlines()[-1]}")
        tally.moved += not mover.returncode
        return
    if doomed == "mover":
        _until(mover, chance.choice(STEPS))
        time.sleep(chance.random() * 0.02)
        broken.add(tenant)
        mover.kill()
    else:
        broken.add(tenant)
        _kill_router(site, mover, chance)
    mover.communicate()
    with open_operator(site.conninfo()) as router:
        outcomes = [outcome for _, outcome in moving.recover(router, tenant)]
        switched = value(router, PLACE, tenant) == target
    with tally.lock:
        if doomed == "mover":
            tally.killed += 1
            tally.undone += not switched
            tally.finished += switched
        else:
            tally.routers += 1
            tally.committed += switched
            tally.recovered += len(outcomes)
        tally.wrong += [
            f"a move that was cut short was left {found}"
            for found in outcomes
            if found not in ("moved", "undone")
        ]
    time.sleep(0.05)
    broken.discard(tenant)


def _until(mover: subprocess.Popen[str], step: str) -> None:
    """Wait until the mover says that it takes this step."""
    assert mover.stderr is not None
    for line in mover.stderr:
        if line.strip() == step:
            break


def _kill_router(site: Local, mover: subprocess.Popen[str], chance: random.Random) -> None:
    """Within some milliseconds of the switch; every other time with the mover. It is up again afterwards."""
    _until(mover, "copy")
    victims = local.processes(site, "router")  # to find them takes longer than to switch
    _until(mover, "switch")
    time.sleep(chance.random() * chance.choice(AT_THE_SWITCH))
    local.kill(site, "router", victims)
    if chance.random() < 0.5:
        mover.kill()
    local.start(site, "router")


def _compare(site: Local, router: Session, tenants: list[UUID], writers: list[Writer], tally: Tally) -> None:
    """What is stored against what was acknowledged, on every shard."""
    with connect({**site.conninfo(), "user": LOGIN}) as client:
        for tenant in tenants:
            try:
                rows = execute(client, list_lessons(tenant, HELD))
            except psycopg.Error as error:
                tally.wrong.append(f"tenant {tenant} is lost: {str(error).splitlines()[0]}")
                continue
            held = {key: text for key, text, _ in rows}
            wanted = {key: text for writer in writers for key, text in writer.known[tenant].text.items()}
            numbers = {
                key: number for writer in writers for key, number in writer.known[tenant].number.items()
            }
            tally.wrong += [f"{key} of {tenant} is lost" for key in wanted.keys() - held.keys()]
            tally.wrong += [f"{key} of {tenant} is there again" for key in held.keys() - wanted.keys()]
            tally.wrong += [
                f"{key} of {tenant} is stale"
                for key in wanted.keys() & held.keys()
                if wanted[key] != held[key]
            ]
            tally.wrong += [
                f"{key} of {tenant} has another id" for key, _, n in rows if numbers.get(key, n) != n
            ]
            tally.wrong += [f"check: {row}" for row in execute(client, check(tenant))]
    places: dict[int, str] = {}
    owners = dict(router.execute("SELECT tenant_id, shard FROM directory.tenant").fetchall())
    for name in ("shard1", "shard2", "shard3"):
        with open_operator(site.conninfo(name)) as shard:
            for number, tenant in shard.execute("SELECT id, tenant_id FROM pgmnemo.lesson").fetchall():
                if owners[tenant] != name:
                    tally.wrong.append(f"lesson {number} of {tenant} lies on {name}, not on {owners[tenant]}")
                if places.setdefault(number, name) != name:
                    tally.wrong.append(f"lesson {number} lies on {places[number]} and {name}")
    tally.wrong += [
        f"move of {row[0]} is left" for row in router.execute("SELECT tenant_id FROM directory.move")
    ]


def report(tally: Tally) -> str:
    """The figures; CheckError where anything is wrong."""
    if tally.wrong:
        raise CheckError(f"{len(tally.wrong)} things are wrong, the first: {tally.wrong[0]}")
    lines = [
        f"{tally.moved} moves done, {tally.killed} movers killed ({tally.undone} undone, "
        f"{tally.finished} finished by recover)",
        f"{tally.calls:,} acknowledged calls, {tally.repeated} of them repeated; at most {tally.most} "
        "retryable error a call where nothing was killed",
        f"longest call {tally.longest * 1000:,.0f} ms; of a tenant whose mover or router was killed "
        f"{tally.longest_killed * 1000:,.0f} ms",
        f"nothing lost, doubled, stale or on two shards; check is clean; {tally.seconds:,.0f} s",
    ]
    if tally.routers:
        lines.insert(
            1,
            f"{tally.routers} routers killed at the switch, {tally.committed} of which had committed it "
            f"({tally.routers - tally.recovered} moves ended by their movers, {tally.recovered} by recover); "
            f"{tally.cut} calls cut off and repeated",
        )
    return "\n".join(lines)
