"""Test moves of tenants under concurrent writers and kills, and count lost writes.

Every writer records each acknowledged write, and reads it again during the moves. A mover is a separate
process, which reports each step before it begins. Some milliseconds after a reported step, the test kills the
mover by SIGKILL, or all processes of the router, the source or the target, or one connection of the mover.
The servers write to disk as by default. Then `recover` ends the move. At the end all stored lessons are
compared with all acknowledged writes.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice, product
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Event, Lock, Thread
from uuid import UUID, uuid4

import psutil
import psycopg
from psycopg import errors
from psycopg.types.json import Jsonb

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
from pgmnemo.client.retries import is_rolled_back
from pgmnemo.errors import CheckError, DatabaseError, PgmnemoError
from pgmnemo.postgres.connections import connect
from pgmnemo.postgres.server_checks import Session, value
from pgmnemo_shards import local, moving, replication
from pgmnemo_shards.installing import open_operator
from pgmnemo_shards.local import Local

STEPS = moving.STEPS[:-1]
VICTIMS = ("mover", "router", "source", "target", "connection")
SHARDS = ("shard1", "shard2", "shard3")
PROJECT = UUID(int=1)
LOGIN, MOVER = "tortured", "mover"
TENANTS, WRITERS, BEFORE = 6, 4, 40
MAX_KEYS = 60  # most keys of a writer in a tenant, so that moves do not become slow
SET_HNSW_MINIMUM = "ALTER ROLE {} SET pgmnemo.hnsw_min_vectors = 100"  # so that tenants have HNSW indexes
FOUND = ("external_id", "content", "lesson_id")
PLACE = "SELECT shard FROM directory.tenant WHERE tenant_id = %s"
TERMINATE_MOVER = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '{MOVER}'"
HELD = ("external_id", "content", "id")
MARKS_LEFT = "SELECT tenant_id::text FROM pgmnemo_shard.mark"
MAX_TRIES = 5000
PAUSE = 0.05  # seconds between two calls of a writer, so that the machine has time for the moves
KILL_DELAYS = (
    0.0,
    0.008,
    0.04,
)  # seconds after a reported step: at once, or as long as a switch takes on an idle or a busy machine
RESTART_TIMEOUT = 600.0  # seconds for the restart of a killed server, on a busy machine
SETTLE_SECONDS = 0.2  # seconds after which an interrupted call has ended on its shard
AS_OF = datetime(2026, 1, 1, tzinfo=UTC)
FORKS = multiprocessing.get_context("forkserver")


@dataclass
class Tally:
    """The counts of a test; `wrong` contains a sentence for each fault, and should be empty."""

    calls: int = 0
    repeated: int = 0  # calls that met a retryable error
    max_tries: int = 0  # most retryable errors of one call, without a kill
    longest: float = 0.0  # seconds of the longest call, without a kill
    longest_killed: float = 0.0
    cut: int = 0  # calls without an answer, since a server was killed
    moved: int = 0
    timed_out: int = 0  # moves that timed out before a kill
    killed: Counter[tuple[str, str]] = field(default_factory=Counter)  # by victim and step
    finished: Counter[tuple[str, str]] = field(default_factory=Counter)  # killed moves that ended as moved
    recovered: int = 0  # moves ended by `recover` or the next move, not by their movers
    compared: int = 0  # answers before and after a move
    seconds: float = 0.0  # of the moves, without start and stop of the cluster
    wrong: list[str] = field(default_factory=list)
    lock: Lock = field(default_factory=Lock)


@dataclass
class Known:
    """The texts and ids that the database acknowledged to one writer, by key, in one tenant.

    No other writer uses these keys.
    """

    text: dict[str, str] = field(default_factory=dict)
    number: dict[str, int] = field(default_factory=dict)


class Writer(Thread):
    """A thread that stores, changes, links, forgets and recalls in random tenants until `end` is set."""

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
                self.act(tenant, self.known[tenant])
        except Exception as error:
            self.wrong(f"a call failed: {type(error).__name__}: {str(error).splitlines()[0]}")
        finally:
            self.client.close()

    def act(self, tenant: UUID, known: Known) -> None:
        draw, keys = self.chance.random(), list(known.text)
        if (draw < 0.5 and len(keys) < MAX_KEYS) or len(keys) < 3:
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
            self.recall_and_check(tenant, known, self.chance.choice(keys))

    def store(self, tenant: UUID, known: Known, key: str, version: int) -> None:
        text = f"{key} is a lesson of version {version}"
        vector = [1.0, version / 10, len(known.text) / 100]
        call = store(
            tenant, PROJECT, key, text, commit_sha="c0ffee", embedding=vector,
            metadata=Jsonb({"version": version}), passages=[key, f"version {version}"],
        )  # fmt: skip
        self.call(tenant, call)
        known.text[key] = text

    def recall_and_check(self, tenant: UUID, known: Known, key: str) -> None:
        found = {row[0]: row for row in self.call(tenant, recall(tenant, query_text=key, k=5, columns=FOUND))}
        if key not in found:
            self.wrong(f"{key} of {tenant} was acknowledged and is not recalled")
        elif found[key][1] != known.text[key]:
            self.wrong(f"{key} of {tenant} is stale: {found[key][1]!r} for {known.text[key]!r}")
        elif known.number.setdefault(key, found[key][2]) != found[key][2]:
            self.wrong(f"{key} of {tenant} has another id than before")

    def call(self, tenant: UUID, call: Call[Answer]) -> Answer:
        """Return the acknowledged answer of a call; repeat the call while the tenant moves or a server is
        down.
        """
        began, tries, cut, killed = time.perf_counter(), 0, False, tenant in self.broken
        while True:
            try:
                answer = execute(self.client, call)
                break
            except errors.SerializationFailure:
                tries, killed = tries + 1, killed or tenant in self.broken
                if tries > MAX_TRIES:
                    raise
                if tries > 1:
                    time.sleep(0.01)
            except (psycopg.OperationalError, errors.InternalError_) as error:
                lost = isinstance(error, psycopg.OperationalError) or "onnect" in str(error)
                undone = not lost and is_rolled_back(error)  # by the end of another tenant's move
                if not (lost or undone) or time.perf_counter() > began + RESTART_TIMEOUT:
                    raise
                if undone:
                    continue
                cut = killed = True
                self.reconnect()
        if cut:
            time.sleep(SETTLE_SECONDS)
        self.count(tries, time.perf_counter() - began, killed or tenant in self.broken, cut)
        return answer

    def reconnect(self) -> None:
        deadline = time.monotonic() + RESTART_TIMEOUT
        self.client.close()
        while True:
            time.sleep(0.05)
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
                tally.max_tries, tally.longest = max(tally.max_tries, tries), max(tally.longest, seconds)

    def wrong(self, sentence: str) -> None:
        with self.tally.lock:
            self.tally.wrong.append(sentence)


def run_chaos(folder: Path, moves: int, killed: int, seed: int, routers: int = 0) -> Tally:
    """Make `moves` moves under writers on a new cluster in `folder`, and return the counts.

    In `killed` of them one of VICTIMS is killed at one of STEPS, and all pairs take turns. In `routers`
    further moves the router is killed at the switch, every other time together with its mover.
    """
    site = local.up(folder, 3)
    try:
        return _run(site, moves, killed, routers, random.Random(seed))
    finally:
        local.down(folder)


def _run(site: Local, moves: int, killed: int, routers: int, chance: random.Random) -> Tally:
    tally, broken, end = Tally(), set[UUID](), Event()
    tenants = [uuid4() for _ in range(TENANTS)]
    for name in (*SHARDS, "router"):
        with open_operator(site.conninfo(name)) as session:
            session.execute(SET_HNSW_MINIMUM.format("CURRENT_USER").encode())
    with open_operator(site.conninfo()) as router:
        router.execute("SELECT pgmnemo.create_login(%s)", (LOGIN,))
        router.execute(SET_HNSW_MINIMUM.format(LOGIN).encode())
        for tenant in tenants:
            execute(router, grant_tenant(tenant, LOGIN))
    writers = [Writer(place, tenants, site, tally, broken, end) for place in range(WRITERS)]
    for writer in writers:
        for tenant in tenants:
            for n in range(BEFORE // WRITERS):
                writer.store(tenant, writer.known[tenant], f"{writer.name}b{n}", 1)
    FORKS.set_forkserver_preload([__name__])
    with _running(writers, end):
        began = time.perf_counter()
        for victim, step in _plan(moves, killed, routers, chance):
            _move(site, chance, tenants, victim, step, tally, broken)
        tally.seconds = time.perf_counter() - began
    with open_operator(site.conninfo()) as router:
        moving.recover(router)
        _compare(site, router, tenants, writers, tally)
        for tenant in tenants:
            _compare_answers(site, router, tenant, writers, tally)
    return tally


def _plan(moves: int, killed: int, routers: int, chance: random.Random) -> list[tuple[str, str]]:
    """Return the victim and the step of each move, in random order; the victim is "" for a move without a
    kill.
    """
    everyone = list(product(VICTIMS, STEPS))
    chance.shuffle(everyone)
    fatal = [everyone[n % len(everyone)] for n in range(killed)]
    fatal += [("router", "switch"), ("router and mover", "switch")] * (routers // 2)
    fatal += [("router", "switch")] * (routers % 2) + [("", "done")] * (moves - killed - routers)
    chance.shuffle(fatal)
    return fatal


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


def mover(conninfo: dict[str, str], tenant: UUID, target: str, told: Connection) -> None:
    """Move a tenant, in a separate process, and send each step over the connection."""
    os.environ["PGAPPNAME"] = MOVER
    with suppress(BrokenPipeError):
        try:
            with open_operator(conninfo) as router:
                moving.move(router, tenant, target, told.send)
        except (PgmnemoError, psycopg.Error) as error:
            told.send(f"failed: {error}")


def _move(
    site: Local, chance: random.Random, tenants: list[UUID], victim: str, step: str, tally: Tally,
    broken: set[UUID],
) -> None:  # fmt: skip
    """Move a random tenant, kill `victim` at `step`, recover the move, and count its outcome."""
    tenant = chance.choice(tenants)
    with open_operator(site.conninfo()) as router:
        source = value(router, PLACE, tenant)
    target = chance.choice([name for name in SHARDS if name != source])
    hit = {tenant} if victim in ("mover", "connection") else set(tenants) if victim else set()
    broken |= hit
    heard, told = FORKS.Pipe(duplex=False)
    process = FORKS.Process(target=mover, args=(site.conninfo(), tenant, target, told), daemon=True)
    process.start()
    told.close()
    if victim:
        servers = {"router": "router", "router and mover": "router", "source": source, "target": target}
        last = _kill(site, chance, process, heard, servers, victim, step)
    else:
        last = _wait_for_step(heard, step)
    process.join(2 * RESTART_TIMEOUT)
    with open_operator(site.conninfo()) as router:
        left = bool(value(router, "SELECT count(*) FROM directory.move"))
        outcomes = [outcome for _, outcome in moving.recover(router, tenant)]
        switched = value(router, PLACE, tenant) == target
    with tally.lock:
        timed_out = last != step
        if timed_out and "nothing was moved" not in last:
            tally.wrong.append(f"a move ended before {step}: {last}")
        tally.timed_out += timed_out
        tally.moved += not victim and not timed_out
        if victim and not timed_out:
            tally.killed[victim, step] += 1
            tally.finished[victim, step] += switched
        tally.recovered += left
        tally.wrong += [
            f"a move that was cut short was left {found}"
            for found in outcomes
            if found not in ("moved", "undone")
        ]
    time.sleep(0.05)
    broken -= hit


def _wait_for_step(heard: Connection, step: str) -> str:
    """Wait until the mover reports `step` or ends; return its last report."""
    word = ""
    with suppress(EOFError):
        while word != step:
            word = heard.recv()
    return word


def _kill(
    site: Local, chance: random.Random, process: BaseProcess, heard: Connection, servers: dict[str, str],
    victim: str, step: str,
) -> str:  # fmt: skip
    """Kill a victim some milliseconds after a step; return the last reported step.

    A killed server is started again.
    """
    server = servers.get(victim)
    last = _wait_for_step(heard, "copy")
    victims = local.processes(site, server) if server else []  # listing takes longer than a switch
    with open_operator(
        site.conninfo(chance.choice(["router", servers["source"], servers["target"]]))
    ) as other:
        last = _wait_for_step(heard, step) if step != "copy" else last
        time.sleep(chance.random() * chance.choice(KILL_DELAYS))
        if server:
            local.kill(site, server, victims)
        elif victim == "connection":
            other.execute(TERMINATE_MOVER.encode())
        if "mover" in victim:
            process.kill()
    if server:
        _end_new_processes(site, server)
        _start(site, server)
    return last


def _start(site: Local, server: str) -> None:
    deadline = time.monotonic() + RESTART_TIMEOUT
    while True:
        try:
            return local.start(site, server)
        except DatabaseError:  # its recovery took longer than the limit of a start
            if time.monotonic() > deadline:
                raise


def _end_new_processes(site: Local, server: str) -> None:
    """Kill those processes of a killed server that were started after the list of its processes was made."""
    data = str((site.folder / server / "data").resolve())
    while left := [process for process in psutil.process_iter() if _folder(process) == data]:
        for process in left:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(left, timeout=5)


def _folder(process: psutil.Process) -> str:
    with suppress(psutil.Error):
        return str(process.cwd())
    return ""


def _compare(site: Local, router: Session, tenants: list[UUID], writers: list[Writer], tally: Tally) -> None:
    """Compare the stored lessons on every shard with the acknowledged lessons."""
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
    for name in SHARDS:
        with open_operator(site.conninfo(name)) as shard:
            for number, tenant in shard.execute("SELECT id, tenant_id FROM pgmnemo.lesson").fetchall():
                if owners[tenant] != name:
                    tally.wrong.append(f"lesson {number} of {tenant} lies on {name}, not on {owners[tenant]}")
                if places.setdefault(number, name) != name:
                    tally.wrong.append(f"lesson {number} lies on {places[number]} and {name}")
            for query in (replication.LEFTOVERS, MARKS_LEFT):
                tally.wrong += [f"{row[0]} is left on {name}" for row in shard.execute(query.encode())]
    tally.wrong += [
        f"move of {row[0]} is left" for row in router.execute("SELECT tenant_id FROM directory.move")
    ]


def _compare_answers(site: Local, router: Session, tenant: UUID, writers: list[Writer], tally: Tally) -> None:
    """Move the tenant once more, and record a fault if its answers differ afterwards."""
    keys = [key for writer in writers for key in islice(writer.known[tenant].text, 5)]
    here = value(router, PLACE, tenant)

    def answers() -> list[object]:
        with connect({**site.conninfo(), "user": LOGIN}) as client:
            vector = [1.0, 0.3, 0.1]
            asked = [
                recall(tenant, embedding=vector, query_text=f"{key} version 2", k=20, as_of=AS_OF)
                for key in keys
            ]
            return [execute(client, call) for call in asked]

    before = answers()
    moving.move(router, tenant, next(name for name in SHARDS if name != here))
    tally.compared += len(keys)
    if answers() != before:
        tally.wrong.append(f"tenant {tenant} answers otherwise after a move")


def report(tally: Tally) -> str:
    """Return the counts as text; raise CheckError if there is a fault."""
    if tally.wrong:
        first = "; ".join(sorted(set(tally.wrong), key=tally.wrong.index)[:5])
        raise CheckError(f"{len(tally.wrong)} things are wrong, the first: {first}")
    kills = sum(tally.killed.values())
    switches = sum(count for (_, step), count in tally.killed.items() if step == "switch")
    lines = [
        f"{tally.moved} moves done, {tally.timed_out} given up for want of time, {kills} killed ({switches} "
        f"at the switch): {sum(tally.finished.values())} of these ended as moved, the others undone; "
        f"{tally.recovered} by recover, the rest by their movers",
        f"{tally.calls:,} acknowledged calls, {tally.repeated} of them repeated for a move, {tally.cut} for "
        f"a killed server; at most {tally.max_tries} retryable error a call where nothing was killed",
        f"longest call {tally.longest * 1000:,.0f} ms; of a tenant whose mover or server was killed "
        f"{tally.longest_killed * 1000:,.0f} ms",
        f"nothing lost, doubled, stale or on two shards, no slot left; check is clean; {tally.compared} "
        f"answers as before a move; {tally.seconds:,.0f} s",
    ]
    return "\n".join([*lines, *(_table(tally) if kills else ())])


def _table(tally: Tally) -> list[str]:
    """Return a table of the kills by victim and step, with the number that ended as moved in brackets."""
    victims = [
        victim for victim in (*VICTIMS, "router and mover") if any(v == victim for v, _ in tally.killed)
    ]
    rows = [["", *victims]]
    for step in STEPS:
        keys = [(victim, step) for victim in victims]
        rows.append([step, *(f"{tally.killed[key]} ({tally.finished[key]})" for key in keys)])
    return ["", *("| " + " | ".join(row) + " |" for row in [rows[0], ["---"] * len(rows[0]), *rows[1:]])]
