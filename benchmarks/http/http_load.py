"""Many clients of `mnemo serve` at once: is anything lost, and how long does an answer take?

    python benchmarks/http/http_load.py [--readers 1000] [--writers 200] [--each 5]

Starts a server over a new folder, without an embedder. Each reader and writer has a connection of its own and
asks `--each` times, one after the other; all at the same time. Prints p50, p99 and the slowest answer in ms,
as a client sees them, and ends with 1 where a lesson that was acknowledged is not there.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pgmnemo.http.tokens import TokenFile

STORED, SEED_TEXT = 500, "Note {0}: the {0}th visitor of the museum asked for the way to room {1}."
MNEMO = [sys.executable, "-m", "pgmnemo"]


class Client:
    """One connection that is kept; answers are read by their length."""

    def __init__(self, port: int, token: str) -> None:
        self._port, self._token = port, token

    async def __aenter__(self) -> Client:
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._writer.close()

    async def post(self, verb: str, body: Any) -> tuple[int, Any, float]:
        """Return the status, the answer, and the ms that it took."""
        told, began = json.dumps(body).encode(), time.perf_counter()
        self._writer.write(
            f"POST /v1/{verb} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {self._token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(told)}\r\n\r\n".encode()
            + told
        )
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        fields = dict(line.split(": ", 1) for line in head.splitlines()[1:] if line)
        answer = json.loads(await self._reader.readexactly(int(fields["content-length"])))
        return int(head.split()[1]), answer, (time.perf_counter() - began) * 1000


async def reads(
    port: int, token: str, number: int, each: int, seen: dict[str, list[tuple[int, float]]]
) -> None:
    async with Client(port, token) as client:
        for turn in range(each):
            body = {"query": f"Where did visitor {number * each + turn} go?", "k": 5}
            status, _, took = await client.post("recall", body)
            seen["recall"].append((status, took))


async def writes(
    port: int, token: str, number: int, each: int, seen: dict[str, list[tuple[int, float]]], kept: set[str]
) -> None:
    async with Client(port, token) as client:
        for turn in range(each):
            key = f"writer/{number}/{turn}"
            status, _, took = await client.post("add", {"text": f"{key} was here", "key": key})
            seen["add"].append((status, took))
            if status == 200:
                kept.add(key)


async def loaded(port: int, token: str, given: argparse.Namespace) -> int:
    """Ask all at once, tell how long it took, and look whether everything is there; how much is not."""
    seen: dict[str, list[tuple[int, float]]] = {"recall": [], "add": []}
    kept: set[str] = set()
    async with Client(port, token) as client:
        items = [{"text": SEED_TEXT.format(n, n % 40), "key": f"seed/{n}"} for n in range(STORED)]
        await client.post("add_many", {"items": items})
        await client.post("recall", {"query": "museum"})
    began = time.perf_counter()
    await asyncio.gather(
        *(reads(port, token, number, given.each, seen) for number in range(given.readers)),
        *(writes(port, token, number, given.each, seen, kept) for number in range(given.writers)),
    )
    lasted = time.perf_counter() - began
    for verb, answers in seen.items():
        times = sorted(took for _, took in answers)
        statuses = dict(Counter(status for status, _ in answers))
        p50, p99 = (times[int(len(times) * part)] for part in (0.5, 0.99))
        print(
            f"{verb:<7} {len(times):>6,} {statuses} p50 {p50:,.0f} p99 {p99:,.0f} slowest {times[-1]:,.0f} ms"
        )
    lost = []
    async with Client(port, token) as client:
        for key in sorted(kept):
            status, lesson, _ = await client.post("get", {"key": key})
            if status != 200 or lesson["text"] != f"{key} was here":
                lost.append(key)
        _, counted, _ = await client.post("count", {})
    stored, rate = counted["lessons"], sum(map(len, seen.values())) / lasted
    print(f"{rate:,.0f} answers a second; {len(kept):,} acknowledged, {len(lost):,} lost, {stored:,} stored")
    return len(lost) + abs(stored - STORED - len(kept))


def main() -> int:
    """1 where something was lost."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, most in (("readers", 1000), ("writers", 200), ("each", 5)):
        parser.add_argument(f"--{name}", type=int, default=most)
    given = parser.parse_args()
    with TemporaryDirectory(dir=os.environ.get("TMPDIR", "/dev/shm")) as name:
        base = Path(name)
        base.chmod(0o755)  # as root the database runs as nobody
        file = base / "tokens.json"
        token = TokenFile(file).create("load", "museum")
        subprocess.run(
            [*MNEMO, "init", str(base / "memory"), "--quiet"], check=True, stdout=subprocess.DEVNULL
        )
        server = subprocess.Popen(
            [
                *MNEMO, "serve", str(base / "memory"), "--tokens", str(file), "--port", "0",
                "--embedder", "none", "--rate", "1000000", "--concurrent", "100000", "--seconds", "300",
            ],
            stderr=subprocess.PIPE,
        )  # fmt: skip
        assert server.stderr is not None
        port = int(json.loads(server.stderr.readline())["url"].rpartition(":")[2])
        draining = subprocess.Popen(["cat"], stdin=server.stderr, stdout=subprocess.DEVNULL)
        try:
            return int(asyncio.run(loaded(port, token, given)) > 0)
        finally:
            server.terminate()
            server.wait()
            draining.wait()
            server.stderr.close()


if __name__ == "__main__":
    sys.exit(main())
