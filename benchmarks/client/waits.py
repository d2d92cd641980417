"""What a user waits for: the question's embedding, the recall and the way to the memory, at several sizes.

    python benchmarks/client/waits.py [--sizes 200,1000,10000] [--questions 100] [--corpus locomo]
                                      [--ways W,W,…] [--python mem0=PATH] [--page FILE]

A lesson is two turns of the corpus, drawn by a seed; the questions are the corpus's. All have the same
embedder (`minilm-int8`) and return three texts; the vector of a lesson is the mean of its turns', as all of
100,000 take an hour to embed. Ways to pgmnemo: `client` (a folder, in the process), `MCP`
(`mnemo mcp` over standard input), `serve` (a kept connection to `mnemo serve`) and `hook` (a process for each
prompt, which asks `mnemo serve`). `mem0`, `LangGraph`, `MemPalace` and `Chroma`: the programs of `agents/`.
Prints p50, p95 and p99 of the warm questions in ms, and the seconds from the start of a process to its first
answer, where the process holds the memory. `--python NAME=PATH` names a Python that has a library; `--page`
writes the table between the marks of a file.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, nullcontext
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from psycopg.conninfo import make_conninfo

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1])]

from probe import load_agent  # noqa: E402  beside this file

OURS, SERVED = ("client", "MCP", "serve", "hook"), ("serve", "hook")
PEERS = {"mem0": "mem0", "LangGraph": "langgraph", "MemPalace": "mempalace", "Chroma": "chroma"}
USER, PROJECT, EMBEDDER, SEED = "me", "talks", "minilm-int8", 42
MNEMO = (sys.executable, "-m", "pgmnemo")
HEAD = ("lessons", "way", "n", "p50 ms", "p95 ms", "p99 ms", "first answer, s")
MARKS = ("<!-- waits -->\n", "<!-- /waits -->")
QUIET = {"MEM0_TELEMETRY": "False", "ANONYMIZED_TELEMETRY": "False", "HF_HUB_OFFLINE": "1"}
Ask = Callable[[str], Any]


class TurnEmbedder:
    """The embedder, which embeds each turn once; the vector of a lesson is the mean of its turns'."""

    def __init__(self) -> None:
        from pgmnemo.embedders import EMBEDDERS, EmbedderOptions

        self.inner = EMBEDDERS[EMBEDDER](EmbedderOptions())
        self.identity, self.known = self.inner.identity, dict[str, Any]()

    def embed_documents(self, texts: Sequence[str]) -> Any:
        turns = [text.splitlines() for text in texts]
        new = list(dict.fromkeys(turn for some in turns for turn in some if turn not in self.known))
        self.known.update(zip(new, self.inner.embed_documents(new), strict=True) if new else ())
        means = np.array([np.mean([self.known[turn] for turn in some], axis=0) for some in turns])
        return means / np.linalg.norm(means, axis=1, keepdims=True)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


def program(name: str, place: str) -> Any:
    """Return the agent of a program of `agents/`."""
    return load_agent(HERE / "agents" / f"with_{name}.py")(place)


def by_client(place: str) -> Ask:
    from pgmnemo import Memory

    scope = Memory.open(place, embedder=EMBEDDER).tenant(USER).project(PROJECT)
    return lambda question: scope.recall(question, k=3)


def by_serve(url: str) -> Ask:
    connection = HTTPConnection(url.removeprefix("http://"))

    def ask(question: str) -> Any:
        body = json.dumps({"query": question, "k": 3, "project": PROJECT})
        connection.request("POST", "/v1/recall", body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        told = answer.read()
        assert answer.status == 200, told
        return told

    return ask


def by_hook(url: str) -> Ask:
    command = [*MNEMO, "hook", "recall", "--url", url, "--seconds", "60"]

    def ask(question: str) -> Any:
        event = json.dumps({"prompt": question, "cwd": PROJECT, "hook_event_name": "UserPromptSubmit"})
        return subprocess.run(command, input=event, text=True, check=True, capture_output=True).stdout

    return ask


def by_agent(name: str, place: str) -> Ask:
    agent = program(name, place)
    return lambda question: agent.recall(USER, question)


async def measure_mcp(place: str, questions: Sequence[str]) -> list[float]:
    """Return what `measure` does, asked by the client of the protocol's SDK."""
    from mcp import Client, StdioServerParameters
    from mcp.client.stdio import stdio_client

    words = ["-m", "pgmnemo", "mcp", place, "--tenant", USER, "--project", PROJECT, "--embedder", EMBEDDER]
    began, spent = time.perf_counter(), list[float]()
    async with Client(stdio_client(StdioServerParameters(command=sys.executable, args=words))) as client:
        for question in questions:
            start = time.perf_counter()
            answer = await client.call_tool("recall", {"query": question, "k": 3})
            assert not answer.is_error, answer
            spent.append(time.perf_counter() - (start if spent else began))
    return spent


WAYS = {"client": by_client, "serve": by_serve, "hook": by_hook}


def measure(way: str, place: str, began: float, questions: Sequence[str]) -> list[float]:
    """Return the seconds from the start of the process to the first answer, then those of each question."""
    if way == "MCP":
        return asyncio.run(measure_mcp(place, questions))
    ask, spent = WAYS.get(way, partial(by_agent, way))(place), list[float]()
    for question in questions:
        start = time.perf_counter()
        ask(question)
        spent.append(time.perf_counter() - start)
        if len(spent) == 1:
            spent[0] = time.time() - began
    return spent


def store(way: str, place: str, texts: Sequence[str]) -> None:
    """Store the texts in the memory of a way."""
    if way in OURS:
        from pgmnemo import Memory

        with Memory.open(place, embedder=TurnEmbedder()) as memory:
            memory.tenant(USER).project(PROJECT).add_many(texts)
    else:
        agent = program(way, place)
        type(agent).listen.__globals__["MINILM"] = TurnEmbedder()  # the program's embedder
        agent.listen(USER, [("user", text) for text in texts])
        agent.close()


def drawn(corpus: str, lessons: int, questions: int) -> tuple[list[str], list[str]]:
    """Return lessons and questions of a corpus, drawn by the seed."""
    from runner.protocol.datasets import SUITES

    parts, chance = SUITES[corpus], random.Random(SEED)
    read = parts.load(parts.locate(None, os.environ), parts.levels[-1])
    turns = [one.text for one in read.segments]
    texts = list({f"{chance.choice(turns)}\n{chance.choice(turns)}": None for _ in range(lessons * 2)})
    asked = sorted({one.text for one in read.questions})
    return texts[:lessons], chance.sample(asked, min(questions, len(asked)))


def child(python: str, *words: str, given: Any) -> Any:
    """Return what another process of this program prints as JSON."""
    command = [python, __file__, "--child", *words]
    done = subprocess.run(
        command, input=json.dumps(given), text=True, capture_output=True, check=False, env=os.environ | QUIET
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(words[:2])}: {(done.stderr.strip().splitlines() or ['?'])[-1]}")
    return json.loads(done.stdout.splitlines()[-1])


def rows(options: argparse.Namespace, pythons: dict[str, str]) -> Iterator[list[str]]:
    """Yield a row for each size and way."""
    from benchmarks.agents.latency import server
    from pgmnemo.postgres.embedded import EmbeddedServer

    for size in options.sizes:
        texts, questions = drawn(options.corpus, size, options.questions)
        with ExitStack() as stack:
            folder = Path(stack.enter_context(TemporaryDirectory(prefix="waits-")))
            folder.chmod(0o755)  # as root the embedded server runs as another user
            ours = str(folder / "memory")
            child(sys.executable, "store", "client", ours, given=texts)
            for way in options.ways:
                place, name = ours if way in OURS else str(folder / way), PEERS.get(way, way)
                python = pythons.get(way, sys.executable)
                if way == "LangGraph":
                    local = EmbeddedServer.open(folder / "server")
                    stack.callback(local.close)
                    place = make_conninfo(**local.conninfo)
                if way not in OURS:
                    child(python, "store", name, place, given=texts)
                with server(ours, EMBEDDER) if way in SERVED else nullcontext(place) as place:
                    spent = child(python, "ask", name, place, repr(time.time()), given=questions)
                warm = [f"{ms:.1f}" for ms in np.percentile(spent[1:], [50, 95, 99]) * 1000]
                first = "–" if way in SERVED else f"{spent[0]:.1f}"  # noqa: RUF001
                yield [f"{size:,}", way, str(len(spent) - 1), *warm, first]


def play(words: Sequence[str]) -> Any:
    """Do what a child is asked for, and return what it prints."""
    part, way, place, *began = words
    given = json.load(sys.stdin)
    if part == "store":
        return store(way, place, given)
    return measure(way, place, float(began[0]), given)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--sizes", type=lambda text: [*map(int, text.split(","))], default=[200, 1_000, 10_000]
    )
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--corpus", default="locomo")
    parser.add_argument("--ways", type=lambda text: text.split(","), default=[*OURS, *PEERS])
    parser.add_argument("--python", action="append", default=[], metavar="NAME=PATH")
    parser.add_argument("--page", type=Path)
    parser.add_argument("--child", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        with os.fdopen(os.dup(1), "w") as out:  # MemPalace's server takes standard output for itself
            print(json.dumps(play(options.child)), file=out)
        return
    found = []
    for row in rows(options, dict(one.split("=", 1) for one in options.python)):
        found.append(row)
        print(" | ".join(row), flush=True)
    from runner.markdown import table

    told = table(HEAD, found)
    print(told)
    if options.page:
        before, _, rest = options.page.read_text(encoding="utf-8").partition(MARKS[0])
        after = rest.partition(MARKS[1])[2]
        options.page.write_text(f"{before}{MARKS[0]}{told}\n{MARKS[1]}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
