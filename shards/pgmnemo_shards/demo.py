"""A demonstration of all features on a temporary cluster."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from uuid import UUID

from psycopg import errors

from pgmnemo.calls import Call, execute, grant_tenant, list_lessons, recall, store
from pgmnemo.errors import CheckError
from pgmnemo.postgres.connections import connect
from pgmnemo.postgres.server_checks import Session
from pgmnemo_shards import local, moving
from pgmnemo_shards.installing import open_operator

TENANT, PROJECT = UUID("7d3f0c52-92a5-4c1e-a7ab-4d1f6b2c9e10"), UUID(int=0xAA)


QUESTION = recall(TENANT, query_text="Why did the release fail?", k=1, columns=("external_id", "content"))


def _note(key: str, text: str) -> Call[str]:
    return store(TENANT, PROJECT, key, text, commit_sha="c0ffee")


def run_demo(folder: Path, say: Callable[[str], None]) -> None:
    """Start a router and three shards, store, recall and move a tenant while it is written, and stop the
    cluster.
    """
    began = time.monotonic()
    site = local.up(folder, 3, volatile=True)
    try:
        say(f"a router and three shards are up ({time.monotonic() - began:.1f} s)")
        _run_demo(site, say)
    finally:
        local.down(folder)
    if folder.exists():
        raise CheckError(f"{folder} is left behind")
    say("everything is down, and nothing is left behind")


def _run_demo(site: local.Local, say: Callable[[str], None]) -> None:
    with open_operator(site.conninfo()) as operator:
        operator.execute("SELECT pgmnemo.create_login('agent')")
        execute(operator, grant_tenant(TENANT, "agent"))
        with connect({**site.conninfo(), "user": "agent"}) as agent:
            execute(agent, _note("build/1", "The release build fails when the locale is not C."))
            say("stored: build/1")
            found = execute(agent, QUESTION)
            say(f"recalled: {found[0][0]}: {found[0][1]}")
            written, repeated = _move_under_writes(site, operator)
            held = len(execute(agent, list_lessons(TENANT, ("id",))))
            if held != written + 1:
                raise CheckError(f"{written + 1} lessons were acknowledged, and {held} are there")
            say(f"moved to shard2 while {written} lessons were written: {repeated} calls repeated, none lost")
            if execute(agent, QUESTION) != found:
                raise CheckError("the answer is another after the move")
            say("recalled again: the same")


def _move_under_writes(site: local.Local, operator: Session) -> tuple[int, int]:
    """Move the tenant while lessons are written.

    Return the number of acknowledged lessons, and of calls that met a retryable error.
    """
    counts, end = {"written": 0, "repeated": 0}, Event()

    def write() -> None:
        with connect({**site.conninfo(), "user": "agent"}) as agent:
            while not end.is_set() or counts["written"] < 20:
                number = counts["written"]
                try:
                    execute(agent, _note(f"note/{number}", f"Note number {number}"))
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
