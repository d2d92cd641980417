"""How long a prompt waits for its memory: the hook's process from its start to its end.

    python benchmarks/agents/latency.py [--runs 40] [--lessons 2000] [--embedder NAME]

A memory in a folder has the messages of `session.jsonl` over and over. The prompts are those of
`prompts.jsonl` that need a message. Prints the median and the 95th percentile in ms:

    server      a running mnemo serve is asked
    four        the same, four agents at once
    opened      no server; another process keeps the folder's PostgreSQL running
    cold        no server; each prompt starts PostgreSQL, and it stops again (a tenth of the runs)
    Python      an interpreter that does nothing
"""

from __future__ import annotations

import argparse
import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.request import urlopen

import numpy as np

from pgmnemo import Memory
from pgmnemo.importers import IMPORTERS, ImportOptions
from runner.markdown import table

HERE, FOLDER = Path(__file__).parent, "/home/ada/slipway"
MNEMO = [sys.executable, "-m", "pgmnemo"]
AT_ONCE = 4


def store(place: str, lessons: int, embedder: str) -> None:
    """Store so many messages, each with its number."""
    found = IMPORTERS["claude-code"](HERE / "session.jsonl", options=ImportOptions())
    items = [one.item for one in found]
    many = [
        replace(item, key=f"{number}", text=f"{item.text} ({number})", position=None)
        for number, item in enumerate(islice(cycle(items), lessons))
    ]
    with Memory.open(place, embedder=embedder) as memory:
        memory.tenant("me").project(FOLDER).add_many(many)


@contextmanager
def server(place: str, embedder: str) -> Iterator[str]:
    """Yield the URL of a server that answers."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [*MNEMO, "serve", place, "--tenant", "me", "--port", str(port), "--embedder", embedder]
    with subprocess.Popen([*command, "--rate", "10000"], stderr=subprocess.DEVNULL) as process:
        url = f"http://127.0.0.1:{port}"
        try:
            for _ in range(600):
                try:
                    urlopen(f"{url}/healthz").close()
                    break
                except OSError:
                    time.sleep(0.1)
            yield url
        finally:
            process.terminate()


def ask(prompt: str, *options: str) -> float:
    """Return the ms that a prompt waits; the hook must say nothing on standard error."""
    event = json.dumps({"prompt": prompt, "cwd": FOLDER, "hook_event_name": "UserPromptSubmit"})
    start = time.perf_counter()
    done = subprocess.run(
        [*MNEMO, "hook", "recall", *options], input=event, capture_output=True, text=True, check=True
    )
    spent = (time.perf_counter() - start) * 1000
    if done.stderr:
        raise SystemExit(done.stderr)
    return spent


def row(name: str, spent: Sequence[float]) -> list[str]:
    p50, p95 = np.percentile(spent, [50, 95])
    return [name, f"{len(spent)}", f"{p50:.0f}", f"{p95:.0f}"]


def python() -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", ""], check=True)
    return (time.perf_counter() - start) * 1000


def rows(place: str, prompts: Sequence[str], embedder: str) -> Iterator[list[str]]:
    """Yield a row for each way."""

    def by(*options: str) -> Callable[[str], float]:
        return lambda prompt: ask(prompt, *options)

    opened = ("--memory", place, "--embedder", embedder, "--seconds", "60")
    with server(place, embedder) as url:
        warm = by("--url", url, "--seconds", "60")
        [warm(prompt) for prompt in prompts[:3]]
        yield row("server", [warm(prompt) for prompt in prompts])
        with ThreadPoolExecutor(AT_ONCE) as pool:
            yield row("four", [*pool.map(warm, prompts)])
        yield row("opened", [by(*opened)(prompt) for prompt in prompts])
    yield row("cold", [by(*opened)(prompt) for prompt in prompts[: max(4, len(prompts) // 10)]])
    yield row("Python", [python() for _ in prompts])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--lessons", type=int, default=2_000)
    parser.add_argument("--embedder", default="local")
    given = parser.parse_args()
    lines = (HERE / "prompts.jsonl").read_text(encoding="utf-8").splitlines()
    needy = [one["prompt"] for one in map(json.loads, lines) if one["wanted"]]
    prompts = [*islice(cycle(needy), given.runs)]
    with TemporaryDirectory(prefix="mnemo-agents-") as folder:
        Path(folder).chmod(0o755)  # as root the server runs as another user
        store(f"{folder}/memory", given.lessons, given.embedder)
        print(
            table(["way", "runs", "p50 ms", "p95 ms"], [*rows(f"{folder}/memory", prompts, given.embedder)])
        )


if __name__ == "__main__":
    main()
