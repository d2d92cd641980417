"""A walk through everything, on a cluster of its own that is gone afterwards."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from uuid import UUID

from psycopg import errors

from runner.database.sentences import connect
from runner.database.server_checks import Session
from runner.errors import GateError
from shards import local, moving
from shards.installing import open_operator

TENANT, PROJECT = UUID("7d3f0c52-92a5-4c1e-a7ab-4d1f6b2c9e10"), UUID(int=0xAA)
STORE = "SELECT pgmnemo.store(%s, %s, %s, %s, commit_sha => 'c0ffee')"
RECALL = "SELECT external_id, content FROM pgmnemo.recall(%s, query_text => %s, k => 1)"
HELD = "SELECT count(*) FROM pgmnemo.list_lessons(%s)"


def tour(folder: Path, say: Callable[[str], None]) -> None:
    """Router and three shards up, a tenant stored, recalled, moved under writes, everything down again."""
    began = time.monotonic()
    site = local.up(folder, 3, volatile=True)
    try:
        say(f"a router and three shards are up ({time.monotonic() - began:.1f} s)")
        _walk(site, say)
    finally:
        local.down(folder)
    if folder.exists():
        raise GateError(f"{folder} is left behind")
    say("everything is down, and nothing is left behind")


def _walk(site: local.Local, say: Callable[[str], None]) -> None:
    with open_operator(site.conninfo()) as operator:
        operator.execute("SELECT pgmnemo.create_login('agent')")
        operator.execute("SELECT pgmnemo.grant_tenant(%s, 'agent')", (TENANT,))
        with connect({**site.conninfo(), "user": "agent"}) as agent:
            agent.execute(
                STORE, (TENANT, PROJECT, "build/1", "The release build fails when the locale is not C.")
            )
            say("stored: build/1")
            found = agent.execute(RECALL, (TENANT, "Why did the release fail?")).fetchall()
            say(f"recalled: {found[0][0]}: {found[0][1]}")
            written, repeated = _moved_under_writes(site, operator)
            ((held,),) = agent.execute(HELD, (TENANT,)).fetchall()
            if held != written + 1:
                raise GateError(f"{written + 1} lessons were acknowledged, and {held} are there")
            say(f"moved to shard2 while {written} lessons were written: {repeated} calls repeated, none lost")
            if agent.execute(RECALL, (TENANT, "Why did the release fail?")).fetchall() != found:
                raise GateError("the answer is another after the move")
            say("recalled again: the same")


def _moved_under_writes(site: local.Local, operator: Session) -> tuple[int, int]:
    """How many lessons were acknowledged meanwhile, and how many calls met a retryable error."""
    counts, end = {"written": 0, "repeated": 0}, Event()

    def write() -> None:
        with connect({**site.conninfo(), "user": "agent"}) as agent:
            while not end.is_set() or counts["written"] < 20:
                number = counts["written"]
                try:
                    agent.execute(STORE, (TENANT, PROJECT, f"note/{number}", f"Note number {number}"))
                    counts["written"] += 1
                except errors.SerializationFailure:
                    counts["repeated"] += 1

    writer = Thread(target=write)
    writer.start()
    try:
        moving.move(operator, TENANT, "shard2")
    finally:
        end.set()
        writer.join()
    return counts["written"], counts["repeated"]
