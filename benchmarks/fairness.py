"""How long one tenant of `mnemo serve` waits while another one is busy.

    python benchmarks/fairness.py [--seconds 10] [--lessons 2000]

Two tenants have a token each and the same lessons, in a folder of its own. One asks questions one after the
other: by itself, while the other stores 40 sets of 500 lessons at once, and while the other asks 64 questions
with k = 1,000 at once. Prints the median and the 99th percentile of what the first one waits, and how many of
either's requests were refused (429, 503).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory
from typing import Any

from urllib3 import PoolManager, Timeout

MNEMO = (sys.executable, "-m", "pgmnemo")
HTTP = PoolManager(maxsize=128, timeout=Timeout(120), retries=False)
PAUSE = 0.02  # seconds between two questions: a token may ask 100 a second
WORDS = [
    "river",
    "boat",
    "kettle",
    "attic",
    "Lisbon",
    "Porto",
    "garden",
    "winter",
    "market",
    "violin",
    "tram",
    "harbour",
]
Ask = Callable[[str, dict[str, Any]], int]


def text(number: int) -> str:
    """Return a lesson of eight words and a number."""
    return " ".join(WORDS[number * step % len(WORDS)] for step in range(1, 9)) + f" {number}"


def asker(url: str, token: str) -> Ask:
    """Return a function that calls a verb with a token and returns the status."""
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def ask(verb: str, fields: dict[str, Any]) -> int:
        return HTTP.request("POST", f"{url}/v1/{verb}", json.dumps(fields).encode(), headers=headers).status

    return ask


@contextmanager
def served(folder: Path) -> Iterator[tuple[Ask, Ask]]:
    """Yield how two tenants ask a server of a new memory, which ends with the block."""
    memory, tokens = folder / "memory", folder / "tokens.json"
    subprocess.run([*MNEMO, "init", str(memory), "--quiet"], check=True, stdout=subprocess.DEVNULL)
    make = (*MNEMO, "token", "make", "--project", "p", "--tokens", str(tokens))
    made = [
        subprocess.run([*make, name], check=True, capture_output=True, text=True).stdout.split()[-1]
        for name in ("ada", "bob")
    ]
    serve = (*MNEMO, "serve", str(memory), "--tokens", str(tokens), "--port", "0", "--embedder", "none")
    with (folder / "log").open("w") as log, subprocess.Popen(serve, stderr=log, stdout=log) as server:
        try:
            while '"url"' not in (told := (folder / "log").read_text()):
                time.sleep(0.1)
            url = next(found["url"] for line in told.splitlines() if "url" in (found := json.loads(line)))
            yield asker(url, made[0]), asker(url, made[1])
        finally:
            server.terminate()


@contextmanager
def busy(ask: Ask, verb: str, make: Callable[[int], dict[str, Any]], at_once: int) -> Iterator[Counter[int]]:
    """Let a tenant send so many requests at once until the end of the block; their statuses."""
    statuses, over = Counter[int](), threading.Event()

    def work(number: int) -> None:
        while not over.is_set():
            statuses[status := ask(verb, make(number))] += 1
            number += at_once
            over.wait(0.1 if status >= 400 else 0)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(at_once)]
    for thread in threads:
        thread.start()
    try:
        yield statuses
    finally:
        over.set()
        for thread in threads:
            thread.join()


def waits(ask: Ask, seconds: float) -> tuple[list[float], int]:
    """Return the milliseconds of one tenant's questions, and how many were refused."""
    found, refused, until = [], 0, time.monotonic() + seconds
    while time.monotonic() < until or len(found) < 2:
        time.sleep(PAUSE)
        begun = time.monotonic()
        status = ask("recall", {"query": text(len(found)), "k": 10})
        found.append(1000 * (time.monotonic() - begun))
        refused += status >= 400
    return found, refused


def stored(number: int) -> dict[str, Any]:
    """Return the fields of an `add_many` of 500 lessons."""
    return {"items": [{"text": text(500 * number + n), "key": f"{number}/{n}"} for n in range(500)]}


def line(beside: str, measured: tuple[list[float], int], statuses: Counter[int]) -> str:
    """Return a row of the table."""
    cuts = quantiles(measured[0], n=100, method="inclusive")
    other = sum(number for status, number in statuses.items() if status >= 400)
    return (
        f"| {beside} | {len(measured[0]):,} | {cuts[49]:,.0f} | {cuts[98]:,.0f} | {measured[1]} "
        f"| {statuses.total():,} | {other:,} |"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--lessons", type=int, default=2000)
    given = parser.parse_args()
    with TemporaryDirectory(prefix="mnemo-fairness-", ignore_cleanup_errors=True) as name:
        Path(name).chmod(0o755)
        with served(Path(name)) as (ada, bob):
            for ask in (ada, bob):
                items = [{"text": text(n), "key": str(n)} for n in range(given.lessons)]
                assert ask("add_many", {"items": items}) == 200
            print("| the other tenant | questions | p50 ms | p99 ms | refused | its requests | refused |")
            print("|---|--:|--:|--:|--:|--:|--:|")
            print(line("rests", waits(ada, given.seconds), Counter()), flush=True)
            with busy(bob, "add_many", stored, 40) as statuses:
                print(line("stores 40 sets of 500 at once", waits(ada, given.seconds), statuses), flush=True)
            wide: Callable[[int], dict[str, Any]] = lambda number: {"query": text(number), "k": 1000}  # noqa: E731
            with busy(bob, "recall", wide, 64) as statuses:
                print(line("asks 64 questions at once, k = 1,000", waits(ada, given.seconds), statuses))


if __name__ == "__main__":
    main()
