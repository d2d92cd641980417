"""One stage of work on one tenant, in a process that logs each call and its answer.

Each line is JSON: {"asks": …} before a call, with the state of every key after it; then {"answers": …},
{"unanswered": …} if the effect is unknown, or {"refused": …} if nothing was done. {"began": …} separates the
preparation of the stage from its work, and {"took": …} is the last line.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo

from lab.reliability.bed import bin_folder
from lab.reliability.texts import (
    ENDED,
    EXACT,
    FORGOTTEN,
    HOLDS,
    LATER,
    LIMIT,
    PROJECT,
    State,
    moment,
    set_limit,
    signs,
    text_of,
)
from pgmnemo import Item, Memory, calls, probe
from pgmnemo.client.naming import tenant_id
from pgmnemo.errors import LostError, PgmnemoError

# The client no longer opens the older release, although the stages can write to it.
probe.MIN_VERSION = "0.6.1"


def say(**line: object) -> None:
    os.write(1, (json.dumps(line) + "\n").encode())


class RefusedCall(Exception):
    """The memory refuses a call, and the work ends."""


def ask(after: Mapping[str, State | None], do: Callable[[], Any], new: str | None = None) -> None:
    """Make one call, and log the state that its keys should have after it.

    `new` is a text whose key the answer gives.
    """
    say(asks=after, new=new)
    try:
        answer = do()
    except (LostError, psycopg.OperationalError) as error:
        say(unanswered=str(error))
    except PgmnemoError as error:
        say(refused=str(error))
        raise RefusedCall from None
    else:
        say(answers=getattr(answer, "key", None))


class TenantWork:
    """A memory's scope, the owner's DSN, and names for the lessons of a run."""

    def __init__(self, agent: str, keeper: str, tenant: str, limit: int) -> None:
        dsn = make_conninfo(agent, options=set_limit(limit))
        self.memory = Memory.open(dsn, embedder=signs, connections=1, retry_timeout=60)
        self.tenant = tenant_id(tenant)
        self.scope = self.memory.tenant(tenant).project(PROJECT)
        self.keeper, self.run, self.made = keeper, "", 0

    def new(self, count: int) -> list[str]:
        """Return `count` new keys, which are also tokens."""
        self.made += count
        return [f"{self.run}n{n}" for n in range(self.made - count, self.made)]

    def add_many(self, keys: Sequence[str], version: int = 1) -> None:
        texts = {key: text_of(key, version) for key in keys}
        items = [Item(text, key, topic=self.run, at=moment(key)) for key, text in texts.items()]
        ask({key: (text, HOLDS) for key, text in texts.items()}, lambda: self.scope.add_many(items))

    def add(self, key: str, version: int = 1) -> None:
        text = text_of(key, version)
        ask({key: (text, HOLDS)}, lambda: self.scope.add(text, key=key, topic=self.run, at=moment(key)))

    def turn(self, token: str) -> None:
        """Add a turn of a conversation; the memory chooses its key."""
        text = text_of(token)
        ask({}, lambda: self.scope.add(text, role="user", at=moment(token)), text)

    def send(self, call: calls.Call[Any]) -> None:
        """Make a call that changes no lesson, and that the client has no verb for."""
        ask({}, lambda: self.scope._call(call))

    def owner(self) -> psycopg.Connection[Any]:
        return psycopg.connect(self.keeper, autocommit=True, options=set_limit(LIMIT))


def load(work: TenantWork) -> None:
    began()
    for _ in range(4):
        work.add_many(work.new(25))


def store(work: TenantWork) -> None:
    began()
    for key in work.new(12):
        work.add(key)
        work.turn(f"{key}t")
        work.add(key, 2)


def supersede(work: TenantWork) -> None:
    keys = work.new(30)
    work.add_many(keys)
    began()
    for old, new in zip(keys[::2], keys[1::2], strict=True):
        ask({old: (text_of(old), ENDED)}, partial(work.scope.supersede, old, new, at=LATER))
    for old in keys[:10:2]:
        ask({old: (text_of(old), HOLDS)}, partial(work.scope.undo_supersede, old))


def forget(work: TenantWork) -> None:
    keys = work.new(40)
    work.add_many(keys)
    began()
    for key in keys[:10]:
        ask({key: None}, partial(work.scope.forget, key, permanent=True))
    for key in keys[10:20]:
        ask({key: (text_of(key), FORGOTTEN)}, partial(work.scope.forget, key))
    for key in keys[10:15]:
        work.add(key)
    rest = dict.fromkeys(keys[10:])
    ask(rest, lambda: work.scope.forget(filter={"topic": work.run}, permanent=True))


def merge(work: TenantWork) -> None:
    """Run the scheduler's call, which moves new vectors into the graph."""
    for _ in range(4):
        work.add_many(work.new(35))
    with work.owner() as owner:
        began()
        for _ in range(4):
            ask({}, lambda: owner.execute("SELECT pgmnemo.maintain(50)").fetchall())


def compact(work: TenantWork) -> None:
    for _ in range(6):
        work.add_many(work.new(8))
    began()
    work.send(calls.verb_call("merge_postings", tenant=work.tenant))


def graph(work: TenantWork) -> None:
    """Remove the graph as `repair` would, and build it again."""
    work.add_many(work.new(100))

    def give_up() -> None:
        with work.owner() as owner, owner.transaction():
            owner.execute("SELECT set_config('pgmnemo.acting_tenant', %s, true)", (str(work.tenant),))
            owner.execute("UPDATE pgmnemo.lesson_vector SET indexed = false")
            owner.execute("SELECT pgmnemo._hnsw_remove(%s)", (work.tenant,))

    ask({}, give_up)
    began()
    work.send(calls.index(work.tenant))


def base(work: TenantWork) -> None:
    """Fill a tenant before any fault."""
    graph(work)
    compact(work)


STAGES: Mapping[str, Callable[[TenantWork], None]] = {
    one.__name__: one for one in (load, store, supersede, forget, merge, compact, graph)
}
CLOCK = [0.0]  # moment when the work began


def began() -> None:
    CLOCK[0] = time.monotonic()
    say(began=True)


def upgrade(keeper: str) -> None:
    with psycopg.connect(keeper, autocommit=True) as owner:
        began()
        ask({}, lambda: owner.execute("ALTER EXTENSION pgmnemo UPDATE"))


def upkeep(keeper: str) -> None:
    """Run a scheduler without pauses."""
    began()
    while True:
        try:
            with psycopg.connect(keeper, autocommit=True) as owner:
                while True:
                    owner.execute("CALL pgmnemo.maintain_all(50)")
        except psycopg.Error:  # the server is down, or an update is in progress
            time.sleep(0.05)


def backup(place: str, target: str) -> None:
    """Replace this process with PostgreSQL's backup program."""
    began()
    if target.endswith(".dump"):
        program, given = "pg_dump", ["-Fc", "-f", target]
    else:
        program, given = "pg_basebackup", ["-D", target, "-X", "stream", "-c", "fast"]
    path = str(bin_folder() / program)
    os.execv(path, [path, *given, "-d", place])


def main(said: str, stage: str, agent: str, keeper: str, tenant: str, run: str, rounds: int) -> None:
    """Run a stage and write its log to the file `said`, with errors in a second file next to it.

    `agent` and `keeper` are the DSNs of the role that works and of the owner; `run` is a name that no other
    run has.
    """
    for number, path in ((1, said), (2, said + ".errors")):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), number)
    if stage == "upgrade":
        upgrade(keeper)
    elif stage == "upkeep":
        upkeep(keeper)
    elif stage == "backup":
        backup(agent, tenant)
    else:
        stages = {**STAGES, base.__name__: base}
        work = TenantWork(agent, keeper, tenant, EXACT if stage == "merge" else LIMIT)
        with suppress(RefusedCall):
            for number in range(rounds):
                work.run = f"{run}r{number}"
                stages[stage](work)
    say(took=time.monotonic() - CLOCK[0])
