"""`mnemo mcp` as a process of its own: what standard output holds, and every way to end it."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from pgmnemo import Memory
from tests.helping import readable
from tests.pgmnemo.client.driving import Place
from tests.pgmnemo.mcp.asking import ERAS, MALFORMED, run, told

LONG = 600  # seconds that a slow machine may need
MNEMO = [sys.executable, "-m", "pgmnemo", "mcp"]
ME = {"name": "test", "version": "1"}
HELLO = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": ME},
}  # fmt: skip
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
NOISY = """
import os, sys
from pgmnemo.client.aio.scope import AsyncScope
from pgmnemo.cli.commands import main
kept = AsyncScope.add
async def add(self, *given, **named):
    print("noise of a library")
    os.write(1, b"noise below Python\\n")
    os.system("echo noise of a child; cat")
    return await kept(self, *given, **named)
AsyncScope.add = add
sys.exit(main())
"""


def call(number: int, tool: str, **given: Any) -> dict[str, Any]:
    return {
        "jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": tool, "arguments": given}
    }  # fmt: skip


@contextmanager
def process(place: str, tenant: str, *command: str) -> Iterator[subprocess.Popen[bytes]]:
    words = [*(command or MNEMO), place, "--tenant", tenant, "--project", "kitchen", "--embedder", "none"]
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
    ) as made:
        try:
            yield made
        finally:
            made.kill()


def send(to: subprocess.Popen[bytes], *messages: Any) -> None:
    assert to.stdin is not None
    to.stdin.write(b"".join(json.dumps(one).encode() + b"\n" for one in messages))


def answer(of: subprocess.Popen[bytes]) -> Any:
    """The next line of standard output."""
    assert of.stdout is not None
    line = b""
    while not line.endswith(b"\n"):
        assert select.select([of.stdout], [], [], LONG)[0], "no answer came"
        part = os.read(of.stdout.fileno(), 1)
        assert part, of.stderr.read() if of.stderr else ""
        line += part
    return json.loads(line)


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_that_starts_the_command(place: Place, era: str) -> None:
    tenant = place.tenant()
    words = ["-m", "pgmnemo", "mcp", place.dsn(), "--tenant", tenant, "--embedder", "none"]

    async with Client(StdioServerParameters(command=sys.executable, args=words), mode=era) as client:
        await told(client, "remember", text="Ada lives in Lisbon.", project="kitchen")
        [found] = (await told(client, "recall", query="Ada", project="kitchen"))["memories"]
        assert found["text"] == "Ada lives in Lisbon."


def test_standard_output_is_the_protocols_alone_and_its_end_is_answered(place: Place) -> None:
    tenant = place.tenant()
    with process(place.dsn(), tenant, sys.executable, "-c", NOISY, "mcp") as server:
        send(
            server, HELLO, READY, call(2, "remember", text="one", key="a"),
            call(3, "remember", text="two", key="b"),
        )  # fmt: skip
        out, err = server.communicate(timeout=LONG)  # closes standard input at once
    assert sorted(json.loads(line)["id"] for line in out.splitlines()) == [1, 2, 3]
    assert b"noise" not in out
    assert err.count(b"noise of a library") == err.count(b"noise below Python") == 2
    assert err.count(b"noise of a child") == 2
    assert server.returncode == 0
    with Memory.open(place.dsn(), embedder=None) as memory:
        assert sorted(one.key for one in memory.tenant(tenant).project("kitchen").list()) == ["a", "b"]


def test_a_signal_ends_it_while_standard_input_is_open(place: Place) -> None:
    with process(place.dsn(), place.tenant()) as server:
        send(server, HELLO)
        assert answer(server)["result"]["serverInfo"]["name"] == "pgmnemo"
        time.sleep(1)
        before = _seconds(server.pid)
        time.sleep(1)
        assert _seconds(server.pid) - before < 0.5  # it waits, and does not look again and again
        server.send_signal(signal.SIGTERM)
        assert server.wait(LONG) == 0
        assert server.stderr.read() == b""


def test_a_client_that_goes_away_ends_it_without_a_traceback(place: Place) -> None:
    with process(place.dsn(), place.tenant()) as server:
        send(server, HELLO, READY)
        answer(server)
        server.stdout.close()
        send(server, *(call(number, "list") for number in range(2, 9)))
        assert server.wait(LONG) == 0
        assert b"Traceback" not in server.stderr.read()


def test_it_answers_before_the_memory_is_open_and_closes_it_at_the_end() -> None:
    with readable() as folder:
        memory = folder / "memory"
        with process(str(memory), "ada") as server:
            send(server, HELLO)
            answer(server)
            assert not list(memory.glob("pg*/postmaster.pid"))  # making a cluster takes longer
            send(server, READY, call(2, "remember", text="Ada lives in Lisbon."))
            assert answer(server)["result"]["structuredContent"]["outcome"] == "inserted"
            assert list(memory.glob("pg*/postmaster.pid"))
            server.stdin.close()
            time.sleep(0.3)
            server.terminate()  # as an impatient client does; what is being closed is closed
            assert server.wait(LONG) in (0, -signal.SIGTERM)  # the latter where all was closed before
            assert server.stderr.read().decode().startswith(f"there is no memory in {memory} yet; ")
        assert not list(memory.glob("pg*/postmaster.pid"))
        with process(str(memory), "ada") as server:  # ended while it opens
            send(server, HELLO)
            answer(server)
            server.terminate()
            assert server.wait(LONG) == 0
            assert server.stderr.read() == b""
        assert not list(memory.glob("pg*/postmaster.pid"))


def test_a_database_that_is_not_there_is_a_tools_error(tmp_path: Path) -> None:
    with process(f"host={tmp_path} dbname=x user=y", "ada") as server:
        server.stdin.write(b"\n{\n\xff\xfe\n")
        send(server, HELLO, READY, call(2, "list"))
        while "result" not in answer(server):
            pass
        result = answer(server)["result"]
        assert result["isError"]
        assert "start it, or correct the DSN" in result["content"][0]["text"]


def test_each_malformed_message_is_answered_and_the_next_one_served(tmp_path: Path) -> None:
    with process(f"host={tmp_path} dbname=x user=y", "ada") as server:
        send(server, HELLO, READY)
        assert answer(server)["id"] == 1
        long = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"%b"}}' % (b"x" * (9 << 20))
        for number, (message, id, code) in enumerate([*MALFORMED, (long, None, -32600)]):
            server.stdin.write(message + b"\n\n")  # a blank line is no message
            found = answer(server)
            assert (found["id"], found["error"]["code"]) == (id, code), message[:80]
            assert set(found) == {"jsonrpc", "id", "error"}
            send(server, {"jsonrpc": "2.0", "id": f"ping {number}", "method": "ping"})
            assert answer(server) == {"jsonrpc": "2.0", "id": f"ping {number}", "result": {}}


def test_a_server_over_http_stops_when_it_is_told(place: Place) -> None:
    words = [*MNEMO, place.dsn(), "--tenant", place.tenant(), "--embedder", "none", "--http", "--port", "0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        told_first = json.loads(server.stderr.readline())
        url = f"{told_first['url']}/mcp"

        async def body() -> None:
            async with Client(url, mode=ERAS[1]) as client:
                await told(client, "remember", text="a secret text")

        run(body)
        server.terminate()
        out, err = server.communicate(timeout=LONG)
    assert (out, server.returncode) == ("", 0)
    assert "secret" not in err
    assert '"path":"/mcp"' in err


def _seconds(pid: int) -> float:
    parts = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")
