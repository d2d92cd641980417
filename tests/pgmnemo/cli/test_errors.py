"""What a user can get wrong is one sentence and an exit code; no traceback, and no password."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from pgmnemo import Memory
from tests.pgmnemo.cli.conftest import Mnemo

SECRET = "hunter2"


@pytest.fixture(scope="module")
def dsn(memory: Memory, folder: Path) -> str:
    """The folder's own database, as one that somebody names."""
    return f"host={folder}/sockets user=pgmnemo dbname=memory password={SECRET}"


WRONG = {
    "naive time": (["add", "x", "--at", "2026-05-01T09:30"], 2, "--at takes a date or a time with its zone"),
    "no time": (["add", "x", "--at", "soon"], 2, "--at takes a date or a time with its zone"),
    "no window": (["recall", "x", "--time-ranges", "may"], 2, "--time-ranges takes FROM/TO"),
    "no pair": (["recall", "x", "--filter", "topic"], 2, "--filter takes NAME=VALUE or an object of JSON"),
    "no JSON": (["recall", "x", "--filter", "{"], 2, "--filter takes NAME=VALUE or an object of JSON, and"),
    "no filter": (["recall", "x", "--filter", "colour=red"], 2, "colour"),
    "unknown key": (["get", "nope"], 2, "there is no lesson 'nope' in project default of tenant"),
    "unknown key to update": (["update", "nope", "--topic", "x"], 2, "nope"),
    "unknown key to supersede": (["supersede", "nope"], 2, "nope"),
    "unknown option": (["recall", "x", "--rol", "user"], 2, "see `mnemo recall --help`"),
    "an option where a text stands": (["add", "--rol", "user"], 2, "--rol"),
    "text and turns": (["add", "x", "--turns", "y"], 2, "add takes a text or --turns, not both"),
    "no such turns": (["add", "--turns", "/nowhere/x"], 2, "/nowhere/x cannot be read (No such file"),
    "text without quotation marks": (["recall", "who", "is"], 2, "several words in quotation marks"),
    "no time to delete by": (["delete-expired", "soon"], 2, "this takes a date or a time with its zone"),
    "empty text": (["add", ""], 2, "empty"),
    "two ways to forget": (["forget", "a", "--all-lessons"], 2, "forget takes one of"),
    "no such embedder": (["add", "x", "--embedder", "nope"], 2, "there is no embedder named 'nope'"),
    "no such format": (["import", "/etc/passwd", "--from", "nope"], 2, "nope"),
    "no such export": (["import", "/nowhere"], 2, "/nowhere"),
    "no such folder to write": (["export", "/nowhere/x.jsonl"], 3, "/nowhere/x.jsonl cannot be written"),
    "no memory": (["recall", "x", "--memory", "/nowhere/memory"], 2, "there is no memory in /nowhere/memory"),
    "something else's folder": (["recall", "x", "--memory", "/usr"], 2, "/usr"),
    "a file": (["recall", "x", "--memory", "/etc/passwd"], 2, "/etc/passwd is a file"),
    "no DSN": (["recall", "x", "--memory", f"password={SECRET} x"], 2, "the DSN cannot be read"),
    "nobody answers": (
        ["recall", "x", "--memory", f"postgresql://ada:{SECRET}@127.0.0.1:1/db"], 3, "127.0.0.1:1/db",
    ),
    "no folder to upgrade": (["upgrade", "postgresql:///db"], 2, "a DSN is given"),
    "no database to let a role in": (["init", "--role", "ada"], 2, "name one by --dsn"),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_wrong_use_is_one_sentence(mnemo: Mnemo, what: str) -> None:
    arguments, code, words = WRONG[what]
    done = mnemo(*arguments)
    assert (done.code, done.out) == (code, "")
    assert words in done.err
    assert len(done.err.splitlines()) == 1
    assert SECRET not in done.err


def test_a_database_without_pgmnemo_is_told(mnemo: Mnemo, dsn: str) -> None:
    done = mnemo("recall", "x", "--memory", dsn.replace("dbname=memory", "dbname=postgres"))
    assert done.code == 3
    assert "has no pgmnemo; install it with mnemo init --dsn" in done.err
    assert SECRET not in done.err


def test_a_tenant_without_a_grant_is_told_until_it_is_granted(mnemo: Mnemo, dsn: str) -> None:
    refused = mnemo("add", "x", "--memory", dsn)
    assert (refused.code, len(refused.err.splitlines())) == (3, 1)
    granted = mnemo("grant", os.environ["PGMNEMO_TENANT"], "--memory", dsn)
    assert granted.out == f"the role that logs in may write the tenant {os.environ['PGMNEMO_TENANT']}\n"
    assert mnemo("add", "x", "--key", "k", "--memory", dsn).out == "inserted k\n"
    mnemo("grant", os.environ["PGMNEMO_TENANT"], "--access", "read", "--memory", dsn)
    assert mnemo("count", "--memory", dsn).out == "1 lesson\n"
    assert mnemo("add", "y", "--memory", dsn).code == 3


def test_pgmnemo_is_installed_into_a_database(mnemo: Mnemo, dsn: str, folder: Path) -> None:
    socket = f"host={folder}/sockets user=postgres"
    with psycopg.connect(f"{socket} dbname=postgres", autocommit=True) as admin:
        admin.execute("CREATE DATABASE given OWNER pgmnemo")
    with psycopg.connect(f"{socket} dbname=given", autocommit=True) as admin:
        admin.execute("CREATE EXTENSION vector")
    given = dsn.replace("dbname=memory", "dbname=given")
    done = mnemo("init", "--dsn", given, "--grant", "ada", "--way", "plain")
    assert done.code == 0, done.err
    assert done.out.splitlines()[1] == "pgmnemo may work for the tenant ada"
    assert mnemo("add", "x", "--key", "k", "--memory", given, "--tenant", "ada").out == "inserted k\n"
    again = mnemo("init", "--dsn", given, "--json")
    assert (again.json["way"], again.json["owner"]) == ("plain SQL", "pgmnemo")
    assert SECRET not in done.out + done.err + again.out + again.err


def test_another_embedder_is_refused(mnemo: Mnemo, memory: Memory) -> None:
    memory.tenant(os.environ["PGMNEMO_TENANT"]).project("default").add("x", vector=[0.5, 0.5, 0.5])
    done = mnemo("add", "y", "--embedder", "local")
    assert (done.code, len(done.err.splitlines())) == (2, 1)
    assert "the vectors of the tenant" in done.err


def test_nothing_but_a_command_is_understood(mnemo: Mnemo) -> None:
    assert mnemo().err == "wrong use: name a command; see `mnemo --help`\n"
    assert "there is no command 'recal' (did you mean recall?)" in mnemo("recal").err


def test_a_reader_that_goes_away_is_told_by_the_exit_code(memory: Memory, folder: Path) -> None:
    scope = memory.tenant("broken pipe").project("default")
    scope.add_many(f"lesson {number} {'x' * 500}" for number in range(400))
    command = f"{sys.executable} -m pgmnemo list --json --full | head -1; echo ${{PIPESTATUS[0]}}"
    environment = {**os.environ, "PGMNEMO_MEMORY": str(folder), "PGMNEMO_TENANT": "broken pipe"}
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, check=True, env=environment
    )
    assert done.stdout.splitlines()[-1] == "141"
    assert done.stderr == ""
